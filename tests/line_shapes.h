/* A line whose shape may be known gives the same as one that is parsed. */
#ifndef TESTS_LINE_SHAPES_H
#define TESTS_LINE_SHAPES_H

#include "trajectory/line_internal.h"
#include "trajectory/line_shape.h"

static inline bool same_line(const struct line *a, const struct line *b)
{
	bool same = a->type == b->type && str_eq(a->text, b->text) && a->text.p == b->text.p &&
	            str_eq(a->rollout, b->rollout) && a->turn == b->turn && a->step == b->step &&
	            a->outcome == b->outcome && a->status == b->status && a->event == b->event &&
	            a->terminated == b->terminated && a->truncated == b->truncated;

	for (size_t k = 0; k < KEY_COUNT; k++) {
		same = same && a->value[k].p == b->value[k].p && a->value[k].n == b->value[k].n;
	}
	return same;
}

/* Learns from the text. *valid: it begins with a line that has no line feed between its tokens. */
static inline bool line_shapes_agree(struct line_shapes *s, struct str text, bool *valid)
{
	struct buf a = BUF(1 << 20), b = BUF(1 << 20);
	struct line_object object;
	struct line parsed, shaped;
	struct error err;
	size_t used = 0;

	*valid = line_parse_object(text, &a, &parsed, &object, &err) == 0 && !object.line_feed;
	bool same = *valid == (line_shapes_parse(s, text, &b, &shaped, &used) == 0);
	if (same && *valid) {
		same = used == object.used && same_line(&parsed, &shaped);
	}
	buf_release(&a);
	buf_release(&b);
	return same;
}

#endif
