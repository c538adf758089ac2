/* Learns from recordings which tools are read-only: see baseline.h. */
#include "evidence/baseline.h"

#include "evidence/evidence.h"

#include <stdlib.h>

struct tool_effect {
	struct str name;
	bool stayed;  /* a call was answered ok and left the state unchanged */
	bool changed; /* a call changed it */
};

struct baseline {
	struct tool_effect *list;
	size_t count, room;
	struct arena names;
};

struct baseline *baseline_new(void)
{
	return mem_new(sizeof(struct baseline));
}

void baseline_free(struct baseline *t)
{
	if (!t) {
		return;
	}
	free(t->list);
	arena_release(&t->names);
	free(t);
}

static struct tool_effect *find(const struct baseline *t, struct str name)
{
	for (size_t i = 0; i < t->count; i++) {
		if (str_eq(t->list[i].name, name)) {
			return &t->list[i];
		}
	}
	return NULL;
}

static struct tool_effect *find_or_add(struct baseline *t, struct str name)
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
static void note(struct baseline *t, struct str name, const struct completed_step *p)
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

struct learning {
	struct evidence *facts;
	struct baseline *into;
};

static void learn(const struct learning *b, const struct evidence_update *u)
{
	const struct rollout_facts *r = u->rollout;

	for (int64_t i = 0; u->end && i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		if (p->tool >= 0 && r->tools[p->tool].name.p) {
			note(b->into, r->tools[p->tool].name, p);
		}
	}
}

static int on_line(void *ctx, const struct line *l, const struct reader_note *note,
                   struct error *err)
{
	const struct learning *b = ctx;
	struct evidence_update u;

	if (evidence_end_unfinished(b->facts, l, &u)) {
		learn(b, &u);
	}
	if (evidence_line(b->facts, l, note, &u, err)) {
		return -1;
	}
	learn(b, &u);
	return 0;
}

static int learn_file(struct learning *b, const char *path, struct error *err)
{
	struct evidence_update u;

	if (reader_file(path, on_line, b, err)) {
		return -1;
	}
	while (evidence_end_next(b->facts, &u)) {
		learn(b, &u);
	}
	evidence_new_file(b->facts);
	return 0;
}

int baseline_add(struct baseline *t, const char *path, struct error *err)
{
	struct learning b = {evidence_new(&(struct evidence_conf){.lenient = false}), t};
	char *operand = mem_text(str_from(path));
	struct file_list files = {0};
	int failed = file_list_new(&operand, 1, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++) {
		failed = learn_file(&b, files.paths[i], err);
	}
	evidence_free(b.facts);
	file_list_free(&files);
	free(operand);
	return failed ? error_wrap(err, "\1baseline\2") : 0;
}
