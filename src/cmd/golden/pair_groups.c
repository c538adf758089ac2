/* Groups of rollouts to compare: see pair_groups.h. */
#include "cmd/golden/pair_groups.h"

#include "base/mem.h"

#define GROUP_BYTES ((uint64_t)1 << 20)

int pair_order(const struct by_rollout *a, const struct by_rollout *b)
{
	struct str first = by_rollout_id(a), second = by_rollout_id(b);

	return !second.p ? -1 : !first.p ? 1 : str_order(first, second);
}

/* Adds all rollouts of the next id. */
static void add_pair(struct by_rollout *const lines[2], struct pair_group *g)
{
	struct str id = by_rollout_id(lines[pair_order(lines[0], lines[1]) > 0]);

	for (int i = 0; i < 2; i++) {
		while (by_rollout_id(lines[i]).p && str_eq(by_rollout_id(lines[i]), id))
			g->bytes += by_rollout_pass(lines[i]);
		g->end[i] = by_rollout_place(lines[i]);
	}
}

struct pair_group *pair_groups_new(struct by_rollout *a, struct by_rollout *b, size_t *count)
{
	struct by_rollout *const lines[2] = {a, b};
	struct pair_group *groups = NULL;

	*count = 0;
	while (by_rollout_id(a).p || by_rollout_id(b).p) {
		struct pair_group g = {.first = {by_rollout_place(a), by_rollout_place(b)}};

		while (g.bytes < GROUP_BYTES && (by_rollout_id(a).p || by_rollout_id(b).p))
			add_pair(lines, &g);
		groups = mem_resize(groups, *count + 1, sizeof(*groups));
		groups[(*count)++] = g;
	}
	return groups;
}
