/* The conversation with a model, append-only: its messages in the form of requests, and the
   messages added by each turn. */
#pragma once

#include "base/buf.h"
#include "base/hash.h"
#include "json/scan.h"

/* ---- the history in the form it is sent ---- */

/* Consecutive user messages are merged, because many chat templates reject two messages of the same
   role. If a server rejects the usual form, one that its template accepts is used. The recorded
   messages do not change. */

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
};

/* The form that the server's error message asks for. HISTORY_USUAL: none, or already in use. */
enum history_form chat_history_wanted(const struct history *h, struct str sentence);
const char *chat_history_form_name(enum history_form f); /* "system-as-user" */
/* Switches to that form in addition. messages: all so far, raw JSON values separated by commas. */
void chat_history_reform(struct history *h, enum history_form f, struct str messages);

struct conversation {
	struct buf messages;    /* raw JSON values, separated by commas */
	struct history history; /* the messages in the form they are sent */
	size_t taken;           /* bytes of `messages` already returned by conversation_added() */
	/* A hash chain over all messages: each link is the hash of the previous link and the
	   canonical message, starting with the empty text, so that an addition costs one
	   message, not the whole conversation. */
	char hash[HASH_HEX + 1];
	struct buf scratch;
};

void conversation_init(struct conversation *c);
void conversation_release(struct conversation *c);

/* {"role":role,"content":text} */
void conversation_add_text(struct conversation *c, const char *role, struct str text);
/* {"role":"tool","tool_call_id":id,"name":name,"content":text}; name absent: omitted. */
void conversation_add_result(struct conversation *c, struct str id, struct str name,
                             struct str text);
/* Adds a whole message, raw JSON. */
void conversation_add(struct conversation *c, struct str message);

/* The messages added since its last call; valid until the next addition. */
struct str conversation_added(struct conversation *c);

/* One link of the hash chain. Also used to verify a prompt rebuilt from a recording. */
void conversation_chain(struct str message, struct buf *scratch, char hash[HASH_HEX + 1]);

/* Appends a prompt, replacing {observation}, {state}, {task} and the names in vars (a raw JSON
   object): the observation as converted by tool_result_text(), strings by their text, other values by
   their JSON, absent ones by nothing. Other braces are kept. Lines with only absent values are
   dropped. */
struct prompt_values {
	struct str observation, state; /* raw JSON */
	const char *task;
	struct str vars;
};
void prompt_fill(const char *template, const struct prompt_values *v, struct buf *out);

/* Appends a tool's result as text for a model: the text of content parts, and a description in place
   of images, sounds and files, whose base64 is of no use to it. observation: raw JSON; absent or null: nothing. Long base64 strings become
   "[base64, 1234 bytes]". */
void tool_result_text(struct str observation, struct buf *out);
