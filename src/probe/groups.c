/* The trainer's groups fit the sessions there are, and can differ. */
#include "probe/preflight.h"

#include <inttypes.h>

/* A group that fits only in part waits for the next batch, or trains on less. */
static void judge_room(const struct trainer_plan *t, size_t room, struct property *out)
{
	size_t whole = room / (size_t)t->group_size;

	if (room >= t->sessions) {
		return;
	}
	out->status = PROPERTY_RED;
	property_saw(out, "%zu get an environment: %zu whole group%s at a time", room,
	             whole, plural(whole));
	property_advise(out,
	                "raise the environment's limit to %" PRIu64
	                ", or have per-device batch x accumulation x processes come to "
	                "%zu at most",
	                t->sessions, room);
}

static void judge_tasks(const struct trainer_plan *t, const struct tasks *tasks,
                        struct property *out)
{
	if (!tasks || tasks->count >= t->groups) {
		return;
	}
	out->status = PROPERTY_RED;
	property_saw(out,
	             "%zu task%s for %" PRIu64
	             " prompts a batch: one that is not full is "
	             "left out by TRL, and this one never is",
	             tasks->count, plural(tasks->count), t->groups);
	property_advise(out, "more tasks, or a smaller batch");
}

static bool is_greedy(const struct llm_conf *c)
{
	double t;

	return json_double(JSON_GET(c->asked, "temperature"), &t) && t == 0;
}

static void judge_spread(const struct preflight *p, const struct trainer_plan *t,
                         struct property *out)
{
	if (t->group_size == 1) {
		property_judge(out, PROPERTY_RED, "groups of one");
		property_saw(out,
		             "what is above the mean of its group is rewarded: of one "
		             "rollout nothing is");
		property_advise(out, "--num-generations 2 at least, as in the trainer");
	} else if (is_greedy(p->conf)) {
		out->status = PROPERTY_UNKNOWN;
		property_saw(out,
		             "at temperature 0 the rollouts of a group differ only as "
		             "far as the environment does");
		property_advise(out, "a temperature above 0, as in the trainer");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	const struct trainer_plan *t = p->probe->conf->trainer;

	if (!t) {
		property_judge(out, PROPERTY_SKIPPED, "no trainer's settings given");
		return;
	}
	property_judge(out, PROPERTY_OK,
	               "%" PRIu64 " prompt%s x %" PRIu64 " generation%s = %" PRIu64
	               " session%s at once",
	               t->groups, plural((size_t)t->groups), t->group_size,
	               plural((size_t)t->group_size), t->sessions,
	               plural((size_t)t->sessions));
	judge_spread(p, t, out);
	judge_tasks(t, p->probe->conf->tasks, out);
	judge_room(t, p->probe->got_room, out);
}

const struct preflight_ops preflight_groups = {examine};
