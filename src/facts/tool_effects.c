/* Observed effects of tools: see tool_effects.h. */
#include "facts/tool_effects.h"

#include <stdlib.h>

struct tool_effect {
	struct str name;
	bool stayed;  /* a call was answered ok and left the state unchanged */
	bool changed; /* a call changed it */
};

struct tool_effects {
	struct tool_effect *list;
	size_t count, room;
	struct arena names;
};

struct tool_effects *tool_effects_new(void)
{
	return mem_new(sizeof(struct tool_effects));
}

void tool_effects_free(struct tool_effects *t)
{
	if (!t) {
		return;
	}
	free(t->list);
	arena_release(&t->names);
	free(t);
}

static struct tool_effect *find(const struct tool_effects *t, struct str name)
{
	for (size_t i = 0; i < t->count; i++) {
		if (str_eq(t->list[i].name, name)) {
			return &t->list[i];
		}
	}
	return NULL;
}

static struct tool_effect *find_or_add(struct tool_effects *t, struct str name)
{
	struct tool_effect *e = find(t, name);

	if (e) {
		return e;
	}
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->list = mem_resize(t->list, t->room, sizeof(*t->list));
	}
	e = &t->list[t->count++];
	*e = (struct tool_effect){.name = arena_str(&t->names, name)};
	return e;
}

/* A call that failed or came after the end of an episode is no evidence that the tool is
   read-only. */
void tool_effects_note(struct tool_effects *t, struct str name, const struct completed_step *p)
{
	struct tool_effect *e = find_or_add(t, name);

	e->changed = e->changed || p->effect == EFFECT_CHANGED;
	e->stayed =
		e->stayed || (p->effect == EFFECT_UNCHANGED && !p->failed && !p->outside_episode);
}

bool tool_effects_is_read_only(const struct tool_effects *t, struct str name)
{
	const struct tool_effect *e = t ? find(t, name) : NULL;

	return e && e->stayed && !e->changed;
}
