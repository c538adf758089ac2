/* The export of recordings to formats of other programs, rollout by rollout: what a format's `write`
   is given, and what was lost. */
#ifndef ROLLDBG_CONVERT_EXPORT_H
#define ROLLDBG_CONVERT_EXPORT_H

#include "base/mem.h"
#include "convert/convert.h"
#include "json/write.h"

/* One rollout in memory. Lines that are not there have no text. */
struct export
{
	const struct format *format;
	struct buf *out; /* the format's text is appended here */
	size_t index;    /* of the rollout, from 0 */
	struct str id;   /* decoded */
	struct line header, reset, end;
	struct line *steps;
	size_t count, room;
	size_t bytes; /* of all lines */
	struct arena arena;
	uint64_t lost[KEY_COUNT]; /* lines that had a fact for which the format has no place */
	uint64_t lost_events;
};

/* Adds a line of the rollout; FAIL_INPUT if it is too long to be kept. */
MUST_USE int export_add(struct export *x, const struct line *l, struct error *err);
/* Appends the rollout in its format and forgets its lines. */
MUST_USE int export_rollout(struct export *x, struct buf *out, struct error *err);
void export_release(struct export *x);
/* Appends a sentence for each kind of fact that was lost, with a line feed. */
void export_describe_losses(const struct export *x, struct buf *out);

/* ---- for formats ---- */

enum {                        /* how messages are spelled */
       MESSAGES_OBJECTS = 1,  /* arguments of calls as objects; otherwise as JSON text */
       MESSAGES_METADATA = 2, /* reward and terminated with each answer, as eval-protocol does */
};

/* Appends messages, comma-separated, with a comma in front where out->n is above `start`: those in
   front of the first turn, and those of the turn that begins at step i. Where none were recorded,
   for a program acted, they are made of observations and calls. Returns the step behind the
   turn. */
void export_prompt(const struct export *x, unsigned how, size_t start, struct buf *out);
size_t export_turn(struct export *x, size_t i, unsigned how, size_t start, struct buf *out);

/* The whole conversation as a JSON array; FAIL_INPUT if it is longer than a line may be. */
MUST_USE int export_conversation(struct export *x, unsigned how, struct buf *out,
                                 struct error *err);
/* A line with the whole conversation as messages, and tools. */
MUST_USE int export_messages_and_tools(struct export *x, unsigned how, struct error *err);
/* The tools as OpenAI lists them. */
void export_tools(const struct export *x, struct json_writer *j);
/* The members "task" and "sample", for import_own_id. */
void export_own_id(const struct export *x, struct json_writer *j);
/* The text of a value: of a string its own. */
void export_text(struct json_writer *j, struct str value);
/* The step at which the turn of step i ends. */
size_t export_turn_end(const struct export *x, size_t i);
bool export_is_failed(const struct line *step);

#endif
