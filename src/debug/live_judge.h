/* Judges a live rollout while it is recorded: neither the effects of its steps nor its verdict need
   a second reading of the recording. Used by the rollout's thread, and by another one only while the
   rollout waits or is over. */
#ifndef ROLLDBG_DEBUG_LIVE_JUDGE_H
#define ROLLDBG_DEBUG_LIVE_JUDGE_H

#include "debug/effects.h"
#include "debug/judged.h"

struct live_judge {
	struct judge *judge;
	struct effects effects;
	int64_t position, sent; /* of the newest step line; of the newest one with a call */
	judged_fn *verdict;
	void *user;
};

/* `path` names the recording and is borrowed; `verdict` is called when the rollout ends, in its
   thread. */
MUST_USE int live_judge_open(struct live_judge *j, const char *path, judged_fn *verdict, void *user,
                             struct error *err);
void live_judge_close(struct live_judge *j); /* zeroed is fine */

/* The rollout's next line. */
MUST_USE int live_judge_line(struct live_judge *j, const struct line *l, struct error *err);

#endif
