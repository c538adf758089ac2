/* The directory llm/: policies that ask a model: settings, requests, replies, streams, failures. */

/* Provider profiles: the request parameters that a server supports, and their names there. Data
   only. An unknown server uses `generic`, with parameters that every server supports. */
#ifndef ROLLDBG_POLICY_LLM_PROFILE_H
#define ROLLDBG_POLICY_LLM_PROFILE_H

#include "base/base.h"
#include "policy/llm/api.h"

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
	/* GET path, next to /v1, of an object with the model's `chat_template`; NULL: none */
	const char *template_path;
};

extern const struct profile profiles[];
extern const size_t profiles_count;
extern const char *const profile_names[]; /* ends with NULL */
/* The names as an option's choices: "generic|openai|.." */
extern const char profile_bars[];
#define PROFILE_CHOICES (&profile_bars[1])

/* Does the profile support the optional member? */
bool profile_accepts(const struct profile *p, const char *field);

#endif
