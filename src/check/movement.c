/* What watching alone has seen of all rollouts: did the environment move? And if that is unknown, why,
   and what could show it. See judge.h. */
#include "check/judge.h"
#include "evidence/peer.h"

#include <stdio.h>

#define TOOLS_LISTED 4
#define NAME_MAX     40 /* bytes */

static enum unknown_reason reason_of(const struct rollout_facts *r)
{
	bool any = r->series->any;

	return !any && r->imported              ? UNKNOWN_IMPORTED
	       : r->source == SOURCE_NONE       ? UNKNOWN_NO_SOURCE
	       : r->verdict.counted > 0         ? UNKNOWN_COUNTS
	       : any && !r->verdict.informative ? UNKNOWN_UNSHOWN
	                                        : UNKNOWN_UNREAD;
}

static void list_read_only(const struct rollout_facts *r, char *out, size_t size)
{
	char name[NAME_MAX];
	size_t listed = 0, n = 0;

	for (size_t i = 0; i < r->tool_count && listed <= TOOLS_LISTED; i++) {
		if (!r->tools[i].read_only)
			continue;
		peer_name(r->work, r->tools[i].name, name, sizeof(name));
		n += (size_t)snprintf(out + n, size - n, "%s%s", listed ? ", " : "",
		                      listed < TOOLS_LISTED ? name : "...");
		listed++;
	}
}

static struct span still_steps(const struct rollout_facts *r)
{
	struct span span = {.count = 0};

	for (int64_t i = 0; i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];
		bool acted = !p->failed && !p->expected && !p->idle && !p->outside_episode;

		if (acted && p->effect == EFFECT_UNCHANGED)
			span_add(&span, p->turn, p->step);
	}
	return span;
}

void movement_add(struct movement *to, const struct rollout_facts *r)
{
	const struct verdict *v = &r->verdict;

	to->acting += v->acting;
	to->moved += v->moved;
	to->still += v->still;
	to->unknown += v->unknown + v->counted;
	if (v->still > 0 && to->first_still.count == 0)
		to->first_still = still_steps(r);
	if (v->unknown + v->counted == 0)
		return;
	to->rollouts[reason_of(r)]++;
	if (!to->read_only_tools[0])
		list_read_only(r, to->read_only_tools, sizeof(to->read_only_tools));
}

void movement_absorb(struct movement *to, const struct movement *from)
{
	to->acting += from->acting;
	to->moved += from->moved;
	to->still += from->still;
	to->unknown += from->unknown;
	to->first_still = to->first_still.count ? to->first_still : from->first_still;
	for (size_t i = 0; i < UNKNOWN_REASONS; i++)
		to->rollouts[i] += from->rollouts[i];
	if (!to->read_only_tools[0])
		memcpy(to->read_only_tools, from->read_only_tools, sizeof(to->read_only_tools));
}

enum unknown_reason movement_reason(const struct movement *m)
{
	unsigned i = 0;

	while (i < UNKNOWN_REASONS && !m->rollouts[i])
		i++;
	return (enum unknown_reason)i;
}
