/* Makes steps from a conversation, since most formats contain chat messages. An assistant message
   opens a turn, each of its calls is a step, and a message with role tool answers a call. Messages
   are passed one at a time; only the open turn is kept in memory. */
#pragma once

#include "convert/import.h"

/* Facts about a message that are not in the message itself. */
struct dialog_facts {
	struct outcome_hint hint;
	struct str reward;            /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1: unknown */
	int64_t env_steps;            /* -1: unknown */
	struct str state;             /* raw JSON, before the call */
	struct str state_after;       /* raw JSON, after the call */
	struct str name, arguments;   /* raw JSON: of the call, if no message contains it */
};
#define DIALOG_FACTS ((struct dialog_facts){.hint = {.failed = -1}, REPLY_UNKNOWN})

struct dialog_call; /* of the open turn */

/* One conversation. Zero it before dialog_open; dialog_end releases it. */
struct dialog {
	struct import_rollout rollout;
	char *id;           /* memory of the rollout id */
	struct arena arena; /* memory of the open turn */
	struct buf before;  /* messages before the first turn */
	struct str start;   /* raw JSON: the first observation, set before the first turn */
	bool started;       /* the reset was written */
	bool open, replied; /* a turn is open; one of its calls was answered */
	struct str assistant, llm, reply_id;
	struct dialog_call *calls;
	size_t count, answered;
	struct buf after;       /* messages after the answers */
	struct buf state, last; /* state of the next step; the last successful observation */
	bool terminated, truncated;
};

/* Writes the header; the id is made from h->task if there is none. */
void dialog_open(struct import *m, struct dialog *d, struct import_header *h);
/* The state before the first call; may be absent. */
void dialog_state(struct dialog *d, struct str state);
/* Adds one message, raw JSON: role and content; tool_calls, function_call; tool_call_id, name.
   Calls may have the shape of OpenAI, TRL, Inspect, ATIF or Anthropic (content blocks tool_use and
   tool_result), with arguments as an object or as text; items of OpenAI's Responses API (type
   function_call, function_call_output, message) are taken one by one: those of the model up to the
   next answer are one turn.
   facts (may be NULL) take precedence over the message's own. A value that is not an object is kept
   as a message without meaning. */
void dialog_message(struct import *m, struct dialog *d, struct str message,
                    const struct dialog_facts *facts);
/* What the model was given before its first turn: a text of the user, or messages. Answers of a model
   and of tools among them are no turns and no calls of this rollout. */
void dialog_prompt(struct import *m, struct dialog *d, struct str prompt);
/* All messages of an array. */
void dialog_messages(struct import *m, struct dialog *d, struct str messages);
/* Adds a call to the open turn, in one of these shapes, which is in no message as such. */
void dialog_call(struct import *m, struct dialog *d, struct str spelled);
/* Takes a message as the answer to a call, whatever its role. */
void dialog_answer(struct import *m, struct dialog *d, struct str message,
                   const struct dialog_facts *facts);
/* Adds a step that is in no message: the facts name its call, and content is the answer. Without a
   name, a turn without a call. */
void dialog_step(struct import *m, struct dialog *d, struct str content,
                 const struct dialog_facts *facts);
/* True if a call of the open turn has no answer yet. */
bool dialog_waits(const struct dialog *d);
/* Writes the open turn. */
void dialog_flush(struct import *m, struct dialog *d);
/* Writes the open turn and the end, and releases the memory. If e->state is absent, the state after
   the last call is used. The source's status is used if it has one, otherwise that of the last
   flags. */
void dialog_end(struct import *m, struct dialog *d, const struct import_end *e);
void dialog_release(struct dialog *d); /* writes nothing */

/* ---- conversations that are open at once, where a value has only a part of one ---- */

struct open_dialog {
	struct map_item item;
	struct open_dialog *next;
	struct dialog dialog; /* without an id: not begun, or ended */
	struct buf last;      /* for the format; at the end, the reason */
	int64_t step;         /* for the format */
	size_t messages;
};

/* The one with this key among those of the file, in m->own; makes one. NULL: there are too many. */
struct open_dialog *dialogs_find(struct import *m, uint64_t key, struct error *err);
/* Ends all, in the order of their first values. For struct format.finish and take_list_end. */
MUST_USE int dialogs_finish(struct import *m, struct error *err);
