/* Calls that are no longer counted as steps: see uncounted_calls.h. */
#include "facts/uncounted_calls.h"

/* Tools beyond the number of bits are not reported. */
static uint64_t tool_bit(int tool)
{
	return tool >= 0 && tool < 64 ? (uint64_t)1 << tool : 0;
}

static uint32_t call_bit(const struct uncounted_calls *u, uint64_t call)
{
	for (size_t i = 0; i < u->call_count; i++) {
		if (u->calls[i] == call) {
			return (uint32_t)1 << i;
		}
	}
	return 0;
}

static void end_run(struct uncounted_calls *u)
{
	u->run = (struct span){.count = 0};
	u->repeated = 0;
}

static void add_counted(struct uncounted_calls *u, const struct derived_line *m)
{
	u->resumed = u->resumed || u->run.count > 0;
	end_run(u);
	u->tools |= tool_bit(m->tool);
	u->counted++;
	if (u->too_many || call_bit(u, m->call)) {
		return;
	}
	u->too_many = u->call_count == UNCOUNTED_CALLS_KINDS;
	if (!u->too_many) {
		u->calls[u->call_count++] = m->call;
	}
}

void uncounted_calls_step(struct uncounted_calls *u, const struct derived_line *m)
{
	/* the count before this step is the previous one */
	int64_t before = u->known ? u->count : 0;

	if (m->env_steps > before) {
		add_counted(u, m);
	}
	u->newest = !m->idle && m->env_steps > 0 && m->env_steps == before &&
	            (u->tools & tool_bit(m->tool));
	u->newest_bit = u->newest ? call_bit(u, m->call) : 0;
	u->known = u->known || m->env_steps >= 0;
	u->count = m->env_steps >= 0 ? m->env_steps : u->count;
}

void uncounted_calls_effect(struct uncounted_calls *u, const struct completed_step *p)
{
	if (p->effect == EFFECT_CHANGED) {
		end_run(u);
	} else if (p->effect == EFFECT_UNCHANGED && u->newest && !p->failed && !p->expected) {
		span_add(&u->run, p->turn, p->step);
		u->repeated |= u->newest_bit;
	}
	u->newest = false;
}

bool uncounted_calls_are_all(const struct uncounted_calls *u)
{
	uint32_t all = u->call_count < 32 ? ((uint32_t)1 << u->call_count) - 1 : UINT32_MAX;

	return !u->too_many && u->call_count >= 2 && u->repeated == all;
}
