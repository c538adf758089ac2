/* Do two states differ? Compared by hash (the state without ignored members); unknown is not
   unchanged. A step's effect is decided in fold.c (effect_shown): by this comparison; then
   movement.h removes changes that happen without a call; at the end of a rollout correct_totals
   removes those that only the whole rollout reveals as no effect. */
#ifndef ROLLDBG_FACTS_EFFECT_H
#define ROLLDBG_FACTS_EFFECT_H

#include "base/base.h"

enum effect { EFFECT_UNKNOWN, EFFECT_CHANGED, EFFECT_UNCHANGED };

const char *effect_name(enum effect e); /* "unknown", "changed", "unchanged" */

/* Compares two states by their hashes; an absent or empty hash gives unknown. */
enum effect effect_between(struct str before, struct str after);

#define STATE_HASH_MAX 128 /* longer state_hashes are not stored and count as unknown */

struct state_copy {
	char text[STATE_HASH_MAX];
	size_t n; /* 0: unknown */
};

struct str state_copy_hash(const struct state_copy *c);

/* The states of one rollout that determine effects; zeroed at its start. */
struct states {
	struct str now;         /* at the current line; absent: unknown */
	struct state_copy last; /* at the last line that can have one */
	/* the state before the last change without a call */
	struct state_copy changed_from;
	struct state_copy first; /* the first one of the episode */
	bool any;                /* some line had a state */
	bool varied;             /* two states of an episode differed, adjacent or not */
	bool replaced;           /* the session was replaced since the last line */
};

/* Compares the state of the next line with the previous one. `now` is absent if unknown, or if
   it does not follow from the previous one, as after a reset. `called`: a call was sent in
   between. `in_episode`: the state belongs to the episode. */
enum effect states_add(struct states *s, struct str now, bool called, bool in_episode);

/* The session was replaced: the next state is that of another environment. */
void states_session_replaced(struct states *s);

#endif
