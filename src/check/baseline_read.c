/* Reads recordings for a baseline: see baseline_read.h. */
#include "check/baseline_read.h"

#include "evidence/evidence.h"

#include <stdlib.h>

struct learning {
	struct evidence *facts;
	struct baseline *into;
};

static void learn(const struct learning *b, const struct evidence_update *u)
{
	const struct rollout_facts *r = u->rollout;

	for (int64_t i = 0; u->end && i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		if (p->tool >= 0 && r->tools[p->tool].name.p)
			baseline_note(b->into, r->tools[p->tool].name, p);
	}
}

static int on_line(void *ctx, const struct line *l, const struct reader_note *note,
                   struct error *err)
{
	const struct learning *b = ctx;
	struct evidence_update u;

	if (evidence_end_unfinished(b->facts, l, &u))
		learn(b, &u);
	if (evidence_line(b->facts, l, note, &u, err))
		return -1;
	learn(b, &u);
	return 0;
}

static int learn_file(struct learning *b, const char *path, struct error *err)
{
	struct evidence_update u;

	if (reader_file(path, on_line, b, err))
		return -1;
	while (evidence_end_next(b->facts, &u))
		learn(b, &u);
	evidence_new_file(b->facts);
	return 0;
}

int baseline_add(struct baseline *t, const char *path, struct error *err)
{
	struct learning b = {evidence_new(&(struct evidence_conf){.lenient = false}), t};
	char *operand = mem_text(str_from(path));
	struct file_list files = {0};
	int failed = file_list_new(&operand, 1, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++)
		failed = learn_file(&b, files.paths[i], err);
	evidence_free(b.facts);
	file_list_free(&files);
	free(operand);
	return failed ? error_wrap(err, "\1baseline\2") : 0;
}
