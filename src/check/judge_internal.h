/* Private to the judge: its state, and the part of it that is written and read again (part.c). */
#ifndef ROLLDBG_CHECK_JUDGE_INTERNAL_H
#define ROLLDBG_CHECK_JUDGE_INTERNAL_H

#include "check/groups.h"
#include "check/judge.h"

struct rule_instance {
	const struct check *check;
	size_t state; /* offset in the states of a rollout */
	bool not_checked;
};

struct judge {
	struct judge_conf conf;
	struct evidence *facts;
	const char *file;
	bool many;     /* there are several files */
	bool headless; /* lines without a header were reported for this file */
	struct rule_instance rules[CHECKS_MAX];
	size_t rule_count;
	uint64_t by_kind[KINDS]; /* the rules that need that kind */
	struct groups groups;
	struct judge_summary sum;
	double reward, file_reward; /* sums: of earlier files; of this file */
	bool reward_known;
	char not_checked[1024];
};

#endif
