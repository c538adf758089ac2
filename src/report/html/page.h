/* The folder report/html/: one self-contained page that shows recordings in a browser. C writes the
   page as a stream: the template (page.html with page.css and the scripts, see template.h), and in
   its middle the data, one JSON value a line:

   {"type":"step",..}   a line of a recording, as it was recorded
   ["step",..]          what the program says of recorded lines, an array whose first element
                        names it (data.js)

   What the page claims (outcomes, effects, changed pointers, findings) is decided here, by facts/ and check/; the
   scripts arrange it and never judge. */
#ifndef ROLLDBG_REPORT_HTML_PAGE_H
#define ROLLDBG_REPORT_HTML_PAGE_H

#include "report/report.h"

struct page_conf {
	const char
		*command; /* the page opens on what it is about: "show", "check", "diff", "stats" */
	const char *rollout; /* leave out the lines of all others; NULL: none */
	/* Appends a text with the settings that it names as the user writes them (base/settings.h). */
	void (*put_text)(struct buf *out, const char *text);
};

struct html_page;

/* Appends the beginning of the page. conf must outlive the page. */
struct html_page *page_new(const struct page_conf *conf, struct buf *out);
void page_free(struct html_page *p); /* NULL is fine */

/* Where a line comes from. */
struct page_source {
	const char *file;
	int side; /* of two recordings that are compared: 0 or 1; else -1 */
};
/* For struct judge_conf.line: one line of a recording and what it shows. */
void page_line(struct html_page *p, const struct facts_update *u, const struct page_source *from,
               struct buf *out);
/* For struct judge_conf.verdict. */
void page_verdict(struct html_page *p, const struct rollout_verdict *v, struct buf *out);
/* A note for the reader, such as that the last line is truncated. */
void page_note(struct html_page *p, const char *text, struct buf *out);
/* The command's own results, JSON lines as it prints them. */
void page_results(struct html_page *p, struct str lines, struct buf *out);
/* The summary over all rollouts. */
void page_summary(struct html_page *p, const struct judge *j, int64_t unfinished, struct buf *out);
void page_end(struct html_page *p, struct buf *out);

#endif
