/* The trainer's groups fit the available sessions, and their rollouts can differ. */
#include "probe/model/preflight.h"

#include <inttypes.h>

/* A group that fits only in part waits for the next batch or trains on fewer rollouts. */
static void judge_room(const struct trainer_plan *t, size_t room, struct property *out)
{
	size_t whole = room / (size_t)t->group_size;

	if (room >= t->sessions) {
		return;
	}
	out->status = PROPERTY_FAIL;
	property_evidence(out, "%zu get an environment: %zu complete group%s at a time", room,
	                  whole, plural(whole));
	property_fix(out,
	             "raise the environment limit to %" PRIu64
	             ", or set the trainer's generation_batch_size to at most %zu",
	             t->sessions, room);
}

static void judge_tasks(const struct trainer_plan *t, const struct tasks *tasks,
                        struct property *out)
{
	if (!tasks || tasks->count >= t->groups) {
		return;
	}
	out->status = PROPERTY_FAIL;
	property_evidence(out,
	                  "%zu task%s for %" PRIu64
	                  " prompts per batch: TRL drops incomplete batches, so none is left",
	                  tasks->count, plural(tasks->count), t->groups);
	property_fix(out, "add tasks, or use a smaller batch");
}

static bool is_greedy(const struct llm_conf *c)
{
	double t;

	return json_double(JSON_GET(c->asked, "temperature"), &t) && t == 0;
}

static void judge_spread(const struct preflight *p, struct property *out)
{
	if (is_greedy(p->conf)) {
		out->status = PROPERTY_UNKNOWN;
		property_evidence(out, "at temperature 0 the rollouts of a group differ only where "
		                       "the environment is random");
		property_fix(out, "use a temperature above 0, as in the trainer");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	const struct trainer_plan *t = p->trainer;

	if (!t || !t->groups) {
		property_judge(out, PROPERTY_SKIPPED, "no trainer settings given");
		return;
	}
	property_judge(out, PROPERTY_OK,
	               "%" PRIu64 " prompt%s x %" PRIu64 " generation%s = %" PRIu64
	               " session%s at once",
	               t->groups, plural((size_t)t->groups), t->group_size,
	               plural((size_t)t->group_size), t->sessions, plural((size_t)t->sessions));
	judge_spread(p, out);
	judge_tasks(t, p->tasks, out);
	judge_room(t, p->sessions, out);
}

const struct preflight_ops preflight_groups = {examine};
