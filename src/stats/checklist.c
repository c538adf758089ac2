/* The checklist of a healthy run: see checklist.h. */
#include "stats/checklist.h"

#include <inttypes.h>
#include <stdio.h>

const char *check_status_name(enum check_status s)
{
	static const char *const names[] = {"ok", "fail", "unknown"};

	return names[s];
}

/* Sets the status and a printf-formatted sentence. */
static enum check_status PRINTF_LIKE(3, 4)
	say(struct checklist_line *l, enum check_status s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(l->value, sizeof(l->value), fmt, args);
	va_end(args);
	return s;
}

static int64_t whole(const struct metrics *m, int sum)
{
	return (int64_t)m->sum[sum];
}

static bool any(const struct metrics *m, int sum)
{
	return m->sum[sum] > 0;
}

static enum check_status tools(const struct metrics *m, struct checklist_line *l)
{
	if (!any(m, SUM_ROLLOUTS))
		return say(l, CHECK_UNKNOWN, "no rollout");
	return say(l, any(m, SUM_USED_TOOLS) ? CHECK_OK : CHECK_FAIL,
	           "%" PRId64 " of %" PRId64 " rollout%s called a tool", whole(m, SUM_USED_TOOLS),
	           whole(m, SUM_ROLLOUTS), plural(whole(m, SUM_ROLLOUTS)));
}

static enum check_status reward(const struct metrics *m, struct checklist_line *l)
{
	if (!any(m, SUM_REWARDS))
		return say(l, CHECK_UNKNOWN, "no rollout has a reward");
	return say(l, any(m, SUM_REWARD_POSITIVE) ? CHECK_OK : CHECK_FAIL,
	           "positive in %" PRId64 " of %" PRId64 " rollout%s with a reward",
	           whole(m, SUM_REWARD_POSITIVE), whole(m, SUM_REWARDS),
	           plural(whole(m, SUM_REWARDS)));
}

static enum check_status logprobs(const struct metrics *m, struct checklist_line *l)
{
	if (!any(m, SUM_LOGPROBS))
		return say(l, CHECK_UNKNOWN, "none recorded");
	if (any(m, SUM_LOGPROBS_BAD)) {
		return say(l, CHECK_FAIL, "%" PRId64 " of %" PRId64 " are missing or above 0",
		           whole(m, SUM_LOGPROBS_BAD), whole(m, SUM_LOGPROBS));
	}
	if (any(m, SUM_LOGPROBS_ZEROS)) {
		return say(l, CHECK_FAIL,
		           "all 0 in %" PRId64 " of %" PRId64 " turn%s with log-probabilities",
		           whole(m, SUM_LOGPROBS_ZEROS), whole(m, SUM_LOGPROB_TURNS),
		           plural(whole(m, SUM_LOGPROB_TURNS)));
	}
	return say(l, CHECK_OK, "%" PRId64 " in %" PRId64 " turn%s, finite and not 0",
	           whole(m, SUM_LOGPROBS), whole(m, SUM_LOGPROB_TURNS),
	           plural(whole(m, SUM_LOGPROB_TURNS)));
}

static enum check_status kl(const struct metrics *m, struct checklist_line *l)
{
	const struct ratios *r = &m->ratios;
	const struct ratio_means means = ratios_means(r);

	if (any(m, SUM_UNEVEN)) {
		return say(
			l, CHECK_FAIL,
			"turns in which the trainer scored a different number of tokens: %" PRId64,
			whole(m, SUM_UNEVEN));
	}
	if (!r->tokens) {
		return say(l, CHECK_UNKNOWN,
		           "no turn has log-probabilities from both engine "
		           "and trainer");
	}
	if (any(m, SUM_TEMPERED)) {
		return say(l, CHECK_UNKNOWN,
		           "k3 %.3f, not comparable: sampled with a temperature, top_p or the like",
		           means.k3);
	}
	return say(l, means.out_of_range || means.shifted ? CHECK_FAIL : CHECK_OK,
	           "k3 %.3f, mean weight %.3f, ess %.3f over %" PRId64 " tokens%s", means.k3,
	           means.weight, means.ess, r->tokens,
	           means.shifted ? "; conditioning_mismatch" : "");
}

static enum check_status advantages(const struct metrics *m, struct checklist_line *l)
{
	if (!any(m, SUM_GROUPS))
		return say(l, CHECK_UNKNOWN, "no task has two rewards to compare");
	if (any(m, SUM_NOT_FINITE)) {
		return say(l, CHECK_FAIL, "not finite in %" PRId64 " of %" PRId64 " group%s",
		           whole(m, SUM_NOT_FINITE), whole(m, SUM_GROUPS),
		           plural(whole(m, SUM_GROUPS)));
	}
	if (any(m, SUM_UNREWARDED)) {
		return say(l, CHECK_FAIL, "rollouts that reached an end without a reward: %" PRId64,
		           whole(m, SUM_UNREWARDED));
	}
	if (m->sum[SUM_ZERO_STD_SAMPLES] == m->sum[SUM_GROUP_SAMPLES]) {
		return say(l, CHECK_FAIL,
		           "all 0: rewards do not differ within any of %" PRId64 " group%s",
		           whole(m, SUM_GROUPS), plural(whole(m, SUM_GROUPS)));
	}
	return say(l, CHECK_OK, "finite in %" PRId64 " group%s, at most %.3f", whole(m, SUM_GROUPS),
	           plural(whole(m, SUM_GROUPS)), m->high[EXTREME_ADVANTAGE]);
}

static enum check_status groups(const struct metrics *m, struct checklist_line *l)
{
	if (!any(m, SUM_SIZED_GROUPS))
		return say(l, CHECK_UNKNOWN, "no recording has a group size");
	return say(l, m->sum[SUM_FULL_GROUPS] == m->sum[SUM_SIZED_GROUPS] ? CHECK_OK : CHECK_FAIL,
	           "complete: %" PRId64 " of %" PRId64 " group%s", whole(m, SUM_FULL_GROUPS),
	           whole(m, SUM_SIZED_GROUPS), plural(whole(m, SUM_SIZED_GROUPS)));
}

void checklist_make(const struct metrics *total, bool supplied,
                    struct checklist_line out[CHECKLIST])
{
	static const struct {
		const char *name;
		enum check_status (*look)(const struct metrics *m, struct checklist_line *l);
	} all[CHECKLIST] = {{"tools", tools}, {"reward", reward},         {"logprobs", logprobs},
	                    {"kl", kl},       {"advantages", advantages}, {"groups", groups}};

	for (size_t i = 0; i < CHECKLIST; i++) {
		out[i] = (struct checklist_line){.name = all[i].name};
		out[i].status =
			all[i].look == kl && !supplied
				? say(&out[i], CHECK_UNKNOWN, "no trainer log-probabilities given")
				: all[i].look(total, &out[i]);
	}
}
