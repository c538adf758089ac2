/* The page around the data: page.html with its style and scripts put in. */
#ifndef ROLLDBG_REPORT_HTML_TEMPLATE_H
#define ROLLDBG_REPORT_HTML_TEMPLATE_H

#include "base/buf.h"

/* Appends everything in front of the data, and everything behind it. */
void template_head(struct buf *out);
void template_tail(struct buf *out);

/* Appends lines of JSON, each with its line feed, so that no HTML parser can see an end of the
   element that they are in: "<" occurs in JSON within strings alone, where \u003c means the same
   (HTML, section 13.2.5.15: only "<" leaves the script data state). A carriage return, which is a
   blank there, would become a line feed. */
void template_data(struct str line, struct buf *out);

#endif
