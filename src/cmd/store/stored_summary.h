/* The row of a recording in `list`: its origin and its verdict. */
#ifndef ROLLDBG_CMD_STORE_STORED_SUMMARY_H
#define ROLLDBG_CMD_STORE_STORED_SUMMARY_H

#include "base/mem.h"
#include "check/judge.h"

enum stored_verdict {
	STORED_CLEAN,
	STORED_WARNING,
	STORED_ERROR,    /* a finding, or a rollout that was refused or failed */
	STORED_UNKNOWN,  /* no finding, and no step could be judged */
	STORED_UNUSABLE, /* not readable as a recording */
	STORED_VERDICTS
};
const char *stored_verdict_name(enum stored_verdict v);

struct stored_summary {
	enum stored_verdict verdict;
	struct judge_summary sums;
	/* Of the first rollout, in the arena; absent if not recorded. */
	struct str task, env, protocol, url, started, status;
	/* runs of consecutive rollouts with the same task; at least 1 */
	int64_t tasks;
	const char *rules[CHECKS_MAX]; /* rules with findings, in order of their first finding */
	size_t rule_count;
	char why[200]; /* why it is unusable */
};

/* Reads and judges one file. */
void stored_summarize(const char *path, struct arena *arena, struct stored_summary *out);

bool stored_summary_found(const struct stored_summary *s, const char *rule);

#endif
