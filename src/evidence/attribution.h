/* What a failed or void rollout is attributed to: one cause of attribution.def. A rollout is void if no
   call of it was answered; it failed if it was refused, lost its peer or was cut off, if its last
   calls failed for a reason that is not the policy's, or if its session was replaced. Any other
   rollout was played: it has no cause, and its reward is the policy's. */
#pragma once

#include "recording/line.h"

enum failure_cause {
	FAILURE_NONE,
#define FAILURE_CAUSE(id, word, whose, meaning) FAILURE_##id,
#include "evidence/attribution.def"
	FAILURE_CAUSES
};

const char *failure_cause_name(enum failure_cause c);    /* "policy"; NULL for FAILURE_NONE */
const char *failure_cause_meaning(enum failure_cause c); /* a clause; not for FAILURE_NONE */
/* Does it count in environment_failure_rate? */
bool failure_of_environment(enum failure_cause c);

/* Numbers of rollouts. */
struct failure_count {
	int64_t of[FAILURE_CAUSES]; /* that failed or are void, by cause */
	int64_t no_rewards;         /* with a reward that is none */
};
void failure_count_take(struct failure_count *c, enum failure_cause cause, bool no_reward);
void failure_count_add(struct failure_count *to, const struct failure_count *from);
/* Those that count in environment_failure_rate. */
int64_t failures_of_environment(const struct failure_count *c);

/* What the lines so far say; zeroed at the header. */
struct attribution {
	enum failure_cause reset,
		calls;         /* of the reset; of the calls since the last answered one */
	bool answered;         /* some call was */
	bool replaced;         /* the session, after that */
	bool unread;           /* the reward or the status of the last answered call */
	bool model_failed;     /* the model's server gave no reply to the last turn */
	int64_t tool_failures; /* calls that failed in their tool */
};

void attribution_reset(struct attribution *a, const struct line *l);
/* A call that was sent and failed, or, with `sent` false, one that was not sent. */
void attribution_failed(struct attribution *a, const struct line *l, bool sent);

/* What is known when the rollout is over. */
struct attribution_end {
	enum end_status status;
	struct str reason; /* absent: none */
	/* Nothing shows that it should have made calls: none was tried, and the tools are unknown. */
	bool talk;
	bool no_tools;  /* the environment offered none */
	bool effective; /* some call had an effect */
	bool rewarded;  /* its reward is known, and above 0 */
};
enum failure_cause attribution_find(const struct attribution *a, const struct attribution_end *e);
