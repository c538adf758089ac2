/* The result of one call, in the terms of the record format: filled in by an adapter of env/,
   written by the line writer. */
#pragma once

#include "recording/words.h"

/* A failure and the layer that reported it. */
struct env_error {
	enum error_class class;
	enum error_layer layer;
	enum error_layer disagrees; /* the layer that reported success, if layers disagree */
	struct str code;            /* raw JSON (number or string); absent: null */
	struct str message;         /* as sent by the peer, decoded; capped by the adapter */
};

/* Initializes the members of a reply for which 0 is not "unknown". */
#define REPLY_UNKNOWN .terminated = -1, .truncated = -1, .env_steps = -1

/* Slices are valid until the next call on the same environment. Absent means unknown or missing. */
struct env_reply {
	enum outcome outcome;
	struct env_error error;
	struct str observation; /* raw JSON */
	/* raw JSON: content of structuredContent that is not in the text */
	struct str structured;
	struct str raw;               /* bytes that are not JSON, unchanged */
	struct str reward;            /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1 unknown */
	int64_t env_steps;            /* the environment's own count; -1: unknown */
	/* volatile facts, for `meta` */
	int http_status;
	struct str session;                          /* transport session */
	struct str env_session;                      /* requested environment session */
	struct str reply_session;                    /* session id named in the reply */
	const char *control_reward, *control_status; /* "ok", "failed"; NULL: not requested */
};
