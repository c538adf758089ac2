/* What a failed case says, in words: a title of one line and all of it below. Most kinds of
   reports want these two. */
#ifndef ROLLDBG_REPORT_KINDS_CASE_TEXT_H
#define ROLLDBG_REPORT_KINDS_CASE_TEXT_H

#include "report/kinds/kind.h"

#define CASE_TEXT_MAX ((size_t)32 << 10) /* bytes of a body; the rest is counted */

/* Zeroed is empty. Everything in it is escaped for a terminal (base/text.h). */
struct case_text {
	struct buf title; /* the worst finding, or the first difference */
	struct buf body;  /* a line for each finding and difference, and what to try */
	const char *kind; /* one word: a rule, a status, "difference", "no-result" */
	uint64_t line;    /* of the file, where the title's is; 0: not known */
	size_t count;     /* findings or differences */
	size_t left_out;  /* of these, not in the body */
	struct difference_printer printer;
};

/* Adds a difference of the case that comes next. */
void case_text_difference(struct case_text *t, const struct difference *d);
/* Adds what the case itself says. Then the text is complete, until case_text_clear. */
void case_text_finish(struct case_text *t, const struct report_case *c);
void case_text_clear(struct case_text *t);
void case_text_release(struct case_text *t);

/* "lake.0", "the group of task lake", "the whole file": of what has no id. Escaped. */
void case_name(const struct report_case *c, struct buf *out);

#endif
