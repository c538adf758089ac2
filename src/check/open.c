/* Two hash tables: open rollouts chained by id, ended ids by their hash alone. */
#include "check/open.h"

#include "json/canon.h"

#include <stdlib.h>

/* An id that ended: 16 bytes in a table at most three quarters full. Two ids with one
   64-bit hash would share their count of instances, which is only a number behind
   a name. */
struct ended {
	uint64_t hash; /* 0: free */
	int64_t count;
};

/* FNV-1a, 64 bits, with a last mix because buckets are taken from the low bits. */
uint64_t open_hash(struct str id)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < id.n; i++)
		h = (h ^ (unsigned char)id.p[i]) * 0x100000001b3u;
	h ^= h >> 32;
	return h ? h : 1;
}

struct open_rollout *open_find(const struct open_table *t, struct str id, uint64_t hash)
{
	if (t->size == 0)
		return NULL;
	for (struct open_rollout *o = t->buckets[hash & (t->size - 1)]; o; o = o->next) {
		if (o->hash == hash && str_eq(o->facts.id, id))
			return o;
	}
	return NULL;
}

struct open_rollout *open_find_hash(const struct open_table *t, uint64_t hash)
{
	struct open_rollout *o = t->size ? t->buckets[hash & (t->size - 1)] : NULL;
	while (o && o->hash != hash)
		o = o->next;
	return o;
}

static void grow(struct open_table *t)
{
	size_t size = t->size ? 2 * t->size : 16;
	struct open_rollout **buckets = mem_array(size, sizeof(struct open_rollout *));
	for (size_t i = 0; i < t->size; i++) {
		for (struct open_rollout *o = t->buckets[i], *next; o; o = next) {
			next = o->next;
			o->next = buckets[o->hash & (size - 1)];
			buckets[o->hash & (size - 1)] = o;
		}
	}
	free(t->buckets);
	t->buckets = buckets;
	t->size = size;
}

struct open_rollout *open_add(struct open_table *t, struct str id, uint64_t hash,
                              size_t states)
{
	if (t->count == t->size)
		grow(t);
	struct open_rollout *o = mem_new(sizeof(*o) + states);
	o->hash = hash;
	o->instance = open_ended(t, hash) + 1;
	o->env_steps = -1;
	o->facts.arena = &o->arena;
	o->facts.id = arena_str(&o->arena, id);
	o->next = t->buckets[hash & (t->size - 1)];
	t->buckets[hash & (t->size - 1)] = o;
	t->count++;
	return o;
}

static struct ended *ended_slot(struct ended *table, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);
	while (table[i].hash && table[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static void grow_ended(struct open_table *t)
{
	size_t size = t->ended_size ? 2 * t->ended_size : 16;
	struct ended *table = mem_array(size, sizeof(*table));
	for (size_t i = 0; i < t->ended_size; i++) {
		if (t->ended[i].hash)
			*ended_slot(table, size, t->ended[i].hash) = t->ended[i];
	}
	free(t->ended);
	t->ended = table;
	t->ended_size = size;
}

int64_t open_ended(const struct open_table *t, uint64_t hash)
{
	return t->ended_size ? ended_slot(t->ended, t->ended_size, hash)->count : 0;
}

static void remember(struct open_table *t, uint64_t hash)
{
	if (4 * (t->ended_count + 1) > 3 * t->ended_size)
		grow_ended(t);
	struct ended *e = ended_slot(t->ended, t->ended_size, hash);
	t->ended_count += e->hash == 0;
	e->hash = hash;
	e->count++;
}

static void release(struct open_rollout *o)
{
	findings_release(&o->findings);
	json_paths_free(o->ignored);
	arena_release(&o->arena);
	free(o);
}

void open_end(struct open_table *t, struct open_rollout *o)
{
	struct open_rollout **at = &t->buckets[o->hash & (t->size - 1)];
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	t->count--;
	remember(t, o->hash);
	release(o);
}

static int by_id(const void *left, const void *right)
{
	struct str a = (*(struct open_rollout *const *)left)->facts.id;
	struct str b = (*(struct open_rollout *const *)right)->facts.id;
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;
	return order ? order : (a.n > b.n) - (a.n < b.n);
}

struct open_rollout **open_list(const struct open_table *t)
{
	if (t->count == 0)
		return NULL;
	struct open_rollout **list = mem_array(t->count, sizeof(struct open_rollout *));
	size_t n = 0;
	for (size_t i = 0; i < t->size; i++) {
		for (struct open_rollout *o = t->buckets[i]; o; o = o->next)
			list[n++] = o;
	}
	qsort(list, n, sizeof(struct open_rollout *), by_id);
	return list;
}

void open_forget(struct open_table *t)
{
	free(t->ended);
	t->ended = NULL;
	t->ended_size = t->ended_count = 0;
}

void open_release(struct open_table *t)
{
	for (size_t i = 0; i < t->size; i++) {
		for (struct open_rollout *o = t->buckets[i], *next; o; o = next) {
			next = o->next;
			release(o);
		}
	}
	free(t->buckets);
	open_forget(t);
	*t = (struct open_table){0};
}
