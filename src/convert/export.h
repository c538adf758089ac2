/* Exports recordings to formats of other programs, rollout by rollout: the input of a format's
   `write`, and the facts that were lost. */
#pragma once

#include "base/mem.h"
#include "convert/convert.h"
#include "json/write.h"
#include "recording/rollout_copy.h"

/* One rollout in memory; the caller releases r. */
struct export
{
	const struct format *format;
	struct buf *out;          /* the format's text is appended here */
	size_t index;             /* of the rollout, from 0 */
	struct rollout_copy r;    /* also owns what the functions below make */
	size_t bytes;             /* of all lines */
	uint64_t lost[KEY_COUNT]; /* per key: lines with a fact that the format cannot hold */
	uint64_t lost_events;
};

/* Adds a line of the rollout; FAIL_INPUT if it is too long to keep. */
MUST_USE int export_add(struct export *x, const struct line *l, struct error *err);
/* Appends the rollout in its format and clears its lines. */
MUST_USE int export_rollout(struct export *x, struct buf *out, struct error *err);
/* Warns once for each kind of fact that was lost. */
void export_warn_of_losses(const struct export *x);

/* ---- for formats ---- */

/* Form of messages, as bits. */
enum {
	MESSAGES_OBJECTS = 1, /* arguments of calls as objects, rather than as JSON text */
	MESSAGES_INSPECT =
		4 | MESSAGES_OBJECTS, /* calls as in Inspect; every message has a content */
	MESSAGES_METADATA = 2, /* reward and terminated with each answer, as in eval-protocol */
};

/* Append messages, comma-separated, with a leading comma if out->n is above `start`: export_prompt
   those before the first turn, export_turn those of the turn that begins at step i. If no messages
   were recorded, because a program acted, they are made from calls and observations. export_turn
   returns the first step after the turn. */
void export_prompt(struct export *x, unsigned how, size_t start, struct buf *out);
size_t export_turn(struct export *x, size_t i, unsigned how, size_t start, struct buf *out);

/* Appends the whole conversation as a JSON array; FAIL_INPUT if it exceeds the maximum length of a
   line. */
MUST_USE int export_conversation(struct export *x, unsigned how, struct buf *out,
                                 struct error *err);
/* Of formats of maps.def: a line with the whole conversation as messages, and tools; scout.c. */
extern const struct format_writer writer_openai, writer_trl, writer_scout;
/* The tools in OpenAI's form, raw JSON; absent: not recorded. */
struct str export_tools(struct export *x);
/* A value as a JSON string: a string itself, any other value its JSON text. */
struct str export_text(struct export *x, struct str value);
struct str export_known(struct str value); /* absent if it is null */
/* The first step after the turn of step i. */
size_t export_turn_end(const struct export *x, size_t i);
bool export_is_failed(const struct line *step);
