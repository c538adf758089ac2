/* The history as it is sent: messages of the user in a row are one, for many chat templates take
   no two of one role; and, once a server has refused the usual form, the form that its template
   takes. What is recorded stays as it was said. */
#ifndef ROLLDBG_POLICY_LLM_HISTORY_H
#define ROLLDBG_POLICY_LLM_HISTORY_H

#include "base/buf.h"

/* Constraints of chat templates, as bits. */
enum history_form {
	HISTORY_USUAL = 0,
	HISTORY_SYSTEM_AS_USER =
		1, /* there is no role system: its text begins the first user message */
	HISTORY_SINGLE_CALLS = 2, /* a message of the assistant has at most one call */
};

struct history {
	struct buf sent; /* raw JSON values, comma separated */
	size_t last;     /* where the last of them begins */
	bool user_last;  /* and it is the user's, so the next may be added to it */
	unsigned forms;  /* of enum history_form */
	struct buf
		calls; /* SINGLE_CALLS: the message whose calls wait for their results, or empty */
};

void chat_history_init(struct history *h);
void chat_history_release(struct history *h);

/* message: raw JSON. */
void chat_history_add(struct history *h, struct str message);

/* Which form does a server ask for that refused the request with this sentence? HISTORY_USUAL: it
   says nothing about that, or has it already. */
enum history_form chat_history_wanted(const struct history *h, struct str sentence);
const char *chat_history_form_name(enum history_form f); /* "system-as-user" */
/* From now on in that form too; messages: all so far, raw JSON values, comma separated. */
void chat_history_reform(struct history *h, enum history_form f, struct str messages);

#endif
