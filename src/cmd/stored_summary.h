/* What `list` says of a recording: where it comes from, and the verdict. */
#ifndef ROLLDBG_CMD_STORED_SUMMARY_H
#define ROLLDBG_CMD_STORED_SUMMARY_H

#include "base/mem.h"
#include "check/judge.h"

enum stored_verdict {
	STORED_CLEAN,
	STORED_WARNING,
	STORED_ERROR,    /* a finding, or a rollout that was refused or failed */
	STORED_UNKNOWN,  /* nothing was found, and no step could be judged */
	STORED_UNUSABLE, /* no recording that can be read */
	STORED_VERDICTS
};
const char *stored_verdict_name(enum stored_verdict v);

struct stored_summary {
	enum stored_verdict verdict;
	struct judge_summary sums;
	/* Of the first rollout, in the arena; absent where there is none. */
	struct str task, env, protocol, url, started, status;
	int64_t tasks;                 /* different ones follow one another; at least 1 */
	const char *rules[CHECKS_MAX]; /* of the findings, the first one's first */
	size_t rule_count;
	char why[200]; /* it is unusable */
};

/* Reads and judges one file. */
void stored_summarize(const char *path, struct arena *arena, struct stored_summary *out);

bool stored_summary_found(const struct stored_summary *s, const char *rule);

#endif
