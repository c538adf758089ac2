/* Counts differences over rollouts: see difference_tally.h. */
#include "report/difference_tally.h"

#include "base/text.h"

#include <stdlib.h>

#define PRINTED_MAX  12
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
	while (i < t->count && !str_eq(t->rows[i].key, buf_view(&key))) {
		i++;
	}
	if (i == t->count && i < TALLY_MAX) {
		t->rows[t->count++] =
			(struct tally_row){.key = arena_str(&t->arena, buf_view(&key))};
	}
	if (i == TALLY_MAX) {
		t->others++;
	} else if (t->rows[i].seen != t->rollouts) {
		t->rows[i].seen = t->rollouts;
		t->rows[i].rollouts++;
	}
	buf_release(&key);
}

static int by_rollouts(const void *left, const void *right)
{
	const struct tally_row *a = left, *b = right;

	return (a->rollouts < b->rollouts) - (a->rollouts > b->rollouts);
}

void tally_print(struct difference_tally *t, struct buf *out)
{
	size_t left = t->others;

	if (t->rollouts < 2 || !t->count) {
		return;
	}
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
	if (left) {
		buf_printf(out, "  and %zu more\n", left);
	}
}

void tally_release(struct difference_tally *t)
{
	arena_release(&t->arena);
	*t = (struct difference_tally){.count = 0};
}
