/* The directory llm/: policies that ask a model: settings, requests, replies, streams, failures. */

/* The APIs of model servers. The rest of the code only uses chat completions; each other API has
   an adapter (one file) that translates the body of a request, and reads a reply or the events of a
   stream. */
#pragma once

#include "base/base.h"
#include "json/scan.h"
#include "policy/llm/completion.h"

struct api {
	const char *name, *help;
	const char *path;    /* after /v1 */
	const char *refuses; /* comma-separated sampling parameters it does not support */
	/* The text before the key in its header; a header for every request, or NULL. */
	const char *key_header, *header;
	/* All NULL: the API is chat completions. request: translates the body of a chat-completions
	   request, in place of the contents of out. reply: adds a whole reply, as if it had been
	   streamed; false: not a reply of this API. event: adds one event of a stream, valid JSON. */
	void (*request)(struct str chat, struct buf *out);
	bool (*reply)(struct str body, struct chat_stream *s);
	void (*event)(struct str data, struct chat_stream *s);
};

enum api_id {
#define API(id, ...) API_##id,
#include "policy/llm/apis.def"
#undef API
};

extern const struct api apis[];       /* by their ids */
extern const char *const api_names[]; /* ends with NULL */
/* The names as an option's choices: "chat|responses|.." */
extern const char api_bars[];
#define API_CHOICES (&api_bars[1])

/* Does the API support the sampling parameter? */
bool api_accepts(const struct api *a, const char *parameter);

/* ---- provider profiles ---- */

/* How a request asks for a reply that matches a JSON Schema. */
enum schema_form {
	SCHEMA_UNSUPPORTED, /* not supported: only the prompt asks for it */
	SCHEMA_JSON_SCHEMA, /* {"type":"json_schema","json_schema":{"name","schema"}} */
	SCHEMA_JSON_OBJECT, /* {"type":"json_object","schema":..} */
};

struct profile {
	const char *name, *help;
	const char *key_variable; /* environment variable of its API key; NULL: needs no key */
	const char *key_host;     /* the host the key is for, with its subdomains */
	const char *max_tokens;   /* name of the parameter that limits the reply's tokens */
	const char *accepts;      /* comma-separated optional members that may be sent */
	/* members that request token ids, raw JSON; NULL: not supported */
	const char *tokens;
	enum schema_form schema;
	bool null_content;    /* accepts "content":null with tool calls; otherwise "" is sent */
	bool keeps_reasoning; /* reasoning is sent back in the prompt, as `reasoning` */
	/* messages of role tool may name the tool, which some templates need */
	bool names_results;
	enum api_id api; /* unless the user names another one */
};

extern const struct profile profiles[];
extern const size_t profiles_count;
extern const char *const profile_names[]; /* ends with NULL */
/* The names as an option's choices: "generic|openai|.." */
extern const char profile_bars[];
#define PROFILE_CHOICES (&profile_bars[1])

/* Does the profile support the optional member? */
bool profile_accepts(const struct profile *p, const char *field);
