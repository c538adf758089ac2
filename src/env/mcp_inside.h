/* The inside of an MCP environment, for mcp.c (its life) and mcp_watch.c (what is looked
 * at beside the answers). */
#ifndef ROLLDBG_ENV_MCP_INSIDE_H
#define ROLLDBG_ENV_MCP_INSIDE_H

#include "base/mem.h"
#include "env/ignored.h"
#include "env/mcp_tools.h"
#include "env/state_source.h"

struct env_mcp {
	struct env base;
	const struct env_conf *conf;
	struct io *io;
	struct mcp_session *session;
	struct control_plane control;
	struct state_source source;
	struct mcp_reading reading;
	struct event_queue events;
	struct hasher *hasher;
	struct ignored ignored;
	struct buf tools, extra, client_version, total_reward, reward;
	struct buf start;    /* the first observation; empty: none */
	struct arena kept;   /* the last reply's slices */
	struct str last;     /* last observation, for --state observation */
	bool state_read;     /* the state of the first turn is in source.value */
	int64_t env_steps;   /* of the last good status; -1 unknown */
	bool acted;          /* a step was sent */
	bool reads_only;     /* the last step called a tool that changes nothing */
	bool state_lost;     /* the source speaks for another environment */
	bool counter_moved;  /* it once counted one of our steps: it is ours */
	bool control_failed; /* said once */
	struct env_facts facts;
};

/* Queues an event {"what","why"}; why is cut to a sentence. `skipped`: it was left out on
 * purpose. */
void mcp_note(struct env_mcp *e, const char *event, const char *what, const char *why,
              bool skipped);

/* Says once that the control plane fails, with e->control.why. */
void mcp_control_trouble(struct env_mcp *e, const char *what);

/* Fills env_steps, terminated and truncated of out, and finds out whether the control
   plane speaks for the environment that acted. -1 only when interrupted, or ours. */
MUST_USE int mcp_read_status(struct env_mcp *e, struct env_reply *out, struct error *err);

/* After a step: status, then reward. */
MUST_USE int mcp_read_control_plane(struct env_mcp *e, struct env_reply *out,
                                    struct error *err);

/* When the server said list_changed: lists the tools again and says what is different. */
MUST_USE int mcp_look_at_tools(struct env_mcp *e, struct error *err);

#endif
