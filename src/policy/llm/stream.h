/* A streamed chat completion: chunks in, one reply out. Calls are merged by their index;
   ids and names are set once and never joined, arguments are joined. */
#ifndef ROLLDBG_POLICY_LLM_STREAM_H
#define ROLLDBG_POLICY_LLM_STREAM_H

#include "policy/llm/reply.h"

/* The lists of logprobs: in the current format and in the older one. */
#define CHAT_LOGPROBS 7

struct chat_stream_call {
	int64_t index; /* as the server gave it; -1: it gave none */
	struct buf id, name, arguments;
	bool has_id, has_name, not_text;
};

struct chat_stream {
	struct buf content, reasoning, refusal, finish_reason;
	struct buf logprobs[CHAT_LOGPROBS]; /* elements, comma separated */
	struct buf token_ids;               /* the same */
	struct buf stop_reason, usage, prompt_token_ids, model, failure;
	struct chat_stream_call *calls;
	size_t call_count, calls_dropped;
	struct chat_stream_call older; /* function_call; counts when no other call came */
	bool has_content, has_reasoning, has_refusal, has_older, has_token_ids;
	bool has_logprobs[CHAT_LOGPROBS];
	bool done; /* [DONE] came */
};

void chat_stream_init(struct chat_stream *s);
void chat_stream_release(struct chat_stream *s);

/* The data of one event. 0: taken, or nothing to us. -1, FAIL_PROTOCOL: no JSON, or over
   the cap. */
MUST_USE int chat_stream_take(struct chat_stream *s, struct str data, struct error *err);

/* A failure that came under HTTP 200 in mid-stream, {"error":..} raw; absent: none. */
struct str chat_stream_failure(const struct chat_stream *s);

/* The reply received so far. ended_well: the transfer was complete; without that, or without a
   finish reason, the reply is incomplete. */
void chat_stream_reply(const struct chat_stream *s, bool ended_well, struct chat_reply *out);

#endif
