/* The rewards of one task's samples: see task_metrics.h. */
#include "stats/task_metrics.h"

#include <math.h>
#include <string.h>

static uint64_t bit(int64_t sample)
{
	return (uint64_t)1 << sample;
}

static void make_room(struct reward_group *g, struct arena *arena, size_t sample)
{
	size_t room = g->room ? g->room : 4;

	if (sample < g->room)
		return;
	while (room <= sample)
		room *= 2;
	double *rewards = arena_new(arena, room * sizeof(*rewards));
	if (g->room)
		memcpy(rewards, g->rewards, g->room * sizeof(*rewards));
	g->rewards = rewards;
	g->room = room;
}

static struct group_others *others_of(struct reward_group *g, struct arena *arena)
{
	if (!g->other) {
		g->other = arena_new(arena, sizeof(*g->other));
		g->other->low = INFINITY;
		g->other->high = -INFINITY;
	}
	return g->other;
}

static void join_others(struct reward_group *g, struct arena *arena, const double *reward)
{
	g->others++;
	if (!reward)
		return;
	struct group_others *o = others_of(g, arena);
	exact_add(&o->sum, *reward);
	exact_add_product(&o->squares, *reward, *reward);
	o->low = fmin(o->low, *reward);
	o->high = fmax(o->high, *reward);
	g->others_rewarded++;
}

void group_join(struct reward_group *g, struct arena *arena, int64_t sample, const double *reward)
{
	if (sample < 0 || sample >= GROUP_SAMPLES) {
		join_others(g, arena, reward);
		return;
	}
	g->seen |= bit(sample);
	if (reward && !(g->rewarded & bit(sample) && g->rewards[sample] <= *reward)) {
		make_room(g, arena, (size_t)sample);
		g->rewards[sample] = *reward;
		g->rewarded |= bit(sample);
	}
}

void group_merge(struct reward_group *g, struct arena *arena, const struct reward_group *from)
{
	g->size = from->size > g->size ? from->size : g->size;
	for (uint64_t left = from->seen; left; left &= left - 1) {
		int64_t sample = __builtin_ctzll(left);

		group_join(g, arena, sample,
		           from->rewarded & bit(sample) ? &from->rewards[sample] : NULL);
	}
	g->others += from->others;
	g->others_rewarded += from->others_rewarded;
	if (from->other) {
		struct group_others *o = others_of(g, arena);

		exact_merge(&o->sum, &from->other->sum);
		exact_merge(&o->squares, &from->other->squares);
		o->low = fmin(o->low, from->other->low);
		o->high = fmax(o->high, from->other->high);
	}
}

struct group_rewards group_sum_up(const struct reward_group *g)
{
	struct group_others all = {.low = INFINITY, .high = -INFINITY};
	struct group_rewards r = {.samples = __builtin_popcountll(g->seen) + g->others,
	                          .rewards =
	                                  __builtin_popcountll(g->rewarded) + g->others_rewarded};

	if (g->other)
		all = *g->other;
	for (uint64_t left = g->rewarded; left; left &= left - 1) {
		double reward = g->rewards[__builtin_ctzll(left)];

		exact_add(&all.sum, reward);
		exact_add_product(&all.squares, reward, reward);
		all.low = fmin(all.low, reward);
		all.high = fmax(all.high, reward);
	}
	if (r.rewards == 0)
		return r;
	double n = (double)r.rewards;
	r.mean = exact_value(&all.sum) / n;
	r.low = all.low;
	r.high = all.high;
	if (r.rewards > 1)
		r.std = sqrt(exact_spread(n, &all.sum, &all.squares) / n / (n - 1));
	return r;
}
