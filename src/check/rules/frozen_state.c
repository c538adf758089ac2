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
		         "the environment's own step count went from %" PRId64 " to %" PRId64
		         ", so it was reached: look for a wall, wrong arguments "
		         "or a frozen environment",
		         r->env_count.first, r->env_count.now);
	} else if (r->env_count.reported >= 2) {
		snprintf(out, size,
		         "the environment counted none of them (its own step count stayed at "
		         "%" PRId64 "): look at the session ids in meta",
		         r->env_count.now);
	} else {
		snprintf(out, size, "the environment's own step count is unknown");
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
		snprintf(failed, sizeof(failed), " (%" PRId64 " failed)", e->failed);
	}
	if (s->learned) {
		snprintf(apart, sizeof(apart),
		         "; not counting %" PRId64 " of tools that are read-only in the baseline",
		         s->learned);
	}
	finding_add(out, lowered ? SEVERITY_WARNING : SEVERITY_ERROR, &s->sent,
	            e->unchanged ? "/state" : "/observation", "%" PRId64 " calls%s %s; %s%s%s%s",
	            s->sent.count, failed,
	            e->unchanged ? "left the state unchanged" : "got equal replies", count,
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
	.why = "Calls were made, but the state is the same from the first call to the last, "
	       "although the state source could have shown a change; or the state is "
	       "unknown, all replies are equal and the environment's own step count does not "
	       "change. Calls of tools with readOnlyHint are not counted, nor those named by "
	       "\1read_only\2 and \1noop\2.\n"
	       "Look at env_steps first. If it grows, the calls reach the environment but "
	       "have no effect: a wall, wrong arguments, read-only tools, or a frozen "
	       "environment. If it does not grow, the calls do not reach it: look at the "
	       "session ids in meta, and at what a proxy does with them. If the replies "
	       "differ although state and step count do not change, the state is read from "
	       "an environment other than the one that replies.\n"
	       "Fix: send the same session id with every call of the rollout; name a state "
	       "source that shows what the calls change (\1state\2); mark read-only tools.\n"
	       "The following do not count as changes of the state:\n"
	       "- members that change without a call: clocks, generated ids, and words in a text "
	       "that do;\n"
	       "- clocks that count seconds: numbers that grow by as much time as passes. "
	       "With three or more decimals each of several readings must show it; otherwise "
	       "the number must also have grown before the last reading, which run makes "
	       "after a pause;\n"
	       "- times and UUIDs that are new after each call, if nothing else changes and "
	       "the replies are equal;\n"
	       "- call counters, if the replies are equal, or short and always the same for "
	       "the same call;\n"
	       "- the first change of a state that is or repeats the reply, if there is no "
	       "other: the reset's observation may have a different form;\n"
	       "- texts that differ only in words of the call (\"You go north.\"), if all "
	       "replies do, too;\n"
	       "- 0.0 instead of -0.0, rounding in the last digit, and the order of a list "
	       "whose elements also change places without a call;\n"
	       "- the keys of a state that are new ids at each reading, if its values stay and "
	       "the replies are equal.\n"
	       "Replies count as equal if they differ only in:\n"
	       "- ids and tokens that are new each time, and timestamps of a log;\n"
	       "- one number that grows or falls evenly, while the environment counts no "
	       "step;\n"
	       "- words and numbers of the call;\n"
	       "- durations of programs, if every reply has an exit code other than 0.\n"
	       "They also count as equal if any of these holds:\n"
	       "- the environment counts no step, the replies differ only in numbers, and "
	       "they have none of the members of the reset's observation, although the state "
	       "has some;\n"
	       "- each tool always gave the same reply, and one of them gave it to three or "
	       "more calls that were not all the same;\n"
	       "- every reply has the exit code 126 or 127: no command was run.\n"
	       "If the replies depend only on the calls, the state source could have shown a "
	       "change if any of these holds:\n"
	       "- the state consists only of digests;\n"
	       "- calls name members of the state;\n"
	       "- some call was repeated, and the state contains the content of its reply.\n"
	       "The verdict is unknown if any of these holds:\n"
	       "- a number that changes without a call also changes with the calls: the level "
	       "of a leaking tank that calls fill, or the joints of a robot, read with noise. "
	       "Its changes depend on the call or are multiples of its argument; or some are "
	       "large, others small and none between (a factor of 30 in each of two numbers, "
	       "or of 100 in one), unlike those of a clock or a spike; or they are always "
	       "nearly the same, but not at the pace of a clock; or three of them are 30 times "
	       "as large as those without a call, which run records in the header (meta.volatile);"
	       "\n"
	       "- in a text that is ignored as a whole because it changes without a call, words "
	       "change back to an earlier value at least twice, which times and ids never do;"
	       "\n"
	       "- the replies report errors that always have the same members, but whose "
	       "lists grow or shrink or whose flags differ, such as those of a compiler.",
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct frozen),
	.line = line,
	.end = end,
};
