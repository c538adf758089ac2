/* Replies that have no member in common with those of calls that changed something, and belong to
   calls that changed nothing: something else may be answering in place of the environment. */
#ifndef ROLLDBG_FACTS_FOREIGN_REPLIES_H
#define ROLLDBG_FACTS_FOREIGN_REPLIES_H

#include "facts/common_members.h"
#include "facts/rollout_facts.h"

/* Ready for use if zeroed. */
struct foreign_replies {
	struct span run;      /* the last consecutive ones */
	int64_t effective;    /* of these, calls that had changed something before */
	uint64_t call, reply; /* the first of the run */
	bool calls_differ, replies_differ;
	bool ended; /* a call after one of them was answered otherwise */
	/* What calls that changed something were answered; with the newest reply added. */
	struct common_members members, with_newest;
	int learned; /* number of replies in `members` */
	uint64_t newest_call, newest_reply;
	bool newest_foreign;
};

/* Adds a call and its reply, raw. Long replies are never foreign. */
void foreign_replies_step(struct foreign_replies *f, uint64_t call, struct str reply);

/* Adds the effect of that call. `was_effective`: the same call had changed something before. */
void foreign_replies_effect(struct foreign_replies *f, const struct completed_step *p,
                            bool was_effective);

/* Do different calls get such replies to the end, without an exception? And are they calls that
   change something elsewhere: two had done so; or the environment counts none of the run
   (`uncounted`), and one had done so or all replies are equal. */
bool foreign_replies_took_over(const struct foreign_replies *f, bool uncounted);

#endif
