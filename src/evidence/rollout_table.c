/* Open rollouts by id, and ended ids by hash: see rollout_table.h. */
#include "evidence/rollout_table.h"

#include <stdlib.h>

/* An id that ended. Two ids with the same 64-bit hash would share an instance count, which is
   only a number in a name. */
struct ended_id {
	struct map_item item;
	int64_t count;
};

void rollout_table_init(struct rollout_table *t, void (*user_release)(void *user))
{
	*t = (struct rollout_table){.open.key = offsetof(struct open_rollout, facts) +
	                                        offsetof(struct rollout_facts, id),
	                            .user_release = user_release};
}

struct open_rollout *rollout_table_find(const struct rollout_table *t, struct str id, uint64_t hash)
{
	return map_find(&t->open, hash, id);
}

struct open_rollout *rollout_table_find_hash(const struct rollout_table *t, uint64_t hash)
{
	const struct map by_hash = {.root = t->open.root};

	return map_find(&by_hash, hash, STR_NONE);
}

struct open_rollout *rollout_table_add(struct rollout_table *t, struct str id, uint64_t hash,
                                       size_t user_size)
{
	struct open_rollout *o = mem_new(sizeof(*o) + user_size);

	o->instance = rollout_table_ended(t, hash) + 1;
	o->facts.arena = &o->arena;
	o->facts.series = &o->series;
	o->reread = BUF(BUF_MAX_MESSAGE);
	o->facts.trace = &o->trace;
	o->facts.id = arena_str(&o->arena, id);
	map_add(&t->open, &o->item, hash);
	return o;
}

int64_t rollout_table_ended(const struct rollout_table *t, uint64_t hash)
{
	const struct ended_id *e = map_find(&t->ended, hash, STR_NONE);

	return e ? e->count : 0;
}

static void count_ended(struct rollout_table *t, uint64_t hash)
{
	struct ended_id *e = map_find_or_add(&t->ended, hash, &t->arena, sizeof(*e));

	e->count++;
}

static void release(const struct rollout_table *t, struct open_rollout *o)
{
	if (t->user_release)
		t->user_release(o->user);
	series_release(&o->series);
	buf_release(&o->reread);
	free(o->steps);
	arena_release(&o->arena);
	free(o);
}

void rollout_table_end(struct rollout_table *t, struct open_rollout *o)
{
	map_remove(&t->open, &o->item);
	count_ended(t, o->item.hash);
	release(t, o);
}

static int by_id(const void *left, const void *right)
{
	return str_order((*(struct open_rollout *const *)left)->facts.id,
	                 (*(struct open_rollout *const *)right)->facts.id);
}

struct open_rollout **rollout_table_list(const struct rollout_table *t)
{
	struct open_rollout **list = map_list(&t->open);

	qsort(list, t->open.count, sizeof(struct open_rollout *), by_id);
	return list;
}

void rollout_table_forget(struct rollout_table *t)
{
	t->ended = (struct map){.root = NULL};
	arena_release(&t->arena);
}

void rollout_table_release(struct rollout_table *t)
{
	struct open_rollout **list = map_list(&t->open);

	for (size_t i = 0; i < t->open.count; i++)
		release(t, list[i]);
	free(list);
	arena_release(&t->arena);
	*t = (struct rollout_table){.user_release = NULL};
}
