/* rolldbg merge: the three-way merge of recordings, as git's merge driver. */
#include "base/new_file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "recording/by_rollout.h"

#include <stdio.h>

enum side { BASE, OURS, THEIRS, SIDES };

/* One side's next rollout. */
struct merge_side {
	struct by_rollout *lines;
	struct buf text; /* its lines */
	bool has;        /* it has the rollout that is merged */
};

struct merge_work {
	struct merge_side side[SIDES];
	const char *name; /* of the file, for messages */
	struct buf merged;
	size_t conflicts;
};

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct buf *text = ctx;

	buf_str(text, l->text);
	buf_char(text, '\n');
	return 0;
}

static int refuse_torn(void *ctx, const struct line *l, const struct reader_note *note,
                       struct error *err)
{
	const struct merge_work *m = ctx;

	return error_set(err, FAIL_INPUT,
	                 "%s: line %llu is truncated: an incomplete recording cannot be merged",
	                 m->name, (unsigned long long)note->line);
}

/* The first id that some side has next; absent: all have been read. */
static struct str next_id(const struct merge_work *m)
{
	struct str first = STR_NONE;

	for (int i = 0; i < SIDES; i++) {
		struct str id = by_rollout_id(m->side[i].lines);

		first = id.p && (!first.p || str_order(id, first) < 0) ? id : first;
	}
	return first;
}

static bool is_same(const struct merge_side *a, const struct merge_side *b)
{
	return a->has == b->has && (!a->has || str_eq(buf_view(&a->text), buf_view(&b->text)));
}

static void say_conflict(struct merge_work *m, struct str id)
{
	const struct merge_side *s = m->side;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	m->conflicts++;
	text_escape(&text, str_from(m->name));
	buf_text(&text, ": rollout ");
	text_escape(&text, id);
	fprintf(stderr, "conflict: %s: %s\n", buf_cstr(&text),
	        !s[BASE].has     ? "added on both sides; kept: ours"
	        : !s[OURS].has   ? "removed by us, changed by them; kept: theirs"
	        : !s[THEIRS].has ? "changed by us, removed by them; kept: ours"
	                         : "changed on both sides; kept: ours");
}

/* A rollout is taken from one side as a whole: lines of two recordings together are what no
   environment ever replied. */
static int merge_rollout(struct merge_work *m, struct error *err)
{
	struct merge_side *s = m->side;
	AUTO_BUF id = BUF(SIZE_MAX / 2);

	buf_str(&id, next_id(m));
	for (int i = 0; i < SIDES; i++) {
		struct str next = by_rollout_id(s[i].lines);

		buf_clear(&s[i].text);
		s[i].has = next.p && str_eq(next, buf_view(&id));
		if (s[i].has && by_rollout_next(s[i].lines, take_line, &s[i].text, err))
			return -1;
	}
	bool theirs = is_same(&s[BASE], &s[OURS]);

	if (!theirs && !is_same(&s[BASE], &s[THEIRS]) && !is_same(&s[OURS], &s[THEIRS])) {
		say_conflict(m, buf_view(&id));
		theirs = !s[OURS].has;
	}
	const struct merge_side *taken = &s[theirs ? THEIRS : OURS];

	buf_str(&m->merged, taken->has ? buf_view(&taken->text) : STR(""));
	return 0;
}

static int merge_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	struct merge_work m = {.name = argc > SIDES ? argv[SIDES] : argv[OURS],
	                       .merged = BUF(SIZE_MAX / 2)};
	const struct new_file_conf out = {argv[OURS], .replace = true};
	int failed = 0;

	for (int i = 0; i < SIDES && !failed; i++) {
		m.side[i].text = BUF(SIZE_MAX / 2);
		failed = by_rollout_open(NULL, &argv[i], 1, refuse_torn, &m, &m.side[i].lines, err);
	}
	while (!failed && next_id(&m).p)
		failed = merge_rollout(&m, err);
	failed = failed || new_file_put(&out, buf_view(&m.merged), err);
	for (int i = 0; i < SIDES; i++) {
		by_rollout_close(m.side[i].lines);
		buf_release(&m.side[i].text);
	}
	buf_release(&m.merged);
	return failed ? -1 : m.conflicts > 0;
}

CODE_ONLY(merge)
