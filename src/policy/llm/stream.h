/* Merges the chunks of a streamed chat completion to one reply. Calls are merged by index; ids
   and names are set once, arguments are concatenated. */
#ifndef ROLLDBG_POLICY_LLM_STREAM_H
#define ROLLDBG_POLICY_LLM_STREAM_H

#include "policy/llm/reply.h"

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
	bool done; /* [DONE] was received */
};

void chat_stream_init(struct chat_stream *s);
void chat_stream_release(struct chat_stream *s);

/* Processes the data of one event. 0: merged or ignored. -1, FAIL_PROTOCOL: not JSON, or over
   the cap. */
MUST_USE int chat_stream_add(struct chat_stream *s, struct str data, struct error *err);

/* An error in the middle of a stream, {"error":..} raw; absent: none. */
struct str chat_stream_failure(const struct chat_stream *s);

/* The reply received so far. ended_well: the transfer completed; otherwise, or without a finish
   reason, the reply is marked incomplete. */
void chat_stream_reply(const struct chat_stream *s, bool ended_well, struct chat_reply *out);

#endif
