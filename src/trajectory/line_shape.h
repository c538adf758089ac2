/* Lines that resemble each other: the values of a line whose shape is known are found without looking
   at its keys. */
#ifndef ROLLDBG_TRAJECTORY_LINE_SHAPE_H
#define ROLLDBG_TRAJECTORY_LINE_SHAPE_H

#include "trajectory/line.h"

/* The shapes of lines read before. */
struct line_shapes;
struct line_shapes *line_shapes_new(void);
void line_shapes_free(struct line_shapes *s); /* NULL is fine */

/* line_parse for a text that continues after the object's line, faster if a line of the same shape
   was read before; also fails if the object contains a line feed. Gives no reason. */
MUST_USE int line_shapes_parse(struct line_shapes *s, struct str text, struct buf *scratch,
                               struct line *out, size_t *used);

#endif
