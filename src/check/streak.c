/* Runs of failed steps: see streak.h. */
#include "check/streak.h"

bool streak_add(struct streak *now, const struct completed_step *p, struct streak *ended)
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

const char *streak_state(int64_t unchanged)
{
	return unchanged > 0 ? "the state did not change during them"
	                     : "the state during them is unknown";
}
