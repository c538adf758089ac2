/* The directory env/: environment adapters (mcp/, openenv/, ors/ ..) and common code: state sources,
   error texts, pages. Only adapters classify replies; what all of them share is in failure.h. An
   adapter is a file or directory, a row of envs.def, and a PROTOCOL_WORD, which says what the rules
   may expect of its recordings. Turns, recording and verdicts are elsewhere. */

/* The interface of environment adapters: blocking calls. A step's class is final when step()
   returns. A refused step is a successful call with an outcome; -1 means a local failure or a
   lost peer. */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "env/page_cache.h"
#include "json/canon.h"
#include "json/scan.h"
#include "net/http.h"
#include "recording/env_reply.h"
#include "recording/events.h"

/* Copies the data of the reply's slices, which are otherwise only valid until the next call on
   the environment. */
void env_reply_keep(struct env_reply *reply, struct arena *a);

/* All that a reply told: the observation, or {"content":..,"structuredContent":..} if part of it is only
   in `structured`. Stored in the arena; absent if the reply told nothing. */
struct str env_reply_whole(struct str observation, struct str structured, struct arena *a);

struct env_conf {
	const char *url;
	const char *protocol;       /* one of an adapter's `protocols`; NULL: detect */
	const char *era;            /* of MCP: "legacy", "modern" or "auto"; NULL: legacy */
	const char *const *headers; /* "Name: value", sent with every request */
	size_t header_count;
	/* of a stdio: server: "NAME=value", NULL-terminated; may be NULL */
	char *const *child_variables;
	const char *temporary;     /* directory of temporary files; NULL: /tmp */
	uint64_t timeout_ms;       /* for one call */
	uint64_t open_timeout_ms;  /* all calls that open a session; 0: no limit */
	struct str state_spec;     /* see env/state_source.h; "auto" by default */
	const char *const *ignore; /* JSON Pointers; none: the adapter's defaults */
	size_t ignore_count;
	/* Replies with one of these texts are errors. */
	const char *const *error_texts;
	size_t error_text_count;
	/* Raw JSON object: arguments of the reset; may be absent. */
	struct str reset_args;
	bool has_seed;
	int64_t seed;
	const char *env_session; /* unique for this rollout and run */
	const char *version;     /* of rolldbg */
	/* shared with other sessions; NULL: each session requests its own */
	struct page_cache *pages;
};

/* What a session of this server supports: test this, not the protocol's name. */
struct env_traits {
	bool takes_seed;     /* a reset passes conf's seed to the environment */
	bool starts_over;    /* a reset starts a new episode within the session */
	bool has_episodes;   /* it is an environment; otherwise its tools may have side effects
			      anywhere */
	bool names_sessions; /* the server assigns each session an id */
	bool own_server;     /* each session has its own server process */
	bool no_rewards;     /* they are computed elsewhere: no reply has one */
	/* Why requests do not stay in one environment, and how to fix it; NULL if they do. */
	const char *no_sessions, *no_sessions_fix;
};

/* Facts known once a session is open. Borrowed from the env. */
struct env_facts {
	const char *protocol;     /* one of the adapter's `protocols` */
	struct str name, version; /* decoded, as reported by the server; absent: unknown */
	struct str tools;         /* raw JSON array, as advertised; absent: could not be listed */
	enum state_kind state_kind;
	struct str state_target, state_arguments; /* as in struct state_source */
	struct str state_ignore;                  /* raw JSON array of pointers */
	const struct json_paths *ignore_paths;
	struct str session, env_session;
	struct str url;          /* final URL */
	struct str total_reward; /* the environment's own total so far; absent: none */
	/* of that, if it was verified: a raw JSON object; absent: none */
	struct str reward_components;
	/* MCP only: the revision in use ("2025-11-25"), "legacy" (with sessions) or "modern",
	   and the transport; else NULL */
	const char *revision, *era, *transport;
	struct env_traits traits;
};

struct env;
struct http_json;

/* What an examination of the session's contract found, as clauses with "; " between. */
struct env_contract {
	struct buf broken; /* replies that the protocol excludes */
	struct buf odd;    /* replies that it allows, but that hide mistakes of a client */
	unsigned kept;     /* requests that were answered as they should be */
};

struct env_ops {
	const char *name, *help;
	/* The names of the protocols it supports, NULL-terminated. */
	const char *const *protocols;
	const char *places;    /* accepted URLs, for messages: "ws://HOST:PORT" */
	const char *limit_fix; /* how to raise the session limit of such a server */
	bool has_eras;         /* it supports conf's era */
	/* 2: the URL (scheme, path) certainly belongs to this adapter; 1: possibly; 0: it does
	   not. NULL: used only on request. */
	int (*claims)(const char *url);
	/* Asks the server whether it uses this protocol, if several adapters accept the URL.
	   False also without a reply. NULL: used if no other adapter matches. */
	bool (*recognizes)(struct http_json *h);
	/* Replies are set to unknown before these are called, with outcome ok but for a step.
	   0: *out is open, or *refusal->outcome is why the server refused the session. -1: not
	   reached, or a local failure. *out is set whenever close() is needed. */
	int (*open)(const struct env_conf *conf, struct io *io, struct env **out,
	            struct env_reply *refusal, struct error *err);
	/* Starts the episode, with conf's seed if there is one. Called again: another episode
	   in the same session, if the facts say that this is supported. */
	int (*reset)(struct env *e, struct env_reply *out, struct error *err);
	/* Reads the current state: raw JSON, valid until the next call; absent if unknown. A
	   second call without a step in between reads it again. */
	int (*state)(struct env *e, struct str *out, struct error *err);
	/* One call, sent at most once. arguments: raw JSON object. *out keeps OUTCOME_NONE if -1 is
	   returned before a reply arrived. */
	int (*step)(struct env *e, struct str name, struct str arguments, struct env_reply *out,
	            struct error *err);
	/* After the last step of an episode, for an environment that judges it as a whole: sets
	   the facts' total_reward. NULL: rewards come with the steps. */
	int (*finish)(struct env *e, struct error *err);
	/* Sends what no client should (a session begun or closed twice, a call after the close or without
	   a session), with a call that has succeeded. The session is over then. NULL: nothing to examine. */
	int (*examine)(struct env *e, struct str name, struct str arguments,
	               struct env_contract *out, struct error *err);
	/* Appends the resources that the server lists: a raw JSON array of objects with a `uri`; nothing
	   if it has none. NULL: the protocol knows none. -1: only interrupted, or a local failure. */
	int (*resources)(struct env *e, struct buf *out, struct error *err);
	/* Closes the session, within bounded time; releases the events. NULL is allowed. */
	void (*close)(struct env *e);
};

/* First member of each adapter's own struct. */
struct env {
	const struct env_ops *ops;
	struct env_facts facts;    /* once the session is open */
	struct event_queue events; /* that were not taken yet */
};

/* For examine: counts a request as kept, or appends the clause to `clauses`. */
void env_contract_note(struct env_contract *c, bool kept, struct buf *clauses, const char *clause);

/* Wrappers of an adapter's functions; only these are called elsewhere (env_open is in
   environments.h). Only env_open can fail with FAIL_USAGE; later failures are those of the connection
   (FAIL_TRANSPORT, FAIL_TIMEOUT, FAIL_PROTOCOL), an interrupt, and local ones (FAIL_SYSTEM). */
MUST_USE int env_reset(struct env *e, struct env_reply *out, struct error *err);
MUST_USE int env_state(struct env *e, struct str *out, struct error *err);
MUST_USE int env_step(struct env *e, struct str name, struct str arguments, struct env_reply *out,
                      struct error *err);
/* Nothing for an adapter without it. */
MUST_USE int env_finish(struct env *e, struct error *err);
