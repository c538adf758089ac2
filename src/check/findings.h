/* Collects what the rules of one rollout say: bounded, sorted when the rollout ends. */
#ifndef ROLLDBG_CHECK_FINDINGS_H
#define ROLLDBG_CHECK_FINDINGS_H

#include "check/check.h"

#define FINDINGS_MAX 256 /* a rollout; more of the same are counted in the last one's message */

struct findings {
	struct finding *list;
	size_t count, room;
	size_t left_out;  /* over the cap */
	const char *rule; /* the one being asked; the judge sets it */
	bool not_judged;  /* it said so; the judge clears it before it asks */
};

/* Finds the causes, and sorts: a cause before what it explains, then severity down, then
   first turn, then rule. */
void findings_sort(struct findings *f);
void findings_release(struct findings *f);

#endif
