/* The directory evidence/: what the lines of a recording mean, derived from them alone (and from the
   user's declarations about tools, members and errors): once for check, stats, report and others,
   the same live and offline. Not here: judgments (check/), sums over rollouts (stats/), and reading
   lines. Each question has one file:

   evidence.h       which rollout does a line belong to, and which facts does it add?
   rollout_facts.h  the types: facts of a rollout, of a line, of a step
   fold.h           the fold over the lines of one rollout
   series.h         which members of the state did each call change?
   explain.h        volatile, bookkeeping, count, echo or effect?
   verdict.h        the effect of each step, and what they come to
   effects.h, effects_read.h  the same for a whole file, for those who print it
   limits.h         every constant that decides a verdict
   sharing.h        do rollouts share one environment?
   trace.h          are two rollouts with one seed alike?
   call.h, peer.h   what was called; text from peers, made safe to print
   hints.h, baseline.h  facts about tools from the user or an earlier recording
   clocks.h, rollout_table.h  points in time; the open rollouts */

/* Derives facts from lines: a fold over the lines of any number of interleaved rollouts. Each
   line yields its derived line; the last one of a rollout yields the final effects of its steps.
   All commands take their counts and effects from here. Memory: one block per open rollout and 80
   bytes per step of it, 32 bytes per finished one until the end of its file, and 48 per environment
   id. Not thread-safe. */
#pragma once

#include "evidence/effects.h"
#include "evidence/hints.h"
#include "evidence/rollout_facts.h"
#include "recording/reader.h"

struct evidence_conf {
	struct hints hints;
	/* size of the caller's own memory per rollout, zeroed when it opens */
	size_t user_size;
	void (*user_release)(void *user); /* called before that memory is freed; may be NULL */
	/* Accept lines of a rollout that is not open, which open one without a header, and a
	   second header, which is merged with the first. Otherwise both are errors. */
	bool lenient;
	/* The final effects of the file's steps, for a second pass over it; NULL: they are only
	   known when a rollout is over. */
	const struct effects *effects;
};

/* What one line added to the facts. Valid until the next call on the same facts. */
struct evidence_update {
	const struct rollout_facts *rollout; /* NULL if the line belongs to no open rollout */
	void *user;                          /* the caller's memory for the rollout */
	/* The newest step, if this line shows what it changed. Its effect is provisional, unless
	   conf.effects are given. */
	const struct completed_step *completed;
	struct derived_line derived;
	unsigned kinds;                /* of the line; 0 if none */
	const struct rollout_end *end; /* set when the rollout is over, else NULL */
};

struct evidence;

struct evidence *
evidence_new(const struct evidence_conf *conf); /* conf->hints must outlive the result */
void evidence_free(struct evidence *f);         /* NULL is fine */

/* Processes a line from line_parse or the reader; note may be NULL (live). Returns -1 with
   FAIL_INPUT for a header before the rollout's end and for a line of a rollout that is not open.
   Lines of unknown type are added to an open rollout if they name one. A truncated line affects
   all open rollouts. */
MUST_USE int evidence_line(struct evidence *f, const struct line *l, const struct reader_note *note,
                           struct evidence_update *out, struct error *err);

/* If the line is the header of a rollout that is still open, that rollout has no end line (it
   crashed, and another was appended): ends it and returns true. Then call evidence_line with the
   same line. */
bool evidence_end_unfinished(struct evidence *f, const struct line *l, struct evidence_update *out);

/* Does the line belong to a rollout without a header in this file? */
bool evidence_is_headless(struct evidence *f, const struct line *l);

/* Ends the next open rollout, in the order of their ids, without an end line. False when none is
   left. */
bool evidence_end_next(struct evidence *f, struct evidence_update *out);

/* Starts a new file: ids may be reused. All rollouts must have ended. */
void evidence_new_file(struct evidence *f);

/* Numbers the current file as if `number` other files came before it. */
void evidence_number_file(struct evidence *f, int64_t number);

/* Its sharing of environments: what later files need of it. */
struct sharing *evidence_sharing(struct evidence *f);

size_t evidence_open_count(const struct evidence *f);
struct workspace *evidence_workspace(struct evidence *f);
