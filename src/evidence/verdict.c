/* Effects and verdict: see verdict.h. */
#include "evidence/verdict.h"

#include "evidence/limits.h"

const char *effect_name(enum effect e)
{
	switch (e) {
	case EFFECT_UNKNOWN:
		break;
	case EFFECT_CHANGED:
		return "changed";
	case EFFECT_UNCHANGED:
		return "unchanged";
	}
	return "unknown";
}

enum effect effect_between(struct str before, struct str after)
{
	return !before.n || !after.n   ? EFFECT_UNKNOWN
	       : str_eq(before, after) ? EFFECT_UNCHANGED
	                               : EFFECT_CHANGED;
}

static bool is_aside(const struct member *m)
{
	return m->explanation == MEMBER_VOLATILE || m->explanation == MEMBER_BOOKKEEPING;
}

/* The first member that the trial changed by an effect, else by a count or echo, else NULL. */
static const struct member *effect_member(const struct series *s, const struct call_trial *t)
{
	const struct member *found = NULL;

	for (size_t i = 0; i < t->count; i++) {
		const struct member *m = s->changed[t->first + i];

		if (m->explanation == MEMBER_EFFECT)
			return m;
		found = found || is_aside(m) ? found : m;
	}
	return found;
}

/* What changes by itself may have been changed by the call, too. *paced: all of it is paced. */
static bool drifted(const struct series *s, const struct call_trial *t, bool *paced)
{
	bool found = false;

	*paced = true;
	for (size_t i = 0; i < t->count; i++) {
		const struct member *m = s->changed[t->first + i];

		found = found || m->drifts;
		*paced = *paced && m->paced >= m->drifts;
	}
	return found;
}

static enum effect effect_of(const struct verdict *v, const struct series *s,
                             struct completed_step *p)
{
	bool known = p->trial >= 0 && s->trials[p->trial].known;
	const struct member *m = known ? effect_member(s, &s->trials[p->trial]) : NULL;
	bool failed = p->failed || p->expected;

	p->counted = false;
	if (!known)
		return EFFECT_UNKNOWN;
	if (m && m->explanation == MEMBER_EFFECT)
		return s->over ? EFFECT_UNKNOWN : EFFECT_CHANGED;
	if (m && !failed) {
		p->counted = true;
		return EFFECT_UNKNOWN;
	}
	if (!v->informative)
		return EFFECT_UNKNOWN;
	if (failed || v->silent || !drifted(s, &s->trials[p->trial], &p->counted)) {
		p->counted = false;
		return EFFECT_UNCHANGED;
	}
	return EFFECT_UNKNOWN;
}

static bool has_drift(const struct series *s)
{
	for (size_t i = 0; i < s->changed_count; i++)
		if (s->changed[i]->drifts)
			return true;
	return false;
}

static bool has_effect(const struct series *s)
{
	for (size_t i = 0; i < s->changed_count; i++)
		if (s->changed[i]->explanation == MEMBER_EFFECT)
			return true;
	return false;
}

static void add(struct verdict *v, const struct completed_step *p)
{
	if (p->failed || p->expected || p->idle || p->outside_episode)
		return;
	v->acting++;
	v->moved += p->effect == EFFECT_CHANGED;
	v->still += p->effect == EFFECT_UNCHANGED;
	v->counted += p->counted;
	v->unknown += p->effect == EFFECT_UNKNOWN && !p->counted;
}

const struct member *verdict_aside(const struct series *s)
{
	for (size_t i = 0; i < s->changed_count; i++) {
		if (s->changed[i]->explanation == MEMBER_COUNT ||
		    s->changed[i]->explanation == MEMBER_ECHO) {
			return s->changed[i];
		}
	}
	return NULL;
}

const struct member *verdict_counter(const struct series *s)
{
	const struct member *m = verdict_aside(s);

	for (size_t i = 0; !m && i < s->changed_count; i++)
		m = s->changed[i]->paced ? s->changed[i] : NULL;
	return m;
}

bool replies_are_one(const struct replies *r, bool uncounted)
{
	return r->count >= STILL_CALLS && !r->differ && (r->unlike || uncounted);
}

/* Nothing but time and bookkeeping moved, beside a member that could have. Noise may hide what the calls
   did, unless the replies show a member that stood still. */
static bool is_silent(const struct series *s, const struct deciding *d)
{
	return d->silent && !verdict_aside(s) && !has_effect(s) && (d->shown || !has_drift(s)) &&
	       s->any && explain_has_stable(s, d->explaining);
}

void verdict_decide(struct verdict *v, struct series *s, const struct deciding *d)
{
	explain_members(s, d->explaining);
	bool silent = is_silent(s, d);
	bool shows = d->named || s->names_calls || silent || has_effect(s);
	*v = (struct verdict){.informative = s->any && shows, .silent = silent};
	for (size_t i = 0; i < d->count; i++) {
		enum effect seemed = d->steps[i].effect;

		d->steps[i].effect = effect_of(v, s, &d->steps[i]);
		v->revised += seemed == EFFECT_CHANGED && d->steps[i].effect != EFFECT_CHANGED;
		add(v, &d->steps[i]);
	}
}
