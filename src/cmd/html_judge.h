/* A page of recordings that are judged only for the page, with all rules: for commands whose own
   result is not a verdict, or is added to the page. */
#ifndef ROLLDBG_CMD_HTML_JUDGE_H
#define ROLLDBG_CMD_HTML_JUDGE_H

#include "cmd/html_file.h"
#include "recording/reader.h"

struct html_job {
	const char *path;    /* of the page; "-": standard output */
	const char *command; /* as in struct page_conf */
	const char *rollout; /* show only this one; NULL: all */
	/* One list, or two to compare; borrowed. */
	const struct file_list *sides[2];
};

struct html_judge;

/* Opens the page. FAIL_USAGE as in html_file_open, and if standard input would have to be read a
   second time, because the command has read it already (`again`). */
MUST_USE int html_judge_new(const struct html_job *job, bool again, struct html_judge **out,
                            struct error *err);
/* Adds the command's own results, as JSON lines, to the page. */
void html_judge_results(struct html_judge *h, struct str lines);
/* Reads the recordings and publishes the page. FAIL_USAGE also if there is no such rollout.
   Recordings without their beginning or end are shown as far as they go. */
MUST_USE int html_judge_finish(struct html_judge *h, struct error *err);
/* The number of recordings that could not be used. They are named in the page and, unless the
   command has already done so, on standard error. */
size_t html_judge_unusable(const struct html_judge *h);
void html_judge_free(struct html_judge *h); /* NULL is fine; removes an unfinished page */

#endif
