/* The file that an option --html names: one page, written as the recordings are read, which gets
   its name when it is whole. */
#ifndef ROLLDBG_CMD_HTML_FILE_H
#define ROLLDBG_CMD_HTML_FILE_H

#include "cmd/cmd.h"
#include "cmd/report_file.h"
#include "report/html/page.h"
#include "trajectory/reader.h"

/* A zeroed one is not open: what is written to it goes nowhere. */
struct html_file {
	struct page_conf conf;
	struct report_file file;
	struct html_page *page;
	struct buf text;
	const char *recording; /* the one being read */
	int side;              /* of two that are compared: 0 or 1; else -1 */
};

/* The commands whose standard output is a result refuse "-": FAIL_USAGE. NULL is fine. */
MUST_USE int html_file_check(const char *path, struct error *err);

/* FAIL_USAGE: the path is one of the recordings, or something else that is no such page: nobody
   who forgets an operand shall lose a file. `path` "-" is standard output. h->conf is set. */
struct html_inputs {
	const struct file_list *list[2]; /* the second may be NULL */
};
MUST_USE int html_file_open(struct html_file *h, const char *path,
                            const struct html_inputs *recordings, struct error *err);
/* As in page.h. Failures to write are kept for html_file_publish. */
void html_file_line(struct html_file *h, const struct facts_update *u);
void html_file_verdict(struct html_file *h, const struct rollout_verdict *v);
void html_file_note(struct html_file *h, const char *text);
void html_file_results(struct html_file *h, struct str lines);
void html_file_summary(struct html_file *h, const struct judge *j, int64_t unfinished);
/* Ends the page and gives the file its name. FAIL_SYSTEM. */
MUST_USE int html_file_publish(struct html_file *h, struct error *err);
void html_file_release(struct html_file *h); /* removes what was not published */

#endif
