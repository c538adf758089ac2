/* What a model answered: one chat-completions reply, whole or merged from a stream. Facts
   as they came; what they mean as tool calls is for calls.h. */
#ifndef ROLLDBG_POLICY_LLM_REPLY_H
#define ROLLDBG_POLICY_LLM_REPLY_H

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"

#define CHAT_REPLY_MAX ((size_t)24 << 20)
#define CHAT_CALLS_MAX 128 /* of one reply; more are noted, not kept */

struct chat_call {
	struct str id, name;  /* decoded; absent: not said */
	struct str arguments; /* decoded text, which should be a JSON object */
	bool not_text;        /* they came as a JSON value, not as a string: `arguments` is raw */
};

/* Everything lives in the arena. */
struct chat_reply {
	struct arena arena;
	struct str content, reasoning, refusal; /* decoded; absent: null or not there */
	struct str finish_reason;               /* decoded; absent: none */
	struct chat_call *calls;
	size_t call_count, calls_dropped;
	/* Raw JSON; absent: not given. */
	struct str stop_reason, usage, logprobs, token_ids, prompt_token_ids, model;
	bool incomplete; /* the stream broke off: its calls must not be executed */
};

/* Parses a whole body. FAIL_PROTOCOL: it is not a chat completion; the message says what it is. */
MUST_USE int chat_reply_read(struct str body, struct chat_reply *out, struct error *err);
void chat_reply_release(struct chat_reply *r); /* zeroed is fine */

/* The members a message and a streamed delta have in common. */
struct str chat_reasoning(struct str message); /* raw: reasoning, reasoning_content */
/* Appends content, which is a string or a list of parts, as text. False: it is neither.
   chat_thoughts: the same for the thinking parts among them; false: there are none. */
bool chat_content(struct str content, struct buf *out);
bool chat_thoughts(struct str content, struct buf *out);

#endif
