/* Rewards by task: see groups.h. */
#include "check/groups.h"

#include "base/mem.h"
#include <stdlib.h>

#define SAMPLES 32 /* samples below are told apart; the others are counted as distinct */

struct group {
	struct map_item item;
	double reward; /* of the first sample whose reward is known */
	char *task;    /* known once there are two rollouts, or a size */
	uint32_t seen; /* samples below SAMPLES, one bit each */
	uint32_t others;
	uint32_t size; /* 0: not known */
	uint32_t lost : 30, differ : 1, carried : 1;
	uint32_t rewarded;
	struct seeded *seeded; /* NULL: none yet */
};

/* Samples with the seed of the first one that had a trace. */
struct seeded {
	int64_t seed;
	struct trace first;
	int64_t count, differ; /* the others; those that began differently */
	size_t calls;          /* calls after which the first of these differed */
};

static int64_t count_of(const struct group *g)
{
	return __builtin_popcount(g->seen) + (int64_t)g->others;
}

/* Returns false if that sample was counted before. */
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
	if (g->rewarded++ == 0) {
		g->reward = reward;
	} else if (reward != g->reward) {
		g->differ = 1;
	}
}

static void take_trace(struct group *g, const struct trace *t, int64_t seed)
{
	struct seeded *s = g->seeded;
	size_t calls;

	if (!s) {
		s = g->seeded = mem_new(sizeof(*s));
		s->seed = seed;
		s->first = *t;
		return;
	}
	if (s->seed != seed) {
		return;
	}
	s->count++;
	if (trace_compare(&s->first, t, &calls) != TRACE_ALIKE && s->differ++ == 0) {
		s->calls = calls;
	}
}

void groups_add(struct groups *g, const struct group_member *m)
{
	if (!m->task.p) {
		return;
	}
	uint64_t hash = map_hash(m->task);
	struct group *one = map_find(&g->by_task, hash, STR_NONE);
	bool is_new = !one;
	if (is_new) {
		one = mem_new(sizeof(*one));
		map_add(&g->by_task, &one->item, hash);
	}
	if (m->size > 0 && m->size <= UINT32_MAX) {
		one->size = (uint32_t)m->size;
	}
	if (!one->task && (!is_new || one->size)) {
		one->task = mem_text(m->task);
	}
	if (m->lost) {
		one->lost++;
		return;
	}
	if (!take_sample(one, m->sample)) {
		return;
	}
	if (m->rewarded) {
		take_reward(one, m->reward);
	}
	if (m->trace) {
		take_trace(one, m->trace, m->seed);
	}
}

static bool is_done(const struct group *g, bool last)
{
	return last || g->size == 0 || count_of(g) >= (int64_t)g->size;
}

static int by_task(const void *left, const void *right)
{
	const struct group *const *a = left, *const *b = right;

	return strcmp((*a)->task, (*b)->task);
}

static void say_one(const struct group *g,
                    void (*say)(void *ctx, const struct task_group *t, bool carried), void *ctx)
{
	const struct task_group t = {.task = str_from(g->task),
	                             .size = g->size ? (int64_t)g->size : -1,
	                             .count = count_of(g),
	                             .lost = g->lost,
	                             .rewarded = g->rewarded,
	                             .rewards_differ = g->differ,
	                             .reward = g->reward,
	                             .seed = g->seeded ? g->seeded->seed : 0,
	                             .seeded = g->seeded ? g->seeded->count + 1 : 0,
	                             .seed_differ = g->seeded ? g->seeded->differ : 0,
	                             .seed_calls = g->seeded ? (int64_t)g->seeded->calls : 0};

	say(ctx, &t, g->carried);
}

static void group_free(struct group *g)
{
	free(g->task);
	free(g->seeded);
	free(g);
}

void groups_take(struct groups *g, bool last,
                 void (*say)(void *ctx, const struct task_group *t, bool carried), void *ctx)
{
	struct group **all = map_list(&g->by_task);
	size_t count = g->by_task.count, done = 0;

	g->by_task = (struct map){.root = NULL};
	for (size_t i = 0; i < count; i++) {
		if (!is_done(all[i], last)) {
			all[i]->carried = 1;
			map_add(&g->by_task, &all[i]->item, all[i]->item.hash);
		} else if (all[i]->task) {
			all[done++] = all[i];
		} else {
			group_free(all[i]);
		}
	}
	if (done > 1) {
		qsort(all, done, sizeof(struct group *), by_task);
	}
	for (size_t i = 0; i < done; i++) {
		say_one(all[i], say, ctx);
		group_free(all[i]);
	}
	free(all);
}

void groups_release(struct groups *g)
{
	struct group **all = map_list(&g->by_task);

	for (size_t i = 0; i < g->by_task.count; i++) {
		group_free(all[i]);
	}
	free(all);
	*g = (struct groups){.by_task = {.root = NULL}};
}
