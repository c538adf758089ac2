/* Judging many files, optionally in several threads; the output equals that of one thread. */
#ifndef ROLLDBG_CMD_CHECK_FILES_H
#define ROLLDBG_CMD_CHECK_FILES_H

#include "cmd/verdicts.h"
#include "trajectory/reader.h"

struct file_checking {
	const struct file_list *files;
	const struct judge_conf *conf; /* conf of `judge` */
	struct judge *judge;
	struct verdicts *verdicts; /* used as ctx of conf */
	size_t unusable;           /* files that were skipped */
};

/* Judges all files and prints verdicts in file order; the caller prints the summary. */
MUST_USE int check_each_file(struct file_checking *c, size_t jobs, struct error *err);

#endif
