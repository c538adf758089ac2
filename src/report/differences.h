/* Differences between recordings, for people and as JSON lines. */
#ifndef ROLLDBG_REPORT_DIFFERENCES_H
#define ROLLDBG_REPORT_DIFFERENCES_H

#include "report/divergence.h"
#include "report/report.h"

struct difference_printer {
	struct style style;
	bool json;
	bool word_diff;   /* strings word by word, also without colors */
	const char *file; /* it is found in, for headings; NULL: needs no name */
	/* whose first divergence is said below the heading; both NULL: is not */
	struct replayed_pair replayed;
	struct buf rollout; /* whose heading was printed last, and in which file */
	const char *rollout_file;
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

/* Appends the last line: "2 of 3 rollouts differ: 5 differences in 12 steps"; as JSON a line
   {"type":"summary",..}. For people nothing where all agree. */
void report_difference_summary(const struct compare_count *count, bool json, struct buf *out);

#endif
