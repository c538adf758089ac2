/* Judges a live rollout while it is recorded, so that effects and verdict do not require reading
   the recording again. Used by the rollout's thread; another thread may use it only while the
   rollout waits or is over. */
#ifndef ROLLDBG_DEBUG_LIVE_JUDGE_H
#define ROLLDBG_DEBUG_LIVE_JUDGE_H

#include "debug/judged.h"
#include "evidence/effects.h"

struct live_judge {
	struct judge *judge;
	struct effect_list effects; /* final when the rollout is over */
	judged_fn *verdict;
	void *user;
};

/* `path`, the recording's name, is borrowed; `verdict` is called in the rollout's thread when it
   ends. */
MUST_USE int live_judge_open(struct live_judge *j, const char *path, judged_fn *verdict, void *user,
                             struct error *err);
void live_judge_close(struct live_judge *j); /* zeroed is fine */

/* Passes the rollout's next line. */
MUST_USE int live_judge_line(struct live_judge *j, const struct line *l, struct error *err);

#endif
