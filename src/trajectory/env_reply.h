/* What became of one call, in the terms of the record format: an adapter of env/ fills it in, the
   line writer writes it. */
#ifndef ROLLDBG_TRAJECTORY_ENV_REPLY_H
#define ROLLDBG_TRAJECTORY_ENV_REPLY_H

#include "trajectory/words.h"

/* Who said what went wrong. */
struct env_error {
	enum error_class class;
	enum error_layer layer;
	enum error_layer disagrees; /* the layer that said success, when layers disagree */
	struct str code;            /* raw JSON (number or string); absent: null */
	struct str message;         /* as the peer gave it, decoded; capped by the adapter */
};

/* Slices live until the next call on the same environment. Absent means unknown or not there. */
struct env_reply {
	enum outcome outcome;
	struct env_error error;
	struct str observation;       /* raw JSON */
	struct str structured;        /* raw JSON: what structuredContent says beyond the text */
	struct str raw;               /* bytes that were no JSON, as they came */
	struct str reward;            /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1 unknown */
	int64_t env_steps;            /* the environment's own count, -1: none */
	/* volatile facts, for `meta` */
	int http_status;
	struct str session;                          /* transport session */
	struct str env_session;                      /* requested environment session */
	struct str reply_session;                    /* a session id that the reply named */
	const char *control_reward, *control_status; /* "ok", "failed"; NULL: not asked */
};

#endif
