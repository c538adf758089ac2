/* Tools and their effects, over any number of recordings: see baseline.h. */
#include "check/baseline.h"

#include "check/recording.h"

#include <stdlib.h>

struct habit {
	struct str name;
	bool stood;   /* a call was answered ok and left the state as it was */
	bool changed; /* a call changed it */
};

struct baseline {
	struct habit *habits;
	size_t count, room;
	struct arena names;
};

struct baseline *baseline_new(void)
{
	return mem_new(sizeof(struct baseline));
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	free(b->habits);
	arena_release(&b->names);
	free(b);
}

static struct habit *find(const struct baseline *b, struct str name)
{
	for (size_t i = 0; i < b->count; i++) {
		if (str_eq(b->habits[i].name, name))
			return &b->habits[i];
	}
	return NULL;
}

static struct habit *find_or_add(struct baseline *b, struct str name)
{
	struct habit *h = find(b, name);
	if (h)
		return h;
	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 16;
		b->habits = mem_resize(b->habits, b->room, sizeof(*b->habits));
	}
	h = &b->habits[b->count++];
	*h = (struct habit){.name = arena_str(&b->names, name)};
	return h;
}

/* What a call did after the end of an episode, or in vain, is no habit. */
static void note_step(void *ctx, const struct rollout_facts *r, const struct past_step *p)
{
	if (p->tool < 0 || !r->tools[p->tool].name.p)
		return;
	struct habit *h = find_or_add(ctx, r->tools[p->tool].name);
	h->changed = h->changed || p->effect == EFFECT_CHANGED;
	h->stood = h->stood ||
	           (p->effect == EFFECT_UNCHANGED && !p->failed && !p->after_terminal);
}

int baseline_add(struct baseline *b, const char *path, struct error *err)
{
	struct judge_conf conf = {.step = note_step, .ctx = b};
	char *operand = mem_text(str_from(path));
	struct file_list files = {0};
	struct judge *j = NULL;
	int failed = judge_new(&conf, &j, err) || file_list_new(&operand, 1, &files, err);
	for (size_t i = 0; !failed && i < files.count; i++)
		failed = judge_recording(j, files.paths[i], NULL, NULL, err);
	if (!failed)
		judge_finish(j);
	judge_free(j);
	file_list_free(&files);
	free(operand);
	return failed ? error_wrap(err, "--baseline") : 0;
}

bool baseline_only_reads(const struct baseline *b, struct str name)
{
	const struct habit *h = b ? find(b, name) : NULL;
	return h && h->stood && !h->changed;
}
