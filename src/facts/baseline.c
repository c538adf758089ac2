/* Learns from recordings which tools are read-only: see baseline.h. */
#include "facts/baseline.h"

#include "facts/facts.h"

#include <stdlib.h>

struct learning {
	struct facts *facts;
	struct tool_effects *into;
};

static void learn(const struct learning *b, const struct facts_update *u)
{
	const struct completed_step *p = u->completed;

	if (p && p->tool >= 0 && u->rollout->tools[p->tool].name.p) {
		tool_effects_note(b->into, u->rollout->tools[p->tool].name, p);
	}
}

static int on_line(void *ctx, const struct line *l, const struct reader_note *note,
                   struct error *err)
{
	const struct learning *b = ctx;
	struct facts_update u;

	if (facts_end_unfinished(b->facts, l, &u)) {
		learn(b, &u);
	}
	if (facts_line(b->facts, l, note, &u, err)) {
		return -1;
	}
	learn(b, &u);
	return 0;
}

static int learn_file(struct learning *b, const char *path, struct error *err)
{
	struct facts_update u;

	if (reader_file(path, on_line, b, err)) {
		return -1;
	}
	while (facts_end_next(b->facts, &u)) {
		learn(b, &u);
	}
	facts_new_file(b->facts);
	return 0;
}

int baseline_add(struct tool_effects *t, const char *path, struct error *err)
{
	struct learning b = {facts_new(&(struct facts_conf){.lenient = false}), t};
	char *operand = mem_text(str_from(path));
	struct file_list files = {0};
	int failed = file_list_new(&operand, 1, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++) {
		failed = learn_file(&b, files.paths[i], err);
	}
	facts_free(b.facts);
	file_list_free(&files);
	free(operand);
	return failed ? error_wrap(err, "\1baseline\2") : 0;
}
