/* A run of failed steps, as used by the rules about failures: consecutive but for answered ones of
   read-only tools, within the episode, ended by another step that is answered ok or changes the state. */
#pragma once

#include "evidence/limits.h"
#include "evidence/rollout_facts.h"

#define STREAK_LONG FAILED_RUN

struct streak {
	struct span span;  /* count: failed steps without a visible change */
	int64_t unchanged; /* those after which the state is known to be unchanged */
	const char *error; /* of the first failure; valid as long as the rollout */
	bool read;         /* there were steps of read-only tools, too */
};

/* Adds a step. True if a streak of at least STREAK_LONG just ended: *ended is that streak. */
static inline bool streak_add(struct streak *now, const struct completed_step *p,
                              struct streak *ended)
{
	if (p->outside_episode || (!p->failed && now->span.count == 0))
		return false;
	if (p->idle && !p->failed && p->effect != EFFECT_CHANGED) {
		now->read = true;
		return false;
	}
	if (p->failed && p->effect != EFFECT_CHANGED) {
		if (now->span.count == 0)
			now->error = p->error;
		span_add(&now->span, p->turn, p->step);
		now->unchanged += p->effect == EFFECT_UNCHANGED;
		return false;
	}
	bool was_long = now->span.count >= STREAK_LONG;
	if (was_long)
		*ended = *now;
	*now = (struct streak){0};
	return was_long;
}

/* For messages: whether the state changed during the streak's steps. */
static inline const char *streak_state(int64_t unchanged)
{
	return unchanged > 0 ? "the state did not change during them"
	                     : "the state during them is unknown";
}
