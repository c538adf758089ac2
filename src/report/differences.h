/* Differences between recordings, as text and as JSON lines. */
#pragma once

#include "compare/compare.h"
#include "report/report.h"

/* ---- the first step at which a replay differs from its golden, and the steps from there on ---- */

/* A golden and its replay. */
struct replayed_pair {
	const struct rollout_copy *want, *got;
};

/* How a rollout ended: its recorded status, or "incomplete" if it has no end; its reward as raw
   JSON. */
struct str rollout_copy_status(const struct rollout_copy *r);
struct str rollout_copy_reward(const struct rollout_copy *r);

/* ---- all differences ---- */

struct difference_printer {
	struct style style;
	bool json;
	bool word_diff;   /* strings as word diffs, also without colors */
	const char *file; /* the file in headings; NULL: omitted */
	/* whose first divergence is printed below the heading; both NULL: not printed */
	struct replayed_pair replayed;
	struct buf rollout; /* rollout and file of the last heading */
	const char *rollout_file;
	int64_t step;        /* step and type of the last line heading */
	enum line_type line; /* LINE_UNKNOWN: none yet */
};

/* Releases what the printer holds. Initialize a printer with zeros except style and json. */
void difference_printer_release(struct difference_printer *p);

/* Appends one difference, below headings for its rollout and line if those changed; as JSON, a line
   {"type":"difference",..}. */
void report_difference(struct difference_printer *p, const struct difference *d, struct buf *out);

/* Appends "step 1  lake_move action=DOWN: /outcome  ok -> tool-error", without a line feed. */
void report_difference_sentence(const struct difference *d, struct buf *out);

/* Its line number in the first recording's file; 0: unknown, or not in that file. */
uint64_t report_difference_line(const struct difference *d);

/* Appends the summary: "2 of 3 rollouts differ: 5 differences in 12 steps"; as JSON, a line
   {"type":"summary",..}. The text is empty if there are no differences. */
void report_difference_summary(const struct compare_count *count, bool json, struct buf *out);
