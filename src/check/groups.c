/* Rewards by task: see groups.h. */
#include "check/groups.h"

#include "check/open.h"
#include <stdlib.h>

#define SAMPLES 32 /* those below are told apart; the others are taken for different */

struct group {
	uint64_t hash; /* of the task's id; 0: free */
	double reward; /* of the first sample whose reward is known */
	char *task;    /* once there are two rollouts, or a size is known */
	uint32_t seen; /* samples below SAMPLES, one bit each */
	uint32_t others;
	uint32_t size; /* 0: not known */
	uint32_t lost : 30, differ : 1, carried : 1;
	uint32_t rewarded;
};

static struct group *slot(struct group *table, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);
	while (table[i].hash && table[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static void grow(struct groups *g)
{
	size_t size = g->size ? 2 * g->size : 16;
	struct group *table = mem_array(size, sizeof(*table));
	for (size_t i = 0; i < g->size; i++) {
		if (g->slots[i].hash)
			*slot(table, size, g->slots[i].hash) = g->slots[i];
	}
	free(g->slots);
	g->slots = table;
	g->size = size;
}

static int64_t count_of(const struct group *g)
{
	return __builtin_popcount(g->seen) + (int64_t)g->others;
}

/* False: that sample was here before. */
static bool take_sample(struct group *g, int64_t sample)
{
	if (sample < 0 || sample >= SAMPLES) {
		g->others++;
		return true;
	}
	uint32_t bit = (uint32_t)1 << sample;
	bool is_new = !(g->seen & bit);
	g->seen |= bit;
	return is_new;
}

static void take_reward(struct group *g, double reward)
{
	if (g->rewarded++ == 0)
		g->reward = reward;
	else if (reward != g->reward)
		g->differ = 1;
}

void groups_add(struct groups *g, const struct group_member *m)
{
	if (!m->task.p)
		return;
	if (4 * (g->count + 1) > 3 * g->size)
		grow(g);
	uint64_t hash = open_hash(m->task);
	struct group *one = slot(g->slots, g->size, hash);
	bool is_new = one->hash == 0;
	g->count += is_new;
	one->hash = hash;
	if (m->size > 0 && m->size <= UINT32_MAX)
		one->size = (uint32_t)m->size;
	if (!one->task && (!is_new || one->size))
		one->task = mem_text(m->task);
	if (m->lost)
		one->lost++;
	else if (take_sample(one, m->sample) && m->rewarded)
		take_reward(one, m->reward);
}

static bool is_done(const struct group *g, bool last)
{
	return last || g->size == 0 || count_of(g) >= (int64_t)g->size;
}

static int by_task(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	return strcmp(a->task, b->task);
}

static void say_one(const struct group *g,
                    void (*say)(void *ctx, const struct task_group *t, bool carried),
                    void *ctx)
{
	const struct task_group t = {.task = str_from(g->task),
	                             .size = g->size ? (int64_t)g->size : -1,
	                             .count = count_of(g),
	                             .lost = g->lost,
	                             .rewarded = g->rewarded,
	                             .rewards_differ = g->differ,
	                             .reward = g->reward};
	say(ctx, &t, g->carried);
}

void groups_take(struct groups *g, bool last,
                 void (*say)(void *ctx, const struct task_group *t, bool carried),
                 void *ctx)
{
	struct groups kept = {0};
	size_t done = 0;
	for (size_t i = 0; i < g->size; i++) {
		struct group one = g->slots[i];
		if (one.hash && !is_done(&one, last)) {
			if (4 * (kept.count + 1) > 3 * kept.size)
				grow(&kept);
			one.carried = 1;
			*slot(kept.slots, kept.size, one.hash) = one;
			kept.count++;
		} else if (one.task) {
			g->slots[done++] = one;
		}
	}
	if (done > 1)
		qsort(g->slots, done, sizeof(*g->slots), by_task);
	for (size_t i = 0; i < done; i++) {
		say_one(&g->slots[i], say, ctx);
		free(g->slots[i].task);
	}
	free(g->slots);
	*g = kept;
}

void groups_release(struct groups *g)
{
	for (size_t i = 0; i < g->size; i++)
		free(g->slots[i].task);
	free(g->slots);
	*g = (struct groups){0};
}
