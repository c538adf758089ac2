/* Relations between rollouts: see sharing.h. */
#include "evidence/sharing.h"

#include <stdlib.h>

/* In how many controls of the file, in which others acted, a member changed. */
struct shared_pointer {
	struct map_item item;
	int64_t count;
};

/* The rollout that used an id first. */
struct id_owner {
	struct map_item item;
	uint64_t rollout, mark;
	bool contested; /* the id was also claimed with another mark */
};

void sharing_release(struct sharing *s)
{
	arena_release(&s->arena);
	*s = (struct sharing){.open = NULL};
}

void sharing_forget(struct sharing *s)
{
	s->begun = s->caller = s->called = s->other_called = s->started = 0;
	s->broken = false;
	s->shared = (struct map){.root = NULL};
	s->busy = s->shown = 0;
}

bool sharing_can_absorb(const struct sharing *s, const struct sharing *other)
{
	struct id_owner **list = map_list(&other->owners);
	bool can = true;

	for (size_t i = 0; can && i < other->owners.count; i++) {
		const struct id_owner *mine = map_find(&s->owners, list[i]->item.hash, STR_NONE);

		can = !mine || (mine->mark == list[i]->mark && !list[i]->contested);
	}
	free(list);
	return can;
}

void sharing_each(const struct sharing *s, void (*take)(void *ctx, const int64_t number[4]),
                  void *ctx)
{
	struct id_owner **list = map_list(&s->owners);

	for (size_t i = 0; i < s->owners.count; i++) {
		const int64_t number[4] = {(int64_t)list[i]->item.hash, (int64_t)list[i]->rollout,
		                           (int64_t)list[i]->mark, list[i]->contested};

		take(ctx, number);
	}
	free(list);
}

void sharing_claimed(struct sharing *s, const int64_t number[4])
{
	struct id_owner *o;

	if (map_find(&s->owners, (uint64_t)number[0], STR_NONE))
		return;
	o = arena_new(&s->arena, sizeof(*o));
	o->rollout = (uint64_t)number[1];
	o->mark = (uint64_t)number[2];
	o->contested = number[3] != 0;
	map_add(&s->owners, &o->item, (uint64_t)number[0]);
}

static void claim_again(void *ctx, const int64_t number[4])
{
	sharing_claimed(ctx, number);
}

void sharing_absorb(struct sharing *s, const struct sharing *other)
{
	sharing_each(other, claim_again, s);
}

bool sharing_claim(struct sharing *s, char kind, struct str id, uint64_t mark, struct str *owner)
{
	uint64_t hash = map_hash_with(map_hash(id), (unsigned char)kind);
	struct id_owner *taken = map_find(&s->owners, hash, STR_NONE);

	*owner = STR_NONE;
	if (!taken) {
		taken = arena_new(&s->arena, sizeof(*taken));
		taken->rollout = s->current->item.hash;
		taken->mark = mark;
		map_add(&s->owners, &taken->item, hash);
		return false;
	}
	if (taken->mark == mark)
		return false;
	taken->contested = true;
	const struct open_rollout *o = rollout_table_find_hash(s->open, taken->rollout);
	if (o && o != s->current)
		*owner = o->facts.id;
	return true;
}

void sharing_called(struct sharing *s, const struct open_rollout *o)
{
	if (s->caller != o->number)
		s->other_called = s->called;
	s->caller = o->number;
	s->called = s->clock;
}

bool sharing_others_called(const struct sharing *s)
{
	int64_t others = s->caller == s->current->number ? s->other_called : s->called;

	return others > s->current->last_line;
}

static bool began_in(const struct sharing *s, uint64_t state)
{
	for (int64_t i = 0; i < s->started; i++)
		if (s->starts[i] == state)
			return true;
	return false;
}

int64_t sharing_begin(struct sharing *s, uint64_t state, bool alone)
{
	bool enough = s->started == CONTINUED_ROLLOUTS;

	s->broken =
		s->broken || !alone || (s->started > 0 && state != s->end) || began_in(s, state);
	if (!s->broken && !enough)
		s->starts[s->started++] = state;
	return s->broken ? 0 : s->started;
}

void sharing_end(struct sharing *s, uint64_t state)
{
	s->end = state;
}

static bool is_effect(const struct member *m)
{
	return m->explanation == MEMBER_EFFECT && m->controls == 0;
}

/* Is it below a list that others lengthened? Its entries move: they tell nothing on their own. */
static bool is_in_shared_list(const struct series *s, struct str pointer)
{
	while (pointer.n) {
		while (pointer.p[--pointer.n] != '/')
			continue;
		const uint64_t hash = map_hash_with(map_hash(pointer), true);
		const struct member *list = map_find(&s->members, hash, STR_NONE);
		if (list && list->shared > 0)
			return true;
	}
	return false;
}

/* The first member, by its pointer, that this rollout's calls change and that also changed while others
   acted. NULL: none, or one that its calls changed again and again never did. */
static const struct member *moved_by_others(const struct series *s)
{
	struct member **list = map_list(&s->members);
	const struct member *found = NULL;
	bool own = false;

	for (size_t i = 0; i < s->members.count; i++) {
		const struct member *m = list[i];

		own = own || (is_effect(m) && m->trials >= SHARED_CONTROLS && m->shared == 0 &&
		              !is_in_shared_list(s, m->pointer));
		if (is_effect(m) && m->trials > 0 && m->shared > 0 &&
		    (!found || str_order(m->pointer, found->pointer) < 0)) {
			found = m;
		}
	}
	free(list);
	return own ? NULL : found;
}

const struct member *sharing_add(struct sharing *s, const struct series *x)
{
	const struct member *m = x->busy ? moved_by_others(x) : NULL;

	s->busy += x->busy;
	if (!m)
		return NULL;
	struct shared_pointer *p =
		map_find_or_add(&s->shared, map_hash(m->pointer), &s->arena, sizeof(*p));
	p->count += m->shared;
	s->shown = p->count;
	return p->count >= SHARED_CONTROLS && 2 * p->count >= s->busy ? m : NULL;
}
