/* Rule session-replaced: the rollout went on in another session, or began without a reset. */
#include "check/rule.h"

struct replaced {
	bool reset;     /* some reset was recorded */
	bool forgotten; /* the server opened a session and did not know it at the next request */
	bool pending;   /* the session was replaced, and no reset followed yet */
	struct span played; /* steps in a session that was replaced without a reset */
	struct span lost;   /* steps for which the server no longer knew the session */
	struct span early;  /* steps before any reset */
	int64_t times;
};

static bool has_resets(const struct rollout_facts *r)
{
	return !r->imported && protocol_has(r->protocol, HAS_RESETS);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct replaced *s = state;
	const struct line *l = m->line;

	if (l->type == LINE_RESET) {
		s->reset = true;
		s->pending = false;
		s->forgotten = l->outcome != OUTCOME_OK && line_error_class(l) == CLASS_SESSION;
	} else if (l->type == LINE_EVENT) {
		bool counts = l->event == EVENT_SESSION_REPLACED &&
		              (r->steps > 0 || has_resets(r)); /* else nothing was lost */

		s->times += counts;
		s->pending = s->pending || counts;
	} else if (s->pending) {
		span_add(&s->played, l->turn, l->step);
	} else if (l->outcome == OUTCOME_SESSION_LOST) {
		span_add(&s->lost, l->turn, l->step);
	} else if (!s->reset && has_resets(r)) {
		span_add(&s->early, l->turn, l->step);
	}
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct replaced *s = state;

	if (s->forgotten) {
		finding_add(
			out, SEVERITY_ERROR, NULL, "/error",
			"the server opened a session, and the next request did not know it: several "
			"workers without affinity");
	} else if (s->played.count > 0) {
		finding_add(out, SEVERITY_ERROR, &s->played, "/event",
		            "the session was replaced %s without a reset: %" PRId64 " of %" PRId64
		            " steps ran in another environment",
		            s->times == 1 ? "once" : "again and again", s->played.count, r->steps);
	} else if (s->lost.count > 0) {
		finding_add(
			out, SEVERITY_ERROR, &s->lost, "/outcome",
			"the session was lost in %" PRId64 " of %" PRId64
			" steps: a restart, a limit, an idle timeout, or several workers without "
			"affinity",
			s->lost.count, r->steps);
	} else if (s->early.count > 0) {
		finding_add(out, SEVERITY_ERROR, &s->early, "/step",
		            "the first step came before any reset: %" PRId64 " steps in an "
		            "environment whose start is unknown",
		            s->early.count);
	}
}

const struct check check_session_replaced = {
	.id = "session-replaced",
	.title = "the session was lost or replaced without a reset, or a step came before any",
	.severity = SEVERITY_ERROR,
	.explains = {&check_session_churn, &check_starts_over, &check_frozen_state,
                     &check_no_effect, &check_multi_step_illusion, &check_all_steps_failed,
                     &check_failed_run, &check_retry_same_error, &check_control_plane_blind,
                     &check_loop},
	.why = "Within one episode the client went on in another session without a reset, the "
	       "server lost the session, or steps came before any reset. Such steps act in a "
	       "fresh environment, in somebody else's, or in none.\n"
	       "Look at the session-replaced event's reason and at the server's log: several "
	       "workers without session affinity, a restart, a limit, an idle timeout.\n"
	       "Fix: end the episode when its session ends; give a session to one worker.",
	.wants = KIND_RESET | KIND_EVENT | KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct replaced),
	.line = line,
	.end = end,
};
