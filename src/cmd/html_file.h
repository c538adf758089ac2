/* The file of --html: one page, written while the recordings are read and renamed into place when
   complete. */
#pragma once

#include "base/new_file.h"
#include "cmd/cmd.h"
#include "recording/reader.h"
#include "report/html/page.h"

/* A zeroed one is not open. */
struct html_file {
	struct page_conf conf;
	struct new_file file;
	struct html_page *page;
	struct buf text;
	const char *recording; /* the recording being read */
	int side;              /* 0 or 1 if two recordings are compared; else -1 */
};

/* Refuses "-" for commands that print results to standard output: FAIL_USAGE. path may be NULL. */
MUST_USE int html_file_check(const char *path, struct error *err);

/* FAIL_USAGE: an existing file that is not a page, as a forgotten operand must not overwrite a file.
   `path` "-" is standard output. The caller sets h->conf. */
MUST_USE int html_file_open(struct html_file *h, const char *path, struct error *err);
/* As in page.h. Write errors are kept for html_file_publish. */
void html_file_line(struct html_file *h, const struct evidence_update *u);
void html_file_verdict(struct html_file *h, const struct rollout_verdict *v);
void html_file_note(struct html_file *h, const char *text);
void html_file_summary(struct html_file *h, const struct judge *j, int64_t unfinished);
/* Ends the page and renames it into place. FAIL_SYSTEM. */
MUST_USE int html_file_publish(struct html_file *h, struct error *err);
void html_file_release(struct html_file *h); /* removes an unpublished page */

/* ---- a page of recordings that are judged only for it ---- */

/* With all rules: for commands whose own result is not a verdict, or is added to the page. */
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
   Recordings without their beginning or end are shown as far as they go. *unusable, unless NULL, becomes
   the number of those that could not be used: they are named in the page and, unless the command has already
   done so, on standard error. */
MUST_USE int html_judge_finish(struct html_judge *h, size_t *unusable, struct error *err);
void html_judge_free(struct html_judge *h); /* NULL is fine; removes an unfinished page */
