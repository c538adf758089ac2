/* What `run` and `check` do with verdicts alike: print them, count them, turn them into
 * an exit code. */
#ifndef ROLLDBG_CMD_VERDICTS_H
#define ROLLDBG_CMD_VERDICTS_H

#include "cmd/cmd.h"
#include "cmd/output.h"

struct verdicts {
	const struct context *context;
	struct output out;
	bool json;
	enum whose whose;    /* finding it is: what of that is said */
	const char *fail_on; /* NULL: error */
	int64_t at_or_above; /* findings that fail */
	int64_t unfinished;  /* rollouts that did not run to an end of their own */
};

/* struct judge_conf.verdict, with a struct verdicts as ctx. */
void verdicts_take(void *ctx, const struct rollout_verdict *v);
/* Appends the summary to out. */
void verdicts_summary(struct verdicts *v, const struct judge *j);

/* Options that both commands have, for their tables. */
struct verdict_options {
	bool json;
	const char *fail_on, *only, *without;
};
#define VERDICT_OPTIONS(base)                                                            \
	{0,                                                                              \
	 "json",                                                                         \
	 NULL,                                                                           \
	 OPT_FLAG,                                                                       \
	 (base) + OPT(struct verdict_options, json),                                     \
	 "print findings, rollouts and a summary as JSON lines",                         \
	 NULL},                                                                          \
		{0,                                                                      \
	         "fail-on",                                                              \
	         "SEVERITY",                                                             \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct verdict_options, fail_on),                          \
	         "exit 1 on findings of at least this severity (default error)",         \
	         "error|warning|info|never"},                                            \
		{0,                                                                      \
	         "only",                                                                 \
	         "RULES",                                                                \
	         OPT_STR,                                                                \
	         (base) + OPT(struct verdict_options, only),                             \
	         "check these rules only (comma separated)",                             \
	         NULL},                                                                  \
	{                                                                                \
		0, "without", "RULES", OPT_STR,                                          \
			(base) + OPT(struct verdict_options, without),                   \
			"leave these rules out (comma separated)", NULL                  \
	}

#endif
