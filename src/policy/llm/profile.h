/* Provider profiles: what one kind of chat-completions server takes and what it is called
   there. Data only; a server that nobody knows is `generic`, which is asked for nothing
   that some server refuses. */
#ifndef ROLLDBG_POLICY_LLM_PROFILE_H
#define ROLLDBG_POLICY_LLM_PROFILE_H

#include "base/base.h"

/* How a server is told that the reply must fit a JSON Schema. */
enum schema_form {
	SCHEMA_UNTOLD,      /* it has no such field: the prompt alone says it */
	SCHEMA_JSON_SCHEMA, /* {"type":"json_schema","json_schema":{"name","schema"}} */
	SCHEMA_JSON_OBJECT, /* {"type":"json_object","schema":..} */
};

struct profile {
	const char *name, *help;
	const char *key_variable; /* of its API key; NULL: it wants none */
	const char *max_tokens;   /* what it calls the limit of a reply */
	const char *accepts; /* comma-separated optional fields that are safe to send */
	const char *tokens;  /* members that ask for token ids, raw JSON; NULL: it has
	                        none to give */
	enum schema_form schema;
	bool null_content; /* takes "content":null beside tool calls; else "" is sent */
	bool keeps_reasoning; /* reasoning goes back into the prompt, as `reasoning` */
};

extern const struct profile profiles[];
extern const size_t profiles_count;

/* Is the optional field safe to send? */
bool profile_accepts(const struct profile *p, const char *field);

#endif
