/* Rewards by task: see groups.h. */
#include "check/groups.h"

#include "base/mem.h"
#include <stdlib.h>

#define SAMPLES 32 /* samples below are checked for duplicates; others are not */

struct group {
	struct map_item item;
	double reward; /* of the first sample whose reward is known */
	char *task;    /* set once there are two rollouts, or a size */
	uint32_t seen; /* samples below SAMPLES, one bit each */
	uint32_t others;
	uint32_t size; /* 0: unknown */
	uint32_t lost : 27, differ : 1, carried : 1, has_tools : 1, open : 1, unlisted : 1;
	uint32_t rewarded, voids, void_rewarded;
	struct seeded *seeded; /* NULL: none yet */
};

/* Samples with the seed of the first one that had a trace. */
struct seeded {
	int64_t seed;
	struct trace first;
	int64_t count, differ; /* the others; those that began differently */
	size_t calls;          /* calls after which the first of these differed */
};

/* The members in order of arrival. */
struct group_log {
	struct arena arena;
	struct group_member *members;
	struct trace *traces;
	size_t count;
};

static int64_t count_of(const struct group *g)
{
	return __builtin_popcount(g->seen) + (int64_t)g->others;
}

/* False if that sample was counted before. */
static bool add_sample(struct group *g, int64_t sample)
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

static void add_reward(struct group *g, double reward)
{
	if (g->rewarded++ == 0)
		g->reward = reward;
	else if (reward != g->reward)
		g->differ = 1;
}

static void add_trace(struct group *g, const struct trace *t, int64_t seed)
{
	struct seeded *s = g->seeded;
	size_t calls;

	if (!s) {
		s = g->seeded = mem_new(sizeof(*s));
		s->seed = seed;
		s->first = *t;
		return;
	}
	if (s->seed != seed)
		return;
	s->count++;
	if (trace_compare(&s->first, t, &calls) != TRACE_EQUAL && s->differ++ == 0)
		s->calls = calls;
}

void groups_keep_log(struct groups *g)
{
	g->log = mem_new(sizeof(*g->log));
}

static void log_member(struct group_log *log, const struct group_member *m)
{
	log->members = mem_grow(log->members, log->count, sizeof(*log->members));
	log->traces = mem_grow(log->traces, log->count, sizeof(*log->traces));
	log->members[log->count] = *m;
	log->members[log->count].task = arena_str(&log->arena, m->task);
	if (m->trace)
		log->traces[log->count] = *m->trace;
	log->count++;
}

void groups_each(const struct groups *g, void (*take)(void *ctx, const struct group_member *m),
                 void *ctx)
{
	for (size_t i = 0; i < g->log->count; i++) {
		struct group_member m = g->log->members[i];

		m.trace = m.trace ? &g->log->traces[i] : NULL;
		take(ctx, &m);
	}
}

static void add_member(void *ctx, const struct group_member *m)
{
	groups_add(ctx, m);
}

void groups_absorb(struct groups *g, const struct groups *other)
{
	groups_each(other, add_member, g);
}

static void add_void(struct group *g, const struct group_member *m)
{
	g->has_tools |= m->has_tools;
	g->unlisted |= m->unlisted;
	g->voids += m->is_void;
	g->void_rewarded += m->is_void && m->rewarded;
}

void groups_add(struct groups *g, const struct group_member *m)
{
	if (!m->task.p)
		return;
	if (g->log) {
		log_member(g->log, m);
		return;
	}
	uint64_t hash = map_hash(m->task);
	struct group *one = map_find(&g->by_task, hash, STR_NONE);
	bool is_new = !one;
	if (is_new) {
		one = mem_new(sizeof(*one));
		map_add(&g->by_task, &one->item, hash);
	}
	if (m->size > 0 && m->size <= UINT32_MAX)
		one->size = (uint32_t)m->size;
	one->open |= m->open;
	if (!one->task && (!is_new || one->size))
		one->task = mem_text(m->task);
	if (m->lost) {
		add_void(one, m);
		one->lost++;
		return;
	}
	if (!add_sample(one, m->sample))
		return;
	add_void(one, m);
	if (m->rewarded)
		add_reward(one, m->reward);
	if (m->trace)
		add_trace(one, m->trace, m->seed);
}

static bool is_done(const struct group *g, bool last)
{
	return last || (g->size == 0 ? !g->open : count_of(g) >= (int64_t)g->size);
}

static int by_task(const void *left, const void *right)
{
	const struct group *const *a = left, *const *b = right;

	return strcmp((*a)->task, (*b)->task);
}

static void report_group(const struct group *g,
                         void (*report)(void *ctx, const struct task_group *t, bool carried),
                         void *ctx)
{
	bool could = g->has_tools || g->unlisted; /* without tools no call was possible */
	const struct task_group t = {.task = str_from(g->task),
	                             .size = g->size ? (int64_t)g->size : -1,
	                             .open = g->open,
	                             .count = count_of(g),
	                             .lost = g->lost,
	                             .unlisted = g->unlisted && !g->has_tools,
	                             .voids = could ? g->voids : 0,
	                             .void_rewarded = could ? g->void_rewarded : 0,
	                             .rewarded = g->rewarded,
	                             .rewards_differ = g->differ,
	                             .reward = g->reward,
	                             .seed = g->seeded ? g->seeded->seed : 0,
	                             .seeded = g->seeded ? g->seeded->count + 1 : 0,
	                             .seed_differ = g->seeded ? g->seeded->differ : 0,
	                             .seed_calls = g->seeded ? (int64_t)g->seeded->calls : 0};

	report(ctx, &t, g->carried);
}

static void group_free(struct group *g)
{
	free(g->task);
	free(g->seeded);
	free(g);
}

void groups_take(struct groups *g, bool last,
                 void (*report)(void *ctx, const struct task_group *t, bool carried), void *ctx)
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
	if (done > 1)
		qsort(all, done, sizeof(struct group *), by_task);
	for (size_t i = 0; i < done; i++) {
		report_group(all[i], report, ctx);
		group_free(all[i]);
	}
	free(all);
}

void groups_release(struct groups *g)
{
	struct group **all = map_list(&g->by_task);

	for (size_t i = 0; i < g->by_task.count; i++)
		group_free(all[i]);
	free(all);
	if (g->log) {
		arena_release(&g->log->arena);
		free(g->log->members);
		free(g->log->traces);
		free(g->log);
	}
	*g = (struct groups){.by_task = {.root = NULL}};
}
