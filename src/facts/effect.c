/* Comparison of states by their hashes: see effect.h. */
#include "facts/effect.h"

#include "base/hash.h"

const char *effect_name(enum effect e)
{
	static const char *const names[] = {"unknown", "changed", "unchanged"};

	return names[e];
}

enum effect effect_between(struct str before, struct str after)
{
	if (before.n == 0 || after.n == 0) {
		return EFFECT_UNKNOWN;
	}
	return str_eq(before, after) ? EFFECT_UNCHANGED : EFFECT_CHANGED;
}

struct str state_copy_hash(const struct state_copy *c)
{
	return (struct str){c->text, c->n};
}

static void keep(struct state_copy *copy, struct str hash)
{
	copy->n = hash.n;
	if (hash.n == HASH_HEX) { /* ours: two registers instead of "rep movs" */
		memcpy(copy->text, hash.p, HASH_HEX);
	} else if (hash.n) {
		memcpy(copy->text, hash.p, hash.n);
	}
}

static void note_variety(struct states *s, struct str now)
{
	if (s->first.n == 0) {
		keep(&s->first, now);
	} else if (!str_eq(state_copy_hash(&s->first), now)) {
		s->varied = true;
	}
}

/* After a session was replaced, the environment is a new one: its states are not compared with
   earlier ones. */
static enum effect since_last(const struct states *s)
{
	return s->replaced ? EFFECT_UNKNOWN : effect_between(state_copy_hash(&s->last), s->now);
}

enum effect states_add(struct states *s, struct str now, bool called, bool in_episode)
{
	enum effect effect;

	s->now = now.n <= STATE_HASH_MAX ? now : STR_NONE;
	s->any = s->any || s->now.n;
	if (s->now.n && in_episode) {
		note_variety(s, s->now);
	}
	effect = since_last(s);
	if (effect == EFFECT_CHANGED && !called) {
		s->changed_from = s->last;
	}
	s->replaced = false;
	keep(&s->last, s->now);
	return effect;
}

void states_session_replaced(struct states *s)
{
	s->replaced = true;
}
