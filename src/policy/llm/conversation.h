/* The conversation with a model, append only: its messages as they are sent, and what
   each turn added. */
#ifndef ROLLDBG_POLICY_LLM_CONVERSATION_H
#define ROLLDBG_POLICY_LLM_CONVERSATION_H

#include "base/hash.h"
#include "json/scan.h"

struct conversation {
	struct buf messages; /* raw JSON values, comma separated */
	size_t taken;        /* bytes of it that conversation_added() has given */
	struct hasher *hasher;
	/* Of all messages so far, a chain: the hash of (the chain before, canonical
	   message), beginning with the empty text. So that it costs one message, not the
	   whole conversation, to go on. */
	char hash[HASH_HEX + 1];
	struct buf scratch;
};

void conversation_init(struct conversation *c);
void conversation_release(struct conversation *c);

/* {"role":role,"content":text} */
void conversation_say(struct conversation *c, const char *role, struct str text);
/* {"role":"tool","tool_call_id":id,"content":text} */
void conversation_answer(struct conversation *c, struct str id, struct str text);
/* A whole message, raw JSON. */
void conversation_add(struct conversation *c, struct str message);

/* What was added since this was last asked; valid until the next addition. */
struct str conversation_added(struct conversation *c);

/* One step of the chain, for whoever rebuilds a prompt from a recording. */
void conversation_chain(struct hasher *h, struct str message, struct buf *scratch,
                        char hash[HASH_HEX + 1]);

/* Appends a prompt: {observation}, {state}, {task} and the names in vars (raw JSON
   object) are replaced, strings by their text, other values by their JSON, absent ones by
   nothing; what else stands in braces stays. Lines that held nothing but absent values
   are left out. */
struct prompt_values {
	struct str observation, state; /* raw JSON */
	const char *task;
	struct str vars;
};
void prompt_fill(const char *template, const struct prompt_values *v, struct buf *out);

/* Appends a raw JSON value as text for a model: a string decoded, others as they are. */
void prompt_text(struct str value, struct buf *out);

#endif
