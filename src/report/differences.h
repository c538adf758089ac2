/* Differences between recordings, for people and as JSON lines. */
#ifndef ROLLDBG_REPORT_DIFFERENCES_H
#define ROLLDBG_REPORT_DIFFERENCES_H

#include "compare/compare.h"
#include "report/report.h"

struct difference_printer {
	struct style style;
	bool json;
	const char *file;    /* it is found in, for headings; NULL: needs no name */
	struct buf rollout;  /* whose heading was printed last */
	int64_t step;        /* the same of a line */
	enum line_type line; /* LINE_UNKNOWN: none yet */
};

/* Zeroed but for style and json. */
void difference_printer_release(struct difference_printer *p);

/* Appends one difference, below headings for its rollout and its line where those are new; as
   JSON a line {"type":"difference",..}. */
void report_difference(struct difference_printer *p, const struct difference *d, struct buf *out);

/* Appends "step 1  lake_move action=DOWN: /outcome  ok -> tool-error", without a line feed. */
void report_difference_sentence(const struct difference *d, struct buf *out);

/* The line of the first recording's file that it is in; 0: not known, or it has no such line. */
uint64_t report_difference_line(const struct difference *d);

/* Appends a line that says how far a pair agrees: "ID: 6 -> 4 steps, reward 1 -> 0, 2 missing".
   Nothing where it agrees. `extra`: only the second side has it; NULL is the side that has none. */
void report_difference_stat(const struct rollout_copy *first, const struct rollout_copy *second,
                            const struct compare_count *count, struct style style, struct buf *out);

/* Appends the last line: "2 of 3 rollouts differ: 5 differences in 12 steps"; as JSON a line
   {"type":"summary",..}. For people nothing where all agree. */
void report_difference_summary(const struct compare_count *count, bool json, struct buf *out);

#endif
