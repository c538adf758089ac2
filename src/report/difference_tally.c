/* Counts differences over rollouts: see difference_tally.h. */
#include "report/difference_tally.h"

#include "base/text.h"

#include <stdlib.h>

#define PRINTED_MAX  12
#define NAMED_MAX    4
#define WORD_COLUMNS 24

void tally_rollout(struct difference_tally *t)
{
	t->rollouts++;
}

/* The values of these are words, which say more than that they differ. */
static bool has_words(struct str pointer)
{
	return str_is(pointer, "/outcome") || str_is(pointer, "/error/class") ||
	       str_is(pointer, "/status");
}

static void put_key(const struct difference *d, struct buf *out)
{
	const char *kind = difference_kind_name(d->kind);

	if (!d->pointer.p) {
		buf_text(out, kind);
		return;
	}
	text_escape_cut(out, d->pointer, 80);
	if (has_words(d->pointer) && d->kind == DIFFERENCE_CHANGED) {
		buf_char(out, ' ');
		text_escape_cut(out, json_inner(d->expected), WORD_COLUMNS);
		buf_text(out, " -> ");
		text_escape_cut(out, json_inner(d->got), WORD_COLUMNS);
	} else {
		buf_printf(out, " %s", kind);
	}
}

void tally_difference(struct difference_tally *t, const struct difference *d)
{
	struct buf key = BUF(BUF_MAX_SMALL);
	size_t i = 0;

	put_key(d, &key);
	while (i < t->count && !str_eq(t->rows[i].key, buf_view(&key)))
		i++;
	if (i == t->count && i < TALLY_MAX) {
		t->rows[t->count++] =
			(struct tally_row){.key = arena_str(&t->arena, buf_view(&key))};
	}
	if (i == TALLY_MAX) {
		t->others++;
		buf_release(&key);
		return;
	}
	t->rows[i].differences++;
	if (t->rows[i].seen != t->rollouts) {
		t->rows[i].seen = t->rollouts;
		t->rows[i].rollouts++;
	}
	buf_release(&key);
}

/* What the policy was asked to do says least about the environment. */
static int by_subject(const struct tally_row *a, const struct tally_row *b)
{
	return str_starts(a->key, STR("/policy/")) - str_starts(b->key, STR("/policy/"));
}

static int by_rollouts(const void *left, const void *right)
{
	const struct tally_row *a = left, *b = right;
	int order = (a->rollouts < b->rollouts) - (a->rollouts > b->rollouts);

	return order ? order : by_subject(a, b);
}

void tally_print(struct difference_tally *t, struct buf *out)
{
	size_t left = t->others;

	if (t->rollouts < 2 || !t->count)
		return;
	qsort(t->rows, t->count, sizeof(*t->rows), by_rollouts);
	buf_text(out, "what differs:\n");
	for (size_t i = 0; i < t->count; i++) {
		if (i < PRINTED_MAX) {
			buf_printf(out, "  %.*s: %zu of %zu rollouts\n", STR_ARG(t->rows[i].key),
			           t->rows[i].rollouts, t->rollouts);
		} else {
			left++;
		}
	}
	if (left)
		buf_printf(out, "  and %zu more\n", left);
}

static int by_differences(const void *left, const void *right)
{
	const struct tally_row *a = left, *b = right;

	int order = by_subject(a, b);

	return order ? order
	             : (a->differences < b->differences) - (a->differences > b->differences);
}

void tally_values(struct difference_tally *t, struct buf *out)
{
	size_t named = 0, left = t->others;

	qsort(t->rows, t->count, sizeof(*t->rows), by_differences);
	for (size_t i = 0; i < t->count; i++) {
		const struct tally_row *r = &t->rows[i];

		if (r->key.p[0] != '/' || named == NAMED_MAX) {
			left += r->key.p[0] == '/';
			continue;
		}
		buf_printf(out, "%s%.*s", named++ ? ", " : ": ", STR_ARG(r->key));
		if (r->differences > 1)
			buf_printf(out, " (%zu)", r->differences);
	}
	if (left)
		buf_printf(out, " and %zu more", left);
}

void tally_release(struct difference_tally *t)
{
	arena_release(&t->arena);
	*t = (struct difference_tally){.count = 0};
}
