/* A page of recordings that are judged for it alone, with all rules: for commands whose own result
   is no verdict. */
#ifndef ROLLDBG_CMD_HTML_JUDGE_H
#define ROLLDBG_CMD_HTML_JUDGE_H

#include "cmd/html_file.h"
#include "trajectory/reader.h"

struct html_job {
	const char *path;    /* of the page; "-": standard output */
	const char *command; /* as in struct page_conf */
	const char *rollout; /* show no other one; NULL: all */
};

/* FAIL_USAGE also if there is no such rollout. Recordings that have lost their beginning or end are shown
   as far as they go. */
MUST_USE int html_judge(const struct html_job *job, const struct file_list *files,
                        struct error *err);

#endif
