/* Steps of parsing a line, shared by line.c and line_shape.c. */
#ifndef ROLLDBG_TRAJECTORY_LINE_INTERNAL_H
#define ROLLDBG_TRAJECTORY_LINE_INTERNAL_H

#include "trajectory/line.h"

/* A line of this type without values. */
void line_begin(struct line *out, struct str text, enum line_type type);

/* Is the value allowed, given that its type is? Sets the decoded field of those that are enums. `type`
   itself was checked before. */
bool line_key_takes(const struct line_key *row, struct str value, struct line *out);

/* Sets the other decoded fields from the values. */
void line_decode(struct line *out, struct buf *scratch);

struct line_object {
	size_t used;
	bool line_feed; /* there is one between its tokens */
};
/* line_parse, with more about the object. */
MUST_USE int line_parse_object(struct str text, struct buf *scratch, struct line *out,
                               struct line_object *object, struct error *err);

/* Counts of up to four digits, which nearly all are. */
ALWAYS_INLINE bool is_short_count(struct str value)
{
	size_t n = 0;

	while (n < value.n && n < 4 && value.p[n] >= '0' && value.p[n] <= '9') {
		n++;
	}
	return n == value.n;
}

/* Does the value, of that type, fit the row? */
ALWAYS_INLINE bool line_key_fits(const struct line_key *row, struct str value, enum json_type type,
                                 struct line *out)
{
	return row->types >> type & 1 && (!(row->types & T_INTEGRAL || row->words) ||
	                                  is_short_count(value) || line_key_takes(row, value, out));
}

#endif
