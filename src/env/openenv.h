/* What the two OpenEnv adapters share: sessions over /ws (openenv.c) and plain HTTP
   (openenv_http.c) differ in the wire alone. Also: is this server one of them? */
#ifndef ROLLDBG_ENV_OPENENV_H
#define ROLLDBG_ENV_OPENENV_H

#include "base/mem.h"
#include "env/ignored.h"
#include "env/openenv_reply.h"
#include "env/state_source.h"

extern const struct env_ops env_openenv, env_openenv_http;

struct env_openenv {
	struct env base;
	const struct env_conf *conf;
	struct openenv_wire wire;
	struct openenv_reading reading;
	struct state_source source;
	struct event_queue events;
	struct ignored ignored;
	struct arena kept; /* the last reply's slices */
	struct buf schema; /* of an action; empty: not told */
	struct buf tools, request, name, version;
	struct buf state;   /* as it is now; empty: not known */
	struct buf before;  /* the one handed out before the step */
	struct buf episode; /* its episode_id */
	struct str last;    /* last observation, for --state observation */
	int64_t env_steps;  /* step_count of the state; -1 unknown */
	bool calls_tools;   /* an MCP-style environment: actions name a tool */
	bool over;          /* the last observation said done */
	bool state_failed;  /* said once */
	bool state_taken;   /* it was handed out: others may have moved it since */
	struct env_facts facts;
};

/* An OpenEnv server answers here, told by what it says about itself over HTTP. False also
   when nobody answers. */
bool openenv_answers(const struct env_conf *conf, struct io *io);

struct env_openenv *openenv_new(const struct env_ops *ops, const struct env_conf *conf,
                                struct io *io);
/* Names, and the schema of its actions: what is known without a session. *known: it is an
   OpenEnv server, by its own words. */
MUST_USE int openenv_describe(struct env_openenv *e, bool *known, struct error *err);
/* The tools, the state source, the facts: once a session is open. */
MUST_USE int openenv_settle(struct env_openenv *e, const char *protocol,
                            struct error *err);

/* Members of struct env_ops. */
int openenv_reset(struct env *base, struct env_reply *out, struct error *err);
int openenv_state(struct env *base, struct str *out, struct error *err);
int openenv_step(struct env *base, struct str name, struct str arguments,
                 struct env_reply *out, struct error *err);
const struct env_facts *openenv_facts(const struct env *base);
bool openenv_event(struct env *base, struct event *out);
void openenv_close(struct env *base);

/* An event line {"what","why"}. */
void openenv_note(struct env_openenv *e, const char *event, const char *what,
                  struct str why);

#endif
