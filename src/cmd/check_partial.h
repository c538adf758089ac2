/* Partial results of `check`: JSON lines, a head and one line for each file. */
#pragma once

#include "check/judge.h"
#include "cmd/options/output.h"
#include "cmd/options/shard.h"

struct check_division {
	struct shard shard;
	size_t *numbers;  /* positions of the files in the whole list; NULL: those in this one */
	uint64_t options; /* fingerprint of the options that decide verdicts */
};

/* Judges each file by itself and prints the partial result. A file that cannot be judged so is left to
   the merge, which reads it. */
MUST_USE int check_partial_write(const struct judge_conf *conf, const struct file_list *files,
                                 const struct check_division *d, struct output *out,
                                 struct error *err);

struct check_partials;
/* Reads partial results; *files becomes the list of the judged files in their order. FAIL_INPUT also if
   they do not belong together, or a shard is missing or there twice. NULL may be freed. */
MUST_USE int check_partials_read(const struct file_list *partials, uint64_t options,
                                 struct check_partials **out, struct file_list *files,
                                 struct error *err);
/* *out: the judge of file i, to be absorbed by that of all; NULL: the file has to be judged again.
   FAIL_INPUT; then *out may be set, too. */
MUST_USE int check_partials_judge(const struct check_partials *p, size_t i,
                                  const struct judge_conf *conf, struct judge **out,
                                  struct error *err);
/* Passes the verdicts on file i, which has that path, to conf->verdict. FAIL_INPUT. */
MUST_USE int check_partials_verdicts(const struct check_partials *p, size_t i, const char *path,
                                     const struct judge_conf *conf, struct error *err);
void check_partials_free(struct check_partials *p);
