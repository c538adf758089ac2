/* The directory env/openenv/: the OpenEnv adapters: wire, replies, description of the server. The
   interface they implement is env.h; connections are in net/. */

/* Two adapters: openenv uses a session over the WebSocket (openenv.c), openenv-http sends each
   request over plain HTTP, without a session (openenv_http.c). They differ in the wire and in
   open(); the common functions are declared here. */
#ifndef ROLLDBG_ENV_OPENENV_OPENENV_H
#define ROLLDBG_ENV_OPENENV_OPENENV_H

#include "base/mem.h"
#include "env/ignore_paths.h"
#include "env/openenv/reply.h"
#include "env/state_source.h"

extern const struct env_ops env_openenv, env_openenv_http;

/* How to raise the session limit. */
#define OPENENV_LIMIT_FIX                                                                          \
	"raise MAX_CONCURRENT_ENVS, or max_concurrent_envs where the server creates its app (the " \
	"environment must declare SUPPORTS_CONCURRENT_SESSIONS = True)"

struct env_openenv {
	struct env base;
	const struct env_conf *conf;
	struct openenv_wire wire;
	struct reply_reading reading;
	struct state_source source;
	struct ignore_paths ignored;
	struct arena kept; /* the last reply's slices */
	struct buf schema; /* of an action; empty: unknown */
	struct buf tools, request, name, version;
	struct buf state;    /* the current state; empty: unknown */
	struct buf episode;  /* its episode_id */
	struct buf start;    /* the reset's observation; empty: none */
	struct buf seen;     /* the last good observation; empty: none */
	struct str last;     /* last observation, if the state is read from it */
	int64_t env_steps;   /* step_count of the state; -1: unknown */
	bool calls_tools;    /* an MCP-style environment: actions name a tool */
	bool counts;         /* step_count has changed after one of our steps */
	bool over;           /* the last observation reported done */
	bool state_failed;   /* reported once */
	bool state_returned; /* `state` was returned once: other clients may have changed it since
			        */
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

struct env_openenv *openenv_new(const struct env_ops *ops, const struct env_conf *conf,
                                struct io *io);
/* Reads the description available without a session: names and the action schema. *known: it
   describes itself as an OpenEnv server. */
MUST_USE int openenv_describe(struct env_openenv *e, bool *known, struct error *err);
/* Sets the tools, the state source and the facts, once a session is open. */
MUST_USE int openenv_learn_facts(struct env_openenv *e, struct error *err);

/* Members of struct env_ops. */
int openenv_reset(struct env *base, struct env_reply *out, struct error *err);
int openenv_state(struct env *base, struct str *out, struct error *err);
int openenv_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                 struct error *err);
void openenv_close(struct env *base);

/* Queues an event {"what","why"}. */
void openenv_note(struct env_openenv *e, enum event_kind event, const char *what, struct str why);

#endif
