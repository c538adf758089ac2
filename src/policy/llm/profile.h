/* The folder llm/: asking a model: settings, requests, replies, streams, failures. */

/* Provider profiles: the parameters that a kind of chat-completions server accepts, and their
   names there. Data only; an unknown server is `generic`, which only gets parameters that every
   server accepts. */
#ifndef ROLLDBG_POLICY_LLM_PROFILE_H
#define ROLLDBG_POLICY_LLM_PROFILE_H

#include "base/base.h"

/* How a request asks for a reply that matches a JSON Schema. */
enum schema_form {
	SCHEMA_UNTOLD,      /* it has no such field: the prompt alone says it */
	SCHEMA_JSON_SCHEMA, /* {"type":"json_schema","json_schema":{"name","schema"}} */
	SCHEMA_JSON_OBJECT, /* {"type":"json_object","schema":..} */
};

struct profile {
	const char *name, *help;
	const char *key_variable; /* of its API key; NULL: it needs none */
	const char *key_host;     /* whose key that is: this host and those below it */
	const char *max_tokens;   /* what it calls the limit of a reply */
	const char *accepts;      /* comma-separated optional fields that are safe to send */
	/* members that ask for token ids, raw JSON; NULL: it has none to give */
	const char *tokens;
	enum schema_form schema;
	bool null_content;    /* takes "content":null beside tool calls; else "" is sent */
	bool keeps_reasoning; /* reasoning goes back into the prompt, as `reasoning` */
};

extern const struct profile profiles[];
extern const size_t profiles_count;

/* Is the optional field safe to send? */
bool profile_accepts(const struct profile *p, const char *field);

#endif
