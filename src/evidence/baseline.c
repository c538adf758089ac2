/* Learns from recordings which tools are read-only: see baseline.h. */
#include "evidence/baseline.h"

#include "base/mem.h"
#include "evidence/verdict.h"

#include <stdlib.h>

struct tool_effect {
	struct str name;
	bool stayed;  /* a call was answered ok and left the state unchanged */
	bool changed; /* a call changed it */
};

struct baseline {
	struct tool_effect *list;
	size_t count;
	struct arena names;
};

struct baseline *baseline_new(void)
{
	return mem_new(sizeof(struct baseline));
}

void baseline_free(struct baseline *t)
{
	if (!t)
		return;
	free(t->list);
	arena_release(&t->names);
	free(t);
}

static struct tool_effect *find(const struct baseline *t, struct str name)
{
	for (size_t i = 0; i < t->count; i++)
		if (str_eq(t->list[i].name, name))
			return &t->list[i];
	return NULL;
}

static struct tool_effect *find_or_add(struct baseline *t, struct str name)
{
	struct tool_effect *e = find(t, name);

	if (e)
		return e;
	t->list = mem_grow(t->list, t->count, sizeof(*t->list));
	e = &t->list[t->count++];
	*e = (struct tool_effect){.name = arena_str(&t->names, name)};
	return e;
}

/* A call that failed or came after the end of an episode is no evidence that the tool is
   read-only. */
void baseline_note(struct baseline *t, struct str name, const struct completed_step *p)
{
	struct tool_effect *e = find_or_add(t, name);

	e->changed = e->changed || p->effect == EFFECT_CHANGED;
	e->stayed =
		e->stayed || (p->effect == EFFECT_UNCHANGED && !p->failed && !p->outside_episode);
}

bool baseline_is_read_only(const struct baseline *t, struct str name)
{
	const struct tool_effect *e = t ? find(t, name) : NULL;

	return e && e->stayed && !e->changed;
}
