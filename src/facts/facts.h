/* The directory facts/: facts derived from the lines of a recording alone (and from the user's
   declarations about tools and errors), once for check, stats, report and other users, identical
   live and offline. Not here: judgments (check/), sums over rollouts (stats/), and reading lines
   (trajectory/). Each question has one file:

   facts.h          which rollout does a line belong to, and which facts does it add?
   rollout_facts.h  the types: facts of a rollout, of a line, of a step
   fold.h           the fold over the lines of one rollout; decides each step's effect
   effect.h         do two states differ?
   movement.h       which of the differences are an effect; did the environment move at all?
   member_changes.h, changing_member.h  which members of a value change, and which are volatile
   tool_replies.h, exit_codes.h, uniform_replies.h  can the replies show a change at all?
   mirrored.h, recurring_words.h  states that repeat replies; words of texts that change alone
   call.h, peer.h   what was called; text from peers, made safe to print
   env_count.h      the environment's own step count
   uncounted_calls.h, count_decreases.h  calls that it does not count; counts that fall
   known_effects.h, foreign_replies.h  calls that no longer do what they did; who replies to them
   cross_rollout.h, sharing.h  what did other rollouts do meanwhile; do they share one environment?
   reply_sequence.h do the replies of several rollouts continue each other?
   succession.h     does each rollout begin in the end state of the previous one?
   trace.h          are two rollouts with one seed alike?
   hints.h, baseline.h, tool_effects.h  facts about tools from the user or an earlier recording
   trained.h, logprobs.h  log-probabilities of the trainer, and recorded ones
   streak.h, span.h  runs of failures, ranges of steps
   echo.h, fresh_ids.h, number_pair.h, respelled.h, clocks.h  two values: do they differ in words of
                    the call, generated ids, one number, spelling, times only?
   call_changes.h, common_members.h  ignored numbers that calls change; members of two values
   fingerprint.h, rollout_table.h  hashes of values; the open rollouts */

/* Derives facts from lines: a fold over the lines of any number of interleaved rollouts. Each
   line yields its derived line, and the step before it if this line shows that step's effect.
   All commands take their counts and effects from here. Memory: one block per open rollout, 32
   bytes per finished one until the end of its file, and 48 per environment id. Not thread-safe. */
#ifndef ROLLDBG_FACTS_FACTS_H
#define ROLLDBG_FACTS_FACTS_H

#include "facts/hints.h"
#include "facts/rollout_facts.h"
#include "trajectory/reader.h"

struct facts_conf {
	struct hints hints;
	/* size of the caller's own memory per rollout, zeroed when it opens */
	size_t user_size;
	void (*user_release)(void *user); /* called before that memory is freed; may be NULL */
	/* Accept lines of a rollout that is not open, which open one without a header, and a
	   second header, which is merged with the first. Otherwise both are errors. */
	bool lenient;
};

/* What one line added to the facts. Valid until the next call on the same facts. */
struct facts_update {
	const struct rollout_facts *rollout; /* NULL if the line belongs to no open rollout */
	void *user;                          /* the caller's memory for the rollout */
	/* The newest step, if this line determines its effect, and its kinds. It was completed
	   before this line, so handle it first. */
	const struct completed_step *completed;
	unsigned completed_kinds; /* enum kind, or-ed */
	struct derived_line derived;
	unsigned kinds;                /* of the line; 0 if none */
	const struct rollout_end *end; /* set when the rollout is over, else NULL */
};

struct facts;

struct facts *facts_new(const struct facts_conf *conf); /* conf->hints must outlive the result */
void facts_free(struct facts *f);                       /* NULL is fine */

/* Processes a line from line_parse or the reader; note may be NULL (live). Returns -1 with
   FAIL_INPUT for a header before the rollout's end and for a line of a rollout that is not open.
   Lines of unknown type are added to an open rollout if they name one. A truncated line affects
   all open rollouts. */
MUST_USE int facts_line(struct facts *f, const struct line *l, const struct reader_note *note,
                        struct facts_update *out, struct error *err);

/* If the line is the header of a rollout that is still open, that rollout has no end line (it
   crashed, and another was appended): ends it and returns true. Then call facts_line with the
   same line. */
bool facts_end_unfinished(struct facts *f, const struct line *l, struct facts_update *out);

/* Does the line belong to a rollout without a header in this file? */
bool facts_is_headless(struct facts *f, const struct line *l);

/* Ends the next open rollout, in the order of their ids, without an end line. False when none is
   left. */
bool facts_end_next(struct facts *f, struct facts_update *out);

/* Starts a new file: ids may be reused. All rollouts must have ended. */
void facts_new_file(struct facts *f);

/* Numbers the current file as if `number` other files came before it. */
void facts_number_file(struct facts *f, int64_t number);

/* Would the facts of another file have been the same if it came after the files seen here? */
bool facts_can_absorb(const struct facts *f, const struct facts *other);
/* If so: adds the facts that later files need. */
void facts_absorb(struct facts *f, const struct facts *other);

size_t facts_open_count(const struct facts *f);
struct workspace *facts_workspace(struct facts *f);

#endif
