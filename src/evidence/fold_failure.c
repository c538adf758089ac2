/* What the lines of a rollout say about its failure: see attribution.h. */
#include "evidence/fold.h"
#include "evidence/peer.h"

/* An expected failure is an answer; calls after the end of the episode do not count. */
void fold_failure_step(struct open_rollout *o, const struct line *l, const struct derived_line *m)
{
	struct attribution *a = &o->attribution;

	if (o->terminal)
		return;
	if (m->failed) {
		attribution_failed(a, l, true);
	} else {
		a->answered = true;
		a->calls = FAILURE_NONE;
		a->model_failed = a->unread = false;
	}
}

void fold_failure_event(struct open_rollout *o, const struct line *l)
{
	struct attribution *a = &o->attribution;

	if (l->event == EVENT_SESSION_REPLACED)
		a->replaced = a->answered; /* else nothing was lost */
	a->unread = a->unread || (l->event == EVENT_CONTROL_PLANE_FAILED && !peer_skipped(l) &&
	                          !peer_failed_state_read(l));
}

void fold_failure_end(struct open_rollout *o)
{
	const struct rollout_facts *f = &o->facts;
	struct rollout_end *end = &o->end;
	double reward = 0;
	bool known = json_double(str_from(end->counters.reward), &reward);
	bool is_void = end->counters.steps == end->counters.failed;

	end->failure = attribution_find(
		&o->attribution,
		&(struct attribution_end){.status = end->status,
	                                  .reason = end->reason,
	                                  .talk = f->tools_known == TOOLS_UNKNOWN &&
	                                          f->steps == 0 && !o->attribution.calls,
	                                  .no_tools =
	                                          f->tools_known == TOOLS_ALL && f->tool_count == 0,
	                                  .effective = o->effective > 0,
	                                  .rewarded = known && reward > 0});
	end->no_reward = known && (is_void || reward <= 0) && end->failure != FAILURE_NONE &&
	                 end->failure != FAILURE_POLICY;
}
