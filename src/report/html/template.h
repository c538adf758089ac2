/* The page around the data: page.html with its style and scripts inserted. */
#ifndef ROLLDBG_REPORT_HTML_TEMPLATE_H
#define ROLLDBG_REPORT_HTML_TEMPLATE_H

#include "base/buf.h"

/* Append the parts before and after the data. */
void template_head(struct buf *out);
void template_tail(struct buf *out);

/* Appends lines of JSON, each with its line feed, so that no HTML parser can find the end of the
   script element in them: "<", which occurs only within JSON strings, is written as \u003c
   (HTML, section 13.2.5.15: only "<" leaves the script data state). A carriage return, which is
   whitespace in JSON and which a parser would make a line feed, is written as a space. */
void template_data(struct str line, struct buf *out);

#endif
