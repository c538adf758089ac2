/* Text for a failed case, shared by most kinds of reports: a one-line title and a body with all
   details. */
#ifndef ROLLDBG_REPORT_KINDS_CASE_TEXT_H
#define ROLLDBG_REPORT_KINDS_CASE_TEXT_H

#include "report/kinds/kind.h"

#define CASE_TEXT_MAX ((size_t)32 << 10) /* maximum bytes of a body; further entries are counted */

/* Zeroed is empty. All text is escaped for a terminal (base/text.h). */
struct case_text {
	struct buf title; /* the worst finding, or the first difference */
	struct buf body;  /* a line for each finding and difference, and the hint */
	const char *kind; /* one word: a rule, a status, "difference", "no-result" */
	uint64_t line;    /* line in the file that the title refers to; 0: unknown */
	int rank;         /* of the difference in the title: see case_text.c */
	size_t count;     /* findings or differences */
	size_t left_out;  /* how many of them are not in the body */
	struct difference_printer printer;
};

/* Adds a difference of the next case. */
void case_text_difference(struct case_text *t, const struct difference *d);
/* Adds the case's findings or problem. The text is complete then, until case_text_clear. */
void case_text_finish(struct case_text *t, const struct report_case *c);
void case_text_clear(struct case_text *t);
void case_text_release(struct case_text *t);

/* Appends the escaped id, "lake.0", or a description of a case without one: "lake, all
   samples", "the whole file". */
void case_name(const struct report_case *c, struct buf *out);

#endif
