/* Answers that have no member in common with those of calls that changed something, and belong to
   calls that changed nothing: something else may be answering in place of the environment. */
#ifndef ROLLDBG_FACTS_FOREIGN_ANSWERS_H
#define ROLLDBG_FACTS_FOREIGN_ANSWERS_H

#include "facts/common_members.h"
#include "facts/rollout_facts.h"

/* Ready for use if zeroed. */
struct foreign_answers {
	struct span run;       /* the last consecutive ones */
	int64_t effective;     /* of these, calls that had changed something before */
	uint64_t call, answer; /* the first of the run */
	bool calls_differ, answers_differ;
	bool ended; /* a call after one of them was answered otherwise */
	/* What calls that changed something were answered; with the newest reply added. */
	struct common_members members, with_newest;
	int learned; /* number of replies in `members` */
	uint64_t newest_call, newest_answer;
	bool newest_foreign;
};

/* Adds a call and its reply, raw. Long replies are never foreign. */
void foreign_answers_step(struct foreign_answers *f, uint64_t call, struct str answer);

/* Adds the effect of that call. `was_effective`: the same call had changed something before. */
void foreign_answers_effect(struct foreign_answers *f, const struct completed_step *p,
                            bool was_effective);

/* Do different calls get such replies to the end, without an exception? And are they calls that
   change something elsewhere: two had done so; or the environment counts none of the run
   (`uncounted`), and one had done so or all replies are equal. */
bool foreign_answers_took_over(const struct foreign_answers *f, bool uncounted);

#endif
