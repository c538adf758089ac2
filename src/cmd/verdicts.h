/* What `run` and `check` do with verdicts alike: print them, count them, turn them into
 * an exit code. */
#ifndef ROLLDBG_CMD_VERDICTS_H
#define ROLLDBG_CMD_VERDICTS_H

#include "cmd/cmd.h"
#include "cmd/output.h"

/* Options that both commands have, for their tables. */
struct verdict_options {
	bool json;
	const char *fail_on, *only, *without;
	const char *read_only, *noop;
	struct opt_list expected, baselines;
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
	         "exit 1 on findings of this severity or worse (default error)",         \
	         "error|warning|info|never"},                                            \
		{0,                                                                      \
	         "only",                                                                 \
	         "RULES",                                                                \
	         OPT_STR,                                                                \
	         (base) + OPT(struct verdict_options, only),                             \
	         "apply only these rules (comma separated)",                             \
	         NULL},                                                                  \
		{0,                                                                      \
	         "without",                                                              \
	         "RULES",                                                                \
	         OPT_STR,                                                                \
	         (base) + OPT(struct verdict_options, without),                          \
	         "skip these rules (comma separated)",                                   \
	         NULL},                                                                  \
		{0,                                                                      \
	         "read-only",                                                            \
	         "PATTERNS",                                                             \
	         OPT_STR,                                                                \
	         (base) + OPT(struct verdict_options, read_only),                        \
	         "tools that change nothing, such as get_*,search_*; added to those "    \
	         "with readOnlyHint",                                                    \
	         NULL},                                                                  \
		{0,                                                                      \
	         "noop",                                                                 \
	         "NAMES",                                                                \
	         OPT_STR,                                                                \
	         (base) + OPT(struct verdict_options, noop),                             \
	         "tools, or values of a call's only argument, that are meant to do "     \
	         "nothing",                                                              \
	         NULL},                                                                  \
		{0,                                                                      \
	         "baseline",                                                             \
	         "FILE|DIR",                                                             \
	         OPT_LIST,                                                               \
	         (base) + OPT(struct verdict_options, baselines),                        \
	         "take tools as read-only that carry no hint and changed nothing in "    \
	         "these recordings",                                                     \
	         NULL},                                                                  \
	{                                                                                \
		0, "expect-error", "TURN|PATTERN", OPT_LIST,                             \
			(base) + OPT(struct verdict_options, expected),                  \
			"a step that is expected to fail: its turn, or its message (* "  \
			"is any text)",                                                  \
			NULL                                                             \
	}

#define VERDICT_RULES_MAX 64

/* Findings of one rule that are counted instead of shown. */
struct held_back {
	const char *rule;
	enum severity severity; /* of the worst */
	int64_t shown, held;
};

struct verdicts {
	const struct context *context;
	struct output out;
	bool json;
	enum whose whose;    /* finding it is: what of that is said */
	const char *fail_on; /* NULL: error */
	int64_t at_or_above; /* findings that fail */
	int64_t broken; /* rollouts that were refused, or lost their peer, or failed */
	int64_t unfinished; /* rollouts that did not run to an end of their own */
	int64_t show_max;   /* findings of a rule that people are shown; 0: all */
	struct held_back held[VERDICT_RULES_MAX];
	size_t held_count;
};

/* struct judge_conf.verdict, with a struct verdicts as ctx. */
void verdicts_take(void *ctx, const struct rollout_verdict *v);
/* What the options say about tools and errors; borrows from them. FAIL_INPUT: a baseline
   cannot be read. told_release it either way. */
MUST_USE int verdict_told(const struct verdict_options *o, struct told *out,
                          struct error *err);
void told_release(struct told *t);
/* Appends the summary to out. */
void verdicts_summary(struct verdicts *v, const struct judge *j);

#endif
