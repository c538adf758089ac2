/* Rule frozen-state: calls were answered, but nothing changed. */
#include "check/rule.h"

struct frozen {
	struct span sent; /* answered calls that had to act */
	double reward;    /* of the first */
	bool rewards_differ;
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct frozen *s = state;

	if (m->outside_episode || m->idle)
		return;
	s->reward = s->sent.count ? s->reward : m->reward;
	s->rewards_differ = s->rewards_differ || m->reward != s->reward;
	span_add(&s->sent, m->line->turn, m->line->step);
}

/* One call again and again is a wall; a state that only names the calls may be a catalog from which they
   read: then their replies differ. */
static bool could_show(const struct rollout_facts *r)
{
	return r->verdict.silent ||
	       (r->replies.unlike && (r->state_is_named || !r->replies.differ));
}

/* A reward that varies with the calls, or that a grader gave for the whole: something happened that
   the state does not show. A constant one proves nothing. */
static bool is_rewarded(const struct frozen *s, const struct rollout_facts *r,
                        const struct derived_line *m)
{
	double total = 0;
	bool graded = !r->reward_known && m->line &&
	              json_double(m->line->value[KEY_TOTAL_REWARD], &total) && total > 0;

	return s->rewards_differ || graded;
}

/* All replies are one but for words of the calls, and show a member of the state that stood still: the
   calls were refused, or do what no reply shows. */
static bool only_repeats(const struct rollout_facts *r)
{
	const struct replies *all = &r->replies;

	return r->verdict.moved == 0 && all->count == r->verdict.acting && all->unlike &&
	       all->differ && !all->vary && all->show_state;
}

/* Why it may be healthy after all; NULL: nothing says so. */
static const char *why_doubted(const struct frozen *s, const struct rollout_facts *r,
                               const struct derived_line *m, bool repeats)
{
	return is_rewarded(s, r, m)     ? "; but a reward tells the calls apart"
	       : r->draws && r->invents ? "; but the texts in the calls are made up"
	       : repeats                ? ""
	       : r->verdict.unknown > 0 ? "; but some state before or after a call is unknown"
	                                : NULL;
}

static void close(void *state, const struct rollout_facts *r, const struct derived_line *m,
                  struct findings *out)
{
	const struct frozen *s = state;
	const struct verdict *v = &r->verdict;
	char count[96] = "";

	bool still = verdict_is_still(v) && could_show(r), repeats = !still && only_repeats(r);

	if ((still ? v->still : v->acting) < STILL_CALLS || !(still || repeats) ||
	    r->failed_run >= FAILED_RUN) {
		return;
	}
	if (r->env_count.reported >= 2) {
		snprintf(count, sizeof(count),
		         "; the environment's own step count %s from %" PRId64 " to %" PRId64,
		         r->env_count.moved ? "went" : "stayed", r->env_count.first,
		         r->env_count.now);
	}
	const char *doubt = why_doubted(s, r, m, repeats);

	finding_add(out, doubt ? SEVERITY_WARNING : SEVERITY_ERROR, &s->sent, "/state",
	            "%" PRId64 " calls were answered, and %s%s%s%s", v->acting,
	            repeats ? "all replies are equal but for words of the calls"
	                    : "the state never changed",
	            v->silent ? "; all replies are equal" : "", doubt ? doubt : "", count);
}

const struct check check_frozen_state = {
	.id = "frozen-state",
	.title = "three or more calls were answered, and the state never changed",
	.severity = SEVERITY_ERROR,
	.lowered = "the rewards of the calls differ, a grader gave one for all, a random policy "
		   "made up texts, only words of the calls changed, or some state is unknown",
	.explains = {&check_loop, &check_only_counts, &check_reward_without_effect},
	.why = "Three or more calls that act were answered, not all of them the same, and nothing "
	       "in the state changed but times, ids and bookkeeping. The user named its source, "
	       "another program recorded it, or all replies are equal.\n"
	       "Look at where the state is read: another session, a cache, an environment that is "
	       "not assigned its result, writes that are not committed.\n"
	       "Fix: let the calls and the state source reach one environment; declare read-only "
	       "tools with \1read_only\2; start a server that keeps data on a copy.",
	.wants = KIND_OK,
	.state_size = sizeof(struct frozen),
	.line = line,
	.close = close,
};
