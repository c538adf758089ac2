/* The conversation with a model, append-only: its messages as they are sent, and the messages
   that each turn added. */
#ifndef ROLLDBG_POLICY_LLM_CONVERSATION_H
#define ROLLDBG_POLICY_LLM_CONVERSATION_H

#include "base/hash.h"
#include "json/scan.h"
#include "policy/llm/history.h"

struct conversation {
	struct buf messages;    /* raw JSON values, separated by commas */
	struct history history; /* the same as they are sent */
	size_t taken;           /* bytes of `messages` that conversation_added() has returned */
	struct hasher *hasher;
	/* A chain over all messages so far: the hash of (the chain before, the canonical
	   message), starting with the empty text, so that each addition costs one message, not
	   the whole conversation. */
	char hash[HASH_HEX + 1];
	struct buf scratch;
};

void conversation_init(struct conversation *c);
void conversation_release(struct conversation *c);

/* {"role":role,"content":text} */
void conversation_say(struct conversation *c, const char *role, struct str text);
/* {"role":"tool","tool_call_id":id,"name":name,"content":text}; name absent: omitted. */
void conversation_answer(struct conversation *c, struct str id, struct str name, struct str text);
/* {"role":"user","content":[parts]}; parts: raw JSON, separated by commas. */
void conversation_show(struct conversation *c, struct str parts);
/* A whole message, as raw JSON. */
void conversation_add(struct conversation *c, struct str message);

/* What was added since the last call of this; valid until the next addition. */
struct str conversation_added(struct conversation *c);

/* One step of the hash chain, to rebuild a prompt from a recording. */
void conversation_chain(struct hasher *h, struct str message, struct buf *scratch,
                        char hash[HASH_HEX + 1]);

/* Appends a prompt: {observation}, {state}, {task} and the names in vars (a raw JSON object) are
   replaced: the observation as answer.h converts it, strings by their text, other values by
   their JSON, absent ones by nothing; other braces stay. Lines that hold only absent values are
   dropped. */
struct prompt_values {
	struct str observation, state; /* raw JSON */
	const char *task;
	struct str vars;
};
void prompt_fill(const char *template, const struct prompt_values *v, struct buf *out);

#endif
