/* From a conversation to steps: most formats hold chat messages. A message of the assistant opens
   a turn, each of its calls is a step, a message of role tool answers one. Messages come one by
   one; only the open turn is kept. */
#ifndef ROLLDBG_CONVERT_DIALOG_H
#define ROLLDBG_CONVERT_DIALOG_H

#include "convert/import.h"
#include "convert/outcome.h"

/* What a format knows of a message beside what stands in it. */
struct dialog_facts {
	struct outcome_hint hint;
	struct str reward;            /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1: unknown */
	int64_t env_steps;            /* -1: unknown */
	struct str state;             /* raw JSON, before the call */
	struct str state_after;       /* raw JSON, after it */
	struct str name, arguments;   /* raw JSON: of the call, where no message has it */
};
#define DIALOG_FACTS                                                                               \
	((struct dialog_facts){                                                                    \
		.hint = {.failed = -1}, .terminated = -1, .truncated = -1, .env_steps = -1})

struct dialog_call; /* of the open turn */

/* One conversation. Zeroed before dialog_begin; over after dialog_end. */
struct dialog {
	struct import_rollout rollout;
	char *id;           /* its text */
	struct arena arena; /* of the open turn */
	struct buf before;  /* messages in front of the first turn */
	struct str start;   /* raw JSON: the first observation, set before the first turn */
	bool started;       /* the reset is written */
	bool open;          /* there is an open turn */
	struct str assistant, llm;
	struct dialog_call *calls;
	size_t count, room, answered;
	struct buf after;       /* messages behind the answers */
	struct buf state, last; /* of the next step; the last good observation */
	bool terminated, truncated;
};

/* Writes the header. The id is copied. */
void dialog_begin(struct import *m, struct dialog *d, struct str id, const struct import_header *h);
/* The state before the first call; may be absent. */
void dialog_state(struct dialog *d, struct str state);
/* One message, raw JSON: role and content; tool_calls, function_call; tool_call_id, name. Calls
   may be spelled as by OpenAI, TRL, Inspect or ATIF, with arguments as an object or as text.
   Facts (may be NULL) go before what the message itself says. Values that are no objects are
   kept as messages and mean nothing. */
void dialog_message(struct import *m, struct dialog *d, struct str message,
                    const struct dialog_facts *facts);
/* All messages of an array. */
void dialog_messages(struct import *m, struct dialog *d, struct str messages);
/* A conversation that is there as a whole: header, messages, end. The id is made of h->task. */
void dialog_whole(struct import *m, struct import_header *h, struct str messages,
                  const struct import_end *e);
/* Header alone, for dialog_message to follow: the same id. */
void dialog_open(struct import *m, struct dialog *d, struct import_header *h);
/* Writes the open turn and the end; releases the memory. e->state absent: that after the last
   call. The status of the source counts; else that of the last flags. */
void dialog_end(struct import *m, struct dialog *d, const struct import_end *e);
void dialog_release(struct dialog *d); /* without writing */

#endif
