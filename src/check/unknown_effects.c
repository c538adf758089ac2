/* Counts rollouts without known effects by reason: see unknown_effects.h. */
#include "check/unknown_effects.h"

#include "facts/peer.h"

#include <stdio.h>

#define TOOLS_LISTED 4
#define NAME_MAX     40 /* bytes */

static enum unknown_reason reason_of(const struct rollout_facts *r)
{
	return r->movement == MOVEMENT_UNSHOWN   ? UNKNOWN_UNSHOWN
	       : r->movement == MOVEMENT_IGNORED ? UNKNOWN_IGNORED
	       : r->source == SOURCE_OBSERVATION ? UNKNOWN_OBSERVATION
	       : r->source != SOURCE_NONE        ? UNKNOWN_OTHER
	       : r->imported                     ? UNKNOWN_IMPORTED
	                                         : UNKNOWN_NO_SOURCE;
}

static void list_read_only(const struct rollout_facts *r, char *out, size_t size)
{
	char name[NAME_MAX];
	size_t listed = 0, n = 0;

	for (size_t i = 0; i < r->tool_count && listed <= TOOLS_LISTED; i++) {
		if (!r->tools[i].read_only) {
			continue;
		}
		peer_name(r->work, r->tools[i].name, name, sizeof(name));
		n += (size_t)snprintf(out + n, size - n, "%s%s", listed ? ", " : "",
		                      listed < TOOLS_LISTED ? name : "...");
		listed++;
	}
}

void unknown_effects_add(struct unknown_effects *u, const struct rollout_facts *r)
{
	if (r->steps == 0 || r->effective >= 0) {
		return;
	}
	u->rollouts[reason_of(r)]++;
	if (!u->read_only_tools[0]) {
		list_read_only(r, u->read_only_tools, sizeof(u->read_only_tools));
	}
}

void unknown_effects_absorb(struct unknown_effects *to, const struct unknown_effects *from)
{
	for (size_t i = 0; i < UNKNOWN_REASONS; i++) {
		to->rollouts[i] += from->rollouts[i];
	}
	if (!to->read_only_tools[0]) {
		memcpy(to->read_only_tools, from->read_only_tools, sizeof(to->read_only_tools));
	}
}

int64_t unknown_effects_count(const struct unknown_effects *u)
{
	int64_t n = 0;

	for (size_t i = 0; i < UNKNOWN_REASONS; i++) {
		n += u->rollouts[i];
	}
	return n;
}

enum unknown_reason unknown_effects_reason(const struct unknown_effects *u)
{
	unsigned i = 0;

	while (i < UNKNOWN_REASONS && !u->rollouts[i]) {
		i++;
	}
	return (enum unknown_reason)i;
}
