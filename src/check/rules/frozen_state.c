/* Rule frozen-state: calls were made, but nothing changed. */
#include "check/check.h"

#include "facts/streak.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS_MIN 3

struct frozen {
	struct span sent; /* calls of tools not known to be read-only, answered or refused */
	int64_t learned;  /* calls of tools that are read-only in the baseline; not included */
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct frozen *s = state;
	if (m->outside_episode) {
		return;
	}
	if (m->idle) {
		s->learned += m->tool >= 0 && r->tools[m->tool].learned;
		return;
	}
	span_add(&s->sent, m->line->turn, m->line->step);
}

/* Describes whether the calls reached the environment, from its own step count. */
static void describe_count(const struct rollout_facts *r, char *out, size_t size)
{
	if (r->env_count.reported >= 2 && r->env_count.moved) {
		snprintf(out, size,
		         "the environment was reached (its own step count went from %" PRId64 " "
		         "to %" PRId64 "): possible causes are a wall, wrong arguments or a "
		         "frozen environment",
		         r->env_count.first, r->env_count.now);
	} else if (r->env_count.reported >= 2) {
		snprintf(out, size,
		         "no call seems to have reached the environment: its own step count "
		         "stayed at %" PRId64,
		         r->env_count.now);
	} else {
		snprintf(out, size, "no call had an effect");
	}
}

static bool is_rewarded(const struct rollout_facts *r, const struct derived_line *m)
{
	double total;

	if (m->line && json_double(m->line->value[KEY_TOTAL_REWARD], &total)) {
		return total > 0;
	}
	return r->reward_known && r->reward_sum > 0;
}

/* Rollouts in which every call failed are reported by other rules. */
static bool is_about_failures(const struct rollout_facts *r)
{
	return r->episode.failed == r->episode.steps || r->failed_run >= STREAK_LONG;
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct frozen *s = state;
	const struct episode_counts *e = &r->episode;
	bool rewarded = is_rewarded(r, m), lowered = rewarded || r->by_chance;
	char count[240], failed[64] = "", apart[96] = "";

	if (r->movement != MOVEMENT_NONE || s->sent.count < CALLS_MIN || is_about_failures(r)) {
		return;
	}
	describe_count(r, count, sizeof(count));
	if (e->failed) {
		snprintf(failed, sizeof(failed), " (%" PRId64 " of them failed)", e->failed);
	}
	if (s->learned) {
		snprintf(apart, sizeof(apart),
		         "; not counting %" PRId64
		         " of tools that are read-only according to the baseline",
		         s->learned);
	}
	finding_add(out, lowered ? SEVERITY_WARNING : SEVERITY_ERROR, &s->sent,
	            e->unchanged ? "/state" : "/observation",
	            "%" PRId64 " calls%s, and %s from first to last; %s%s%s%s", s->sent.count,
	            failed, e->unchanged ? "the state is the same" : "all replies are equal", count,
	            rewarded ? "; a reward was earned anyway" : "",
	            r->by_chance ? "; in another rollout, effects of these calls depend on chance"
	                         : "",
	            apart);
}

const struct check check_frozen_state = {
	.id = "frozen-state",
	.title = "three or more calls were made, and nothing changed",
	.severity = SEVERITY_ERROR,
	.lowered = "a reward above zero was earned anyway, or effects depend on chance: in another "
		   "rollout, one of the calls had no effect in this state, and later had one",
	.explains = {&check_loop, &check_reward_without_effect},
	.why = "The state is the same from the first call to the last, although the state source "
	       "could have shown a change; or the state is unknown, all replies are equal and the "
	       "environment's own step count does not change. If the replies differ while state "
	       "and step count do not change, they come from a different environment from the one "
	       "whose state is read. Calls of tools with readOnlyHint are not counted, nor those "
	       "named by \1read_only\2 and \1noop\2.\n"
	       "These do not count as changes of the state:\n"
	       "- members that change without a call: clocks, generated ids, and such words of a "
	       "text;\n"
	       "- numbers that grow by as many seconds as pass: at each of several readings with "
	       "three or more decimals, else if they also grew before the last reading, which "
	       "a run makes after a pause;\n"
	       "- new times and UUIDs after each call, if other values stay and the replies are "
	       "equal;\n"
	       "- call counters, if the replies are equal or short and always the same for the same "
	       "call;\n"
	       "- the first change of a state that is or repeats the reply, if it is the only one: "
	       "the reset's observation may have another form;\n"
	       "- texts that differ only in words of the call (\"You go north.\"), if all replies "
	       "do, too;\n"
	       "- 0.0 instead of -0.0, rounding in the last digit, and the order of a list whose "
	       "elements also change places without a call;\n"
	       "- the keys of a state that are new ids at each reading, if its values stay and the "
	       "replies are equal.\n"
	       "The verdict is unknown if a number that changes without a call also changes with "
	       "the calls: the level of a leaking tank that calls fill, or the joints of a robot, "
	       "read with noise. This shows in changes that depend on the call or are multiples of "
	       "its argument; in large and small changes with nothing between (a factor of 30 in "
	       "each of two numbers, or of 100 in one) that are neither a clock's nor a spike; or "
	       "in changes that are always nearly the same, but not at the pace of a clock. It is "
	       "also unknown if in a text that changes without a call, words at "
	       "least twice change back to an earlier value, which times and ids never do, or "
	       "if the replies report errors whose "
	       "members are always the same but whose lists grow or shrink or whose flags differ, "
	       "such as those of a compiler.\n"
	       "Replies count as equal if they differ only in:\n"
	       "- ids and tokens that are new each time, and timestamps of a log;\n"
	       "- one number that grows or falls evenly, while the environment counts no step;\n"
	       "- words and numbers of the call;\n"
	       "- durations of programs, if every reply has an exit code other than 0.\n"
	       "They also count as equal if the environment counts no step, they differ in numbers "
	       "only, and they lack all members of the reset's observation, some of which the "
	       "state has; if each tool gave one reply only, one of them to three or "
	       "more calls that were not all the same; or if every reply has the exit code 126 or "
	       "127: no command was run.\n"
	       "If the replies depend only on the calls, the state source could have shown a "
	       "change if any of these holds:\n"
	       "- the state consists only of digests;\n"
	       "- calls name members of the state;\n"
	       "- some call was repeated, and the state contains the content of its reply.\n"
	       "Look at env_steps first. If it grows, the calls reach the environment but have "
	       "no effect: a wall, wrong arguments, read-only tools, or a frozen environment. If "
	       "it does not grow, the calls do not reach it: look at the session ids in meta, "
	       "and at what a proxy does with them.\n"
	       "Fix: send the same session id with every call of the rollout; name a state "
	       "source that shows what the calls change (\1state\2); mark read-only tools.",
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct frozen),
	.line = line,
	.end = end,
};
