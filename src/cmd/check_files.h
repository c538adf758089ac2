/* Judging many files, in several threads where asked for: the output is that of one thread. */
#ifndef ROLLDBG_CMD_CHECK_FILES_H
#define ROLLDBG_CMD_CHECK_FILES_H

#include "cmd/verdicts.h"
#include "trajectory/reader.h"

struct file_checking {
	const struct file_list *files;
	const struct judge_conf *conf; /* of the judge */
	struct judge *judge;
	struct verdicts *verdicts; /* of the same conf */
	size_t unusable;           /* files that were passed over */
};

/* Judges all files, in their order as far as anybody can see, and prints verdicts as they come; the
   summary is the caller's. */
MUST_USE int check_each_file(struct file_checking *c, size_t jobs, struct error *err);

#endif
