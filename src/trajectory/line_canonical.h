/* Parses lines into canonical form, in one pass over the bytes: for strip, which writes most of
   them as they are. */
#ifndef ROLLDBG_TRAJECTORY_LINE_CANONICAL_H
#define ROLLDBG_TRAJECTORY_LINE_CANONICAL_H

#include "trajectory/line.h"

struct canonical_parser;

struct canonical_parser *canonical_parser_new(void);
void canonical_parser_free(struct canonical_parser *c); /* NULL is fine */

/* Like line_parse for a text that is exactly one object, with line.canonical set. The values are
   valid until the next call. False if it is not such a text, not a valid line, or not supported
   (json_canon_members); line_parse then tells which. */
bool canonical_parse(struct canonical_parser *c, struct str text, struct line *out);

/* The members of an object that has parts in the table, in recorded order, of a line that
   canonical_parse made. */
const struct json_member *canonical_parts(const struct line *l, enum key k, size_t *count);

#endif
