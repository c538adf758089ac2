/* The findings of one rollout: a bounded list, sorted when the rollout ends. */
#ifndef ROLLDBG_CHECK_FINDINGS_H
#define ROLLDBG_CHECK_FINDINGS_H

#include "check/check.h"

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

#endif
