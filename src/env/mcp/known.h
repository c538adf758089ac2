/* What is known of an episode from the replies of an MCP server and its control plane, whoever asked:
   the adapter, or a client behind the tap. Bytes in, facts out; sends nothing. */
#pragma once

#include "env/env.h"
#include "env/mcp/reply.h"

struct mcp_known {
	struct event_queue *events; /* borrowed */
	struct reply_reading reading;
	struct buf control_state; /* as last read from the control plane; empty: never */
	struct buf start;         /* the first observation; empty: none */
	struct buf seen;          /* the last good observation; empty: none */
	struct buf total_reward, reward;
	int64_t env_steps;     /* of the last valid status; -1: unknown */
	bool state_is_control; /* the recorded states are those of the control plane */
	bool reads_only;       /* the last step called a read-only tool */
	bool doubted;          /* the last step changed something but was not counted */
	bool state_lost;       /* the control plane belongs to another environment */
	bool control_failed;   /* reported once */
};

void mcp_known_init(struct mcp_known *k, struct event_queue *events);
void mcp_known_release(struct mcp_known *k);

/* Another episode: forgets the suspicion and the count of the one before. */
void mcp_known_forget(struct mcp_known *k);
/* It starts with this observation, which is the control plane's state; absent: none. */
void mcp_known_start(struct mcp_known *k, struct str observation);

/* To read the reply of a call with. */
struct hidden_error_context mcp_known_before(const struct mcp_known *k);

/* Cuts a reply that is not JSON: escaping can make its bytes six times longer. */
void mcp_known_cut_raw(struct mcp_known *k, struct env_reply *out);

/* What the control plane says after a step, each absent if it failed, with the reason. The status
   comes first. They fill env_steps, terminated, truncated, reward and the control_* members of
   out, confirm or drop a suspected error, and check whether the control plane belongs to the
   environment that acted. */
void mcp_known_status(struct mcp_known *k, struct str status, const char *why,
                      struct env_reply *out);
void mcp_known_reward(struct mcp_known *k, struct str body, const char *why, struct env_reply *out);
/* The environment's own total, as raw JSON; absent: unknown. */
struct str mcp_known_total_reward(const struct mcp_known *k);
/* A state was read from the control plane; absent: it could not be. */
void mcp_known_state(struct mcp_known *k, struct str state);
/* Nothing more will be known of the step. */
void mcp_known_conclude(struct mcp_known *k, struct env_reply *out);

/* Reports once that the control plane fails. */
void mcp_known_trouble(struct mcp_known *k, const char *what, const char *why);
