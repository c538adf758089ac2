/* The file of --html: one page, written while the recordings are read and renamed into place when
   complete. */
#ifndef ROLLDBG_CMD_HTML_FILE_H
#define ROLLDBG_CMD_HTML_FILE_H

#include "base/new_file.h"
#include "cmd/cmd.h"
#include "report/html/page.h"

/* A zeroed one is not open: writes to it are discarded. */
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
void html_file_results(struct html_file *h, struct str lines);
void html_file_summary(struct html_file *h, const struct judge *j, int64_t unfinished);
/* Ends the page and renames it into place. FAIL_SYSTEM. */
MUST_USE int html_file_publish(struct html_file *h, struct error *err);
void html_file_release(struct html_file *h); /* removes an unpublished page */

#endif
