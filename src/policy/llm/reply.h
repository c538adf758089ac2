/* A model's reply: one chat completion, whole or merged from a stream. Data as received; tool
   calls are read by calls.h. */
#ifndef ROLLDBG_POLICY_LLM_REPLY_H
#define ROLLDBG_POLICY_LLM_REPLY_H

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
void chat_reply_release(struct chat_reply *r); /* a zeroed one is fine */

/* Members common to messages and streamed deltas. */
struct str chat_reasoning(struct str message); /* raw: reasoning, reasoning_content */
/* Appends content, a string or a list of parts, as text; returns false if it is neither.
   chat_thoughts: the same for the thinking parts in it; false: there are none. */
bool chat_content(struct str content, struct buf *out);
bool chat_thoughts(struct str content, struct buf *out);

#endif
