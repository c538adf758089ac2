/* What every environment adapter offers: blocking calls, replies classified once. A
   refused step is a success of the call with an outcome; -1 is for what we could not do
   ourselves or when the peer is gone for good. */
#ifndef ROLLDBG_ENV_ENV_H
#define ROLLDBG_ENV_ENV_H

#include "base/hash.h"
#include "base/options.h"
#include "env/pages.h"
#include "json/canon.h"
#include "json/scan.h"
#include "net/http.h"
#include "trajectory/events.h"
#include "trajectory/outcome.h"

/* Who said what went wrong. */
struct env_error {
	enum error_class class;
	enum error_layer layer;
	enum error_layer
		disagrees;  /* the layer that said success, when layers disagree */
	struct str code;    /* raw JSON (number or string); absent: null */
	struct str message; /* as the peer gave it, decoded; capped by the adapter */
};

/* Slices live until the next call on the same env. Absent means unknown or not there. */
struct env_reply {
	enum outcome outcome;
	struct env_error error;
	struct str observation; /* raw JSON */
	struct str structured; /* raw JSON: what structuredContent says beyond the text */
	struct str raw;        /* bytes that were no JSON, as they came */
	struct str reward;     /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1 unknown */
	int64_t env_steps;            /* the environment's own count, -1: none */
	/* volatile facts, for `meta` */
	int http_status;
	struct str session;       /* transport session */
	struct str env_session;   /* environment session we asked for */
	struct str reply_session; /* a session id that the reply named */
	const char *control_reward, *control_status,
		*control_state; /* "ok", "failed"; NULL: not asked */
};

struct env_conf {
	const char *url;
	const char *protocol; /* --protocol; NULL: find out */
	const char *era;      /* of MCP: "legacy", "modern" or "auto"; NULL: legacy */
	const char *const *headers; /* "Name: value", sent with every request */
	size_t header_count;
	uint64_t timeout_ms;           /* one call */
	struct str state_spec;         /* --state; "auto" by default */
	const struct opt_list *ignore; /* --ignore; NULL or empty: the adapter's own */
	bool has_seed;
	int64_t seed;
	const char *env_session; /* unique for this rollout and run */
	const char *version;     /* of rolldbg */
	struct pages *pages; /* shared with other sessions; NULL: each asks for itself */
};

/* What is known once a session is open. Borrowed from the env. */
struct env_facts {
	const char *protocol; /* "mcp-gym", "mcp", "openenv", "openenv-http" */
	struct str name,
		version;  /* decoded, as the server calls itself; absent: unknown */
	struct str tools; /* raw JSON array, as advertised; absent: could not be listed */
	const char *state_kind;  /* "control-plane", "openenv", "resource", "tool",
	                            "observation", "none" */
	struct str state_ignore; /* raw JSON array of pointers */
	const struct json_paths *ignore_paths;
	struct str session, env_session;
	struct str url;          /* final URL */
	struct str total_reward; /* the environment's own total so far; absent: it keeps
	                            none */
	/* of MCP alone: the revision that is spoken ("2025-11-25"), "legacy" (with
	   sessions) or "modern", and how the messages travel; else NULL */
	const char *revision, *era, *transport;
	bool takes_seed;  /* a reset hands conf's seed to the environment */
	bool starts_over; /* a reset begins an episode within the session */
};

struct env;

struct env_ops {
	const char *name, *help;
	/* 2: the URL (scheme, path) is certainly this adapter's. 1: it may be. 0: no. */
	int (*claims)(const char *url);
	/* Asks the server, where several adapters may have the URL: is it this protocol?
	   False also when nobody answers. NULL: the one to take when nobody else is sure.
	 */
	bool (*recognizes)(const struct env_conf *conf, struct io *io);
	/* 0: *out is open, or *refusal->outcome says why the server gave no session (it
	   answered). -1: nobody there, or ours. *out is set in every case where close()
	   is needed. */
	int (*open)(const struct env_conf *conf, struct io *io, struct env **out,
	            struct env_reply *refusal, struct error *err);
	/* The start of the episode, seeded when conf says so. Again: another episode in
	   the same session, where the facts say that there is such a thing. */
	int (*reset)(struct env *e, struct env_reply *out, struct error *err);
	/* The state now: raw JSON, absent when it is unknown. Asked a second time without
	   a step in between it looks again. */
	int (*state)(struct env *e, struct str *out, struct error *err);
	/* One call, sent at most once. arguments: raw JSON object. *out is set in every
	   case: OUTCOME_NONE where -1 came before an answer did. */
	int (*step)(struct env *e, struct str name, struct str arguments,
	            struct env_reply *out, struct error *err);
	const struct env_facts *(*facts)(const struct env *e);
	/* The oldest event not yet taken; false when there is none. Slices live until the
	 * next call. */
	bool (*event)(struct env *e, struct event *out);
	/* Says goodbye to the peer, bounded in time. NULL is fine. */
	void (*close)(struct env *e);
};

/* First member of each adapter's own struct. */
struct env {
	const struct env_ops *ops;
};

extern const struct env_ops *const environments[];
extern const size_t environments_count;

/* The adapter for conf's URL and --protocol. Where the URL leaves it open the server is
   asked. NULL with FAIL_USAGE. */
const struct env_ops *env_find(const struct env_conf *conf, struct io *io,
                               struct error *err);

#endif
