/* The history in the form it is sent. Consecutive user messages are merged, because many chat
   templates reject two messages of the same role. If a server rejects the usual form, a form
   that its template accepts is used. The recorded messages do not change. */
#ifndef ROLLDBG_POLICY_LLM_HISTORY_H
#define ROLLDBG_POLICY_LLM_HISTORY_H

#include "base/buf.h"

/* Constraints of chat templates, as bits. */
enum history_form {
	HISTORY_USUAL = 0,
	/* there is no system role: its text begins the first user message */
	HISTORY_SYSTEM_AS_USER = 1,
	HISTORY_SINGLE_CALLS = 2,    /* an assistant message has at most one call */
	HISTORY_RESULTS_AS_USER = 4, /* role tool only after tool_calls, not after calls as text */
};

struct history {
	struct buf sent;  /* raw JSON values, separated by commas */
	size_t last;      /* offset of the last message */
	bool user_last;   /* it is the user's: the next one may be merged into it */
	bool called;      /* the last assistant message has tool_calls */
	unsigned forms;   /* of enum history_form */
	struct buf calls; /* SINGLE_CALLS: the message whose calls have no results yet, or empty */
	/* The first `same` bytes of `sent` are unchanged since the sender last set it to sent.n. */
	size_t same;
};

void chat_history_init(struct history *h);
void chat_history_release(struct history *h);

/* message: raw JSON. */
void chat_history_add(struct history *h, struct str message);

/* The form that the server's error message asks for. HISTORY_USUAL: none, or already in use. */
enum history_form chat_history_wanted(const struct history *h, struct str sentence);
const char *chat_history_form_name(enum history_form f); /* "system-as-user" */
/* Switches to that form in addition. messages: all so far, raw JSON values separated by commas. */
void chat_history_reform(struct history *h, enum history_form f, struct str messages);

#endif
