/* The APIs through which a model is asked. The policy, the recording and everything that reads a
   reply know one, chat completions; each other API is an adapter in one file, which translates
   the body of the request, and the body of the reply or the events of a stream. */
#ifndef ROLLDBG_POLICY_LLM_API_H
#define ROLLDBG_POLICY_LLM_API_H

#include "json/scan.h"

/* What an adapter keeps between the events of a stream. */
struct api_stream {
	int64_t prompt_tokens, cached_tokens; /* as reported at the beginning; 0: not reported */
};

struct api {
	const char *name, *help;
	const char *path;    /* behind /v1 */
	const char *refuses; /* comma-separated sampling parameters that it does not have */
	/* What precedes the key in its header, and a header for every request, or NULL. */
	const char *key_header, *header;
	/* All NULL: the API is chat completions. Each replaces the contents of out. request:
	   from the body of a chat-completions request. reply: from a whole reply, to a chat
	   completion; false: not a reply of this API. event: from one event of a stream, to a
	   chunk; empty: nothing to pass on. If *done is set, "[DONE]" follows the last one. */
	void (*request)(struct str chat, struct buf *out);
	bool (*reply)(struct str body, struct buf *out);
	void (*event)(struct api_stream *s, struct str data, struct buf *out, bool *done);
};

extern const struct api apis[];
extern const char *const api_names[]; /* ends with NULL */
/* The indexes of APIs that other files name. */
#define API_CHAT      0
#define API_ANTHROPIC 2

/* Does the API have that sampling parameter? */
bool api_accepts(const struct api *a, const char *parameter);

#endif
