/* Did the environment move? Judged from the states and the observations of one rollout together.
   Two distinctions are made: an effect of a call from a volatile change, and a state that does
   not change from one that does not show what the calls change. */
#ifndef ROLLDBG_FACTS_MOVEMENT_H
#define ROLLDBG_FACTS_MOVEMENT_H

#include "facts/effect.h"
#include "facts/exit_codes.h"
#include "facts/member_changes.h"
#include "facts/tool_replies.h"
#include "facts/uniform_replies.h"
#include "facts/unnamed_values.h"
#include "trajectory/line.h"

/* Over a whole episode. */
enum movement {
	MOVEMENT_UNKNOWN, /* the recording does not show whether it moved */
	MOVEMENT_SEEN,    /* the state changed, and not only in volatile members */
	MOVEMENT_NONE,    /* a change would have been visible, but there was none */
	/* the state never changes although observations do: it does not show what calls
	   change */
	MOVEMENT_UNSHOWN,
	/* calls change a number that is ignored because it also changes without calls */
	MOVEMENT_IGNORED,
};

#define MOVEMENT_ANSWERS_MAX 16 /* number of different calls whose replies are kept */

/* The newest reply to one call. */
struct call_answer {
	uint64_t call;
	struct buf value;
};

/* The data of one rollout; zeroed except for the arena. */
struct movement_facts {
	struct arena *arena;
	struct member_changes states;       /* from line to line */
	struct member_changes observations; /* from one reply to the next */
	/* from one reply to the next reply to the same call */
	struct member_changes repeats;
	/* they differed in arrays, mixed types or untracked members */
	bool texts_differ, repeats_differ;
	struct buf state;       /* at the newest line; empty: unknown */
	struct buf observation; /* of the newest step that was answered ok */
	/* read once more after the state at the end line; empty: it was not */
	struct buf closing;
	uint64_t fingerprint; /* of an observation too long to be stored; else 0 */
	struct call_answer *answers;
	size_t answer_count;
	struct tool_replies tools;
	struct exit_codes exit_codes;
	struct uniform_replies uniform;
	int64_t answered; /* steps answered ok */
	int64_t repeated; /* of these: with the same call as an earlier step */
	/* The observations of failed steps with the keys of the first one: hashes of these, and of
	   the lengths of lists and the flags, and whether those differed. */
	uint64_t refusal_keys, refusal_form;
	bool refusals_differ;
	bool all_ignored; /* the state as a whole: only its values may tell something */
	struct unnamed_values values;
	bool seen;   /* an effect is certain: observations are no longer compared */
	bool shared; /* state and observation share a member with the same value */
	/* the state is about what calls act on: it consists of digests, or it has a member named
	   by a call's argument */
	bool about_calls;
	bool telling;                   /* an observation contained more than an acknowledgment */
	int64_t mirrored, not_mirrored; /* states that equaled the previous observation or not */
	/* states with another value for a member than the preceding reply */
	int64_t contradicted;
	int64_t pairs, later_changes; /* pairs of known states; those after the first that differ */
	bool first_changed;
	uint64_t call;                            /* the newest call */
	struct buf arguments, previous_arguments; /* of the newest call and the one before */
	bool answered_ok;                         /* the newest call was answered ok */
	int64_t sent_ms, answered_ms;             /* times of the newest call; -1: unknown */
	int64_t previous_sent_ms, previous_answered_ms;
};

void movement_release(struct movement_facts *m);

/* Sets the ignored members: the header's state_source.ignore, raw. */
void movement_ignore(struct movement_facts *m, struct str pointers);

/* Sets by how much ignored numbers changed without a call: the header's meta.volatile, raw. After
   movement_ignore(). */
void movement_volatile(struct movement_facts *m, struct str readings);

/* A reset, with its observation, begins another episode. */
void movement_reset(struct movement_facts *m, struct str observation);

/* Adds a state that is ignored as a whole, before movement_effect(). */
void movement_ignored_state(struct movement_facts *m, struct str state);

/* Adds the closing read of the state, which comes before the end line. */
void movement_closing_read(struct movement_facts *m, struct str state);

/* A call: `id` distinguishes calls; `counts`: it is in the episode and its tool is not read-only. */
struct movement_call {
	uint64_t id;
	struct str tool, arguments;
	bool counts;
};

/* Adds a step whose call was sent, after the state before it. */
void movement_step(struct movement_facts *m, const struct line *l, const struct movement_call *call,
                   struct buf *scratch);

/* Adds the state at a line (absent if unknown) and the effect since the previous line according
   to its hash. Returns that effect, or EFFECT_UNCHANGED if only volatile members changed.
   `called`: a call was sent in between; if not, `alone`: no other rollout sent a call either.
   `in_episode`: as in member_changes_count(). */
enum effect movement_effect(struct movement_facts *m, const struct line *l, struct str state,
                            enum effect effect, bool called, bool alone, bool in_episode);

/* Of the steps reported as changing the state, those that later proved not to. */
struct change_set movement_correction(const struct movement_facts *m, bool from_observations);

/* Other facts of the episode. */
struct movement_context {
	int64_t calls;              /* calls of tools that are not read-only */
	int64_t failed;             /* of these calls */
	int64_t changed, unchanged; /* steps, corrected */
	bool from_observations;     /* the state is the observation */
	bool counts;                /* the environment reported its own step count at least twice */
	bool count_moved;           /* that count changed */
};

/* Did replies to calls differ in more than clocks, ids, call counters and the like? */
bool movement_replies_differ(const struct movement_facts *m, bool count_moved);

enum movement movement_verdict(const struct movement_facts *m, const struct movement_context *c);

#endif
