/* Private to the judge: its state, and the part of it that is written and read again (part.c). */
#pragma once

#include "check/groups.h"
#include "check/judge.h"

/* The findings of one rollout: a bounded list, sorted when the rollout ends. */
#define FINDINGS_MAX 256 /* per rollout; the last one's message counts the rest */

struct findings {
	struct finding *list;
	size_t count;
	size_t left_out;  /* number of findings above the cap */
	const char *rule; /* the rule being called; set by the judge */
	/* the current rule could not judge the rollout; cleared by the judge before each call */
	bool not_judged;
};

/* Sets the causes, and sorts: a cause before the findings it explains, then by severity, first
   turn and rule. */
void findings_sort(struct findings *f);
/* Spells the settings in messages; NULL: as bare names. */
void findings_spell(struct findings *f, void (*settings)(char *text, size_t n));
void findings_release(struct findings *f);

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
