/* A page of recordings that are judged for it alone, with all rules: for commands whose own result is
   no verdict, or is put in the page beside it. */
#ifndef ROLLDBG_CMD_HTML_JUDGE_H
#define ROLLDBG_CMD_HTML_JUDGE_H

#include "cmd/html_file.h"
#include "trajectory/reader.h"

struct html_job {
	const char *path;    /* of the page; "-": standard output */
	const char *command; /* as in struct page_conf */
	const char *rollout; /* show no other one; NULL: all */
	/* One list, or two that are compared; borrowed. */
	const struct file_list *sides[2];
};

struct html_judge;

/* Opens the page. FAIL_USAGE as html_file_open, and where standard input would have to be read a
   second time, after the command itself (`again`). */
MUST_USE int html_judge_new(const struct html_job *job, bool again, struct html_judge **out,
                            struct error *err);
/* Puts the command's own results into the page: JSON lines. */
void html_judge_results(struct html_judge *h, struct str lines);
/* Reads the recordings and gives the page its name. FAIL_USAGE also if there is no such rollout.
   Recordings that have lost their beginning or end are shown as far as they go. */
MUST_USE int html_judge_finish(struct html_judge *h, struct error *err);
/* How many of several recordings could not be used: they are named in the page and, unless the
   command itself has done so, on standard error. */
size_t html_judge_unusable(const struct html_judge *h);
void html_judge_free(struct html_judge *h); /* NULL is fine; removes what was not finished */

#endif
