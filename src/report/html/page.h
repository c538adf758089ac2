/* The directory report/html/: one self-contained page that shows recordings in a browser. C writes
   the page as a stream: the template (page.html with page.css and the scripts, see template.h),
   with the data in the middle, one JSON value per line:

   {"type":"step",..}   a line of a recording, as recorded
   ["step",..]          facts derived from recorded lines: an array whose first element names its
                        kind (data.js)

   Outcomes, effects, changed pointers and findings are determined by evidence/ and check/; the scripts
   only present them. */
#pragma once

#include "report/report.h"

struct page_conf {
	/* selects the view that opens first: "show", "check", "diff", "stats" */
	const char *command;
	const char *rollout; /* show only this one; NULL: all */
	/* Appends a text, with the settings in it written as options (base/settings.h). */
	void (*put_text)(struct buf *out, const char *text);
};

struct html_page;

/* Appends the beginning of the page. conf must outlive the page. */
struct html_page *page_new(const struct page_conf *conf, struct buf *out);
void page_free(struct html_page *p); /* NULL is fine */

/* The origin of a line. */
struct page_source {
	const char *file;
	int side; /* 0 or 1 if two recordings are compared; else -1 */
};
/* For struct judge_conf.line: one recorded line and the facts derived from it. */
void page_line(struct html_page *p, const struct evidence_update *u, const struct page_source *from,
               struct buf *out);
/* For struct judge_conf.verdict. */
void page_verdict(struct html_page *p, const struct rollout_verdict *v, struct buf *out);
/* A note for the reader, such as that the last line is truncated. */
void page_note(struct html_page *p, const char *text, struct buf *out);
/* The command's own results, as the JSON lines it prints. */
void page_results(struct html_page *p, struct str lines, struct buf *out);
/* The summary over all rollouts. */
void page_summary(struct html_page *p, const struct judge *j, int64_t unfinished, struct buf *out);
void page_end(struct html_page *p, struct buf *out);
