/* The directory env/openenv/: the OpenEnv adapters: wire, replies, description of the server. The
   interface they implement is env.h; connections are in net/. */

/* Two adapters: openenv uses a session over the WebSocket, openenv-http sends each request over plain
   HTTP, without a session. They differ in the wire and in open(). */
#ifndef ROLLDBG_ENV_OPENENV_OPENENV_H
#define ROLLDBG_ENV_OPENENV_OPENENV_H

#include "env/http_env.h"
#include "env/openenv/reply.h"

struct env_openenv {
	struct http_env http;
	struct openenv_wire wire;
	struct buf schema; /* of an action; empty: unknown */
	struct buf version;
	struct buf state;    /* the current state; empty: unknown */
	struct buf episode;  /* its episode_id */
	int64_t env_steps;   /* step_count of the state; -1: unknown */
	bool calls_tools;    /* an MCP-style environment: actions name a tool */
	bool counts;         /* step_count has changed after one of our steps */
	bool over;           /* the last observation reported done */
	bool state_returned; /* `state` was returned once: other clients may have changed it */
};

/* Does the server describe itself as an OpenEnv server over HTTP? False also without a reply. */
bool openenv_answers(const struct env_conf *conf, struct io *io);

/* Appends the tool that stands for the steps of an environment without tools, in an array. schema:
   raw, of its actions; may be empty. */
void openenv_put_step_tool(struct str schema, struct buf *out);
/* Does a state contain more than the episode's id and the step count? */
bool openenv_state_informs(struct str state);
/* Where observations are the states: the pointer to their metadata, which is ignored; NULL: it is
   all there is. */
const char *openenv_metadata_aside(struct str observation);

/* Reads the description available without a session: names and the action schema. *known: it
   describes itself as an OpenEnv server. */
MUST_USE int openenv_describe(struct env_openenv *e, bool *known, struct error *err);
/* Sets the tools, the state source and the facts, once a session is open. */
MUST_USE int openenv_learn_facts(struct env_openenv *e, struct error *err);

#endif
