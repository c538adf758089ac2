/* What the adapters of environments behind JSON over HTTP have in common: the state read from
   observations, the context of a call, the facts and the events of a session. */
#pragma once

#include "env/http_json.h"
#include "env/ignore_paths.h"
#include "env/reading.h"
#include "env/state_source.h"

/* First member of such an adapter's own struct. nemo_gym.c is the plainest of them: `open` calls
   http_env_init and state_source_parse, sets the traits, the name and the tools, then
   http_env_set_source; `reset` and `step` send with http_json.h, read what came into an env_reply,
   and keep it; `state` is http_env_state; `close` releases. */
struct http_env {
	struct env base;
	const struct env_conf *conf;
	struct http_json http;
	struct reply_reading reading;
	struct state_source source;
	struct ignore_paths ignored;
	struct arena kept; /* the last reply's slices */
	struct buf name, tools, request;
	struct buf start;  /* the reset's observation; empty: none */
	struct buf seen;   /* the last good observation; empty: none */
	struct str last;   /* the observation from which the state is read; absent: none */
	bool state_failed; /* reported once */
};

void http_env_init(struct http_env *e, const struct env_ops *ops, const struct env_conf *conf,
                   struct io *io);
/* Releases the members; the caller frees the struct. */
void http_env_release(struct http_env *e);

/* An http(s) URL may be any environment's: 1, else 0. For env_ops.claims. */
int http_env_claims(const char *url);

/* Checks the source; `otherwise` if the user left it open. Sets the facts that do not depend on the
   protocol, once name and tools are known: `open` ends with it. FAIL_USAGE. */
MUST_USE int http_env_set_source(struct http_env *e, enum state_kind otherwise, struct error *err);

/* Keeps a reply, before the next request. observed: its observation is a state, too. */
void http_env_keep_reset(struct http_env *e, struct env_reply *out, bool observed);
void http_env_keep_step(struct http_env *e, struct env_reply *out);
/* Keeps the reset's reply and chooses what is ignored in the state: `reset` ends with it, unless the
   state is requested first. */
MUST_USE int http_env_begin_episode(struct http_env *e, struct env_reply *out, bool observed,
                                    struct error *err);

/* The context of a call, for hidden errors. */
struct hidden_error_context http_env_before(const struct http_env *e);

/* Marks an answer that was sent as a success, but reports an error. */
void http_env_find_error(struct hidden_error_context before, const struct env_conf *conf,
                         struct reply_reading *r, struct env_reply *out);

/* The number a reward is: true is 1, false is 0; absent if it is something else. */
struct str http_env_reward(struct str value);

/* Appends a tool to a list, in the form of MCP; all raw JSON, absent: unknown. */
struct json_writer;
void http_env_put_tool(struct json_writer *w, struct str name, struct str description,
                       struct str schema);

/* Calls a tool; the slices of *out are valid until the next call. */
typedef int http_env_call(struct env *base, struct str name, struct str arguments,
                          struct env_reply *out, struct error *err);
/* Reports once that the state cannot be read. */
void http_env_note_state(struct http_env *e, struct str why);
/* For env_ops.state: from the last observation, or from the reply of the tool that is the source. If
   that fails, *out is absent, and an event says why once. */
MUST_USE int http_env_state(struct http_env *e, http_env_call *call, struct str *out,
                            struct error *err);
