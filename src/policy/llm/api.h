/* The APIs that a model is asked through. The policy, the recording and all that reads a reply know
   one of them, chat completions; another is an adapter of one file, which translates the request's
   body on its way out, and the reply's body, or the events of a stream, on their way in. */
#ifndef ROLLDBG_POLICY_LLM_API_H
#define ROLLDBG_POLICY_LLM_API_H

#include "json/scan.h"

/* What an adapter keeps from event to event of a stream. */
struct api_stream {
	int64_t prompt_tokens, cached_tokens; /* as told at its beginning; 0: not told */
};

struct api {
	const char *name, *help;
	const char *path;    /* behind /v1 */
	const char *refuses; /* comma-separated sampling parameters that it does not know */
	/* What precedes the key in its header; and a header that each request has, or NULL. */
	const char *key_header, *header;
	/* NULL, all three: the API is chat completions. Each replaces what out held.
	   request: the body of a chat-completions request.
	   reply: of a whole reply, as a chat completion; false: it is none of this API.
	   event: of an event of a stream, as a chunk; nothing: it says nothing to us. The last one is
	   followed by "[DONE]" where *done is set. */
	void (*request)(struct str chat, struct buf *out);
	bool (*reply)(struct str body, struct buf *out);
	void (*event)(struct api_stream *s, struct str data, struct buf *out, bool *done);
};

extern const struct api apis[];
extern const char *const api_names[]; /* NULL at the end */
/* Places of those that are named elsewhere. */
#define API_CHAT      0
#define API_ANTHROPIC 2

/* Does it know that sampling parameter? */
bool api_accepts(const struct api *a, const char *parameter);

#endif
