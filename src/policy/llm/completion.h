/* A model's reply: one chat completion, whole or merged from a stream. Data as received; tool
   calls are read by calls.h. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"

#define CHAT_REPLY_MAX ((size_t)24 << 20)
#define CHAT_CALLS_MAX 128 /* per reply; further calls are counted, not kept */

struct chat_call {
	struct str id, name;  /* decoded; absent: not given */
	struct str arguments; /* decoded text, which should be a JSON object */
	bool not_text;        /* given as a JSON value instead of a string: `arguments` is raw */
};

/* All memory is in the arena. */
struct chat_reply {
	struct arena arena;
	struct str content, reasoning, refusal; /* decoded; absent: null or missing */
	struct str finish_reason;               /* decoded; absent: none */
	struct chat_call *calls;
	size_t call_count, calls_dropped;
	/* Raw JSON; absent: not sent. */
	struct str stop_reason, usage, logprobs, token_ids, prompt_token_ids, model;
	bool calls_no_list; /* tool_calls has a value that is not an array */
	bool incomplete;    /* the stream ended early: its calls must not be executed */
};

/* Parses a complete body. FAIL_PROTOCOL: not a chat completion; the message quotes its start. */
MUST_USE int chat_reply_read(struct str body, struct chat_reply *out, struct error *err);
/* The same for a body that is valid JSON without surrounding whitespace. */
MUST_USE int chat_reply_take(struct str body, struct chat_reply *out, struct error *err);
/* One choice of a body, of a chat completion or a completion (`text`). */
void chat_reply_choice(struct str choice, struct str body, struct chat_reply *out);
void chat_reply_release(struct chat_reply *r); /* a zeroed one is fine */

/* Appends content, a string or a list of parts, as text; returns false if it is neither. */
bool chat_content(struct str content, struct buf *out);

/* ---- streams: the chunks of a streamed chat completion merged to one reply. Calls are
   merged by index; ids and names are set once, arguments are concatenated ---- */

/* The lists of logprobs: in the current format and in the older one. */
#define CHAT_LOGPROBS 7

struct chat_stream_call {
	int64_t index;                  /* as sent by the server; -1: none */
	struct buf id, name, arguments; /* the first two empty: not sent yet */
	bool not_text;
};

/* A part that was not sent has no bytes, not even none (p is NULL). */
struct chat_stream {
	union {
		struct {
			struct buf content, reasoning, refusal, finish_reason;
			struct buf stop_reason, usage, prompt_token_ids, model, failure;
			/* elements, comma separated */
			struct buf token_ids, logprobs[CHAT_LOGPROBS];
		};
		struct buf parts[10 + CHAT_LOGPROBS];
	};
	struct chat_stream_call *calls;
	size_t call_count, calls_dropped;
	bool done; /* the last event was received */
	/* Tokens of the prompt, as reported at the beginning; 0: not reported. */
	int64_t prompt_tokens, cached_tokens;
};

void chat_stream_init(struct chat_stream *s);
void chat_stream_release(struct chat_stream *s);

/* Processes the data of one event. 0: merged or ignored. -1, FAIL_PROTOCOL: not JSON, or over
   the cap. */
MUST_USE int chat_stream_add(struct chat_stream *s, struct str data, struct error *err);

/* The same for one choice of a chunk, valid JSON. */
MUST_USE int chat_stream_choice(struct chat_stream *s, struct str choice, struct str chunk,
                                struct error *err);

/* ---- for adapters of other APIs ---- */

/* Appends to a part; anything but a string is ignored. */
void chat_stream_text(struct buf *part, struct str string);
/* Sets a part to raw JSON, unless that is null or absent. */
void chat_stream_raw(struct buf *part, struct str raw);
struct chat_call_piece {
	int64_t index; /* -1: none */
	/* raw JSON; absent: not sent. Arguments are a string, or all of the call's. */
	struct str id, name, arguments;
};
void chat_stream_call(struct chat_stream *s, const struct chat_call_piece *piece);
/* FAIL_PROTOCOL: over the cap. */
MUST_USE int chat_stream_check(const struct chat_stream *s, struct error *err);

/* An error in the middle of a stream, {"error":..} raw; absent: none. */
struct str chat_stream_failure(const struct chat_stream *s);

/* The reply received so far. ended_well: the transfer completed; otherwise, or without a finish
   reason, the reply is marked incomplete. */
void chat_stream_reply(const struct chat_stream *s, bool ended_well, struct chat_reply *out);
