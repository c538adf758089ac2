/* Rule control-plane-blind: reward, status or state could not be read, or came from another
   environment. */
#include "check/rule.h"

struct blind {
	struct span unread; /* steps after which reward or status could not be read */
	struct span failed; /* events about that */
	struct span lost;
	struct span skipped; /* events: intentionally not read */
	bool named;          /* the state is no part of the control plane: rule missing-state */
	char reason[ERROR_TEXT];
};

static void add_event(struct blind *s, const struct rollout_facts *r, const struct line *l)
{
	struct str reason = JSON_GET(l->value[KEY_DETAIL], "why");
	bool lost = l->event == EVENT_STATE_SOURCE_LOST;

	if (l->event == EVENT_STATE_SOURCE_FOUND) {
		s->lost = (struct span){.count = 0};
		s->reason[0] = '\0';
	}
	if ((!lost && l->event != EVENT_CONTROL_PLANE_FAILED) ||
	    (s->named && peer_failed_state_read(l))) {
		return;
	}
	if (!s->reason[0])
		peer_text(r->work, reason, s->reason, sizeof(s->reason));
	if (lost)
		span_add(&s->lost, l->turn, -1);
	else
		span_add(peer_skipped(l) ? &s->skipped : &s->failed, l->turn, -1);
}

/* Reading errors reported by the recorder; in other recordings, values that were present before
   and are missing now. Imported recordings may omit anything. */
static bool is_unread(const struct rollout_facts *r, const struct derived_line *m)
{
	const struct line *l = m->line;
	struct str control = JSON_GET(l->value[KEY_META], "control");

	if (json_type(control) == JSON_OBJECT) {
		return json_is(JSON_GET(control, "reward"), STR("failed")) ||
		       json_is(JSON_GET(control, "status"), STR("failed"));
	}
	if (m->failed || r->policy == POLICY_IMPORT)
		return false;
	return (r->previous.reward_seen && !line_has(l, KEY_REWARD)) ||
	       (r->previous.status_seen && l->terminated < 0);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct blind *s = state;
	const struct line *l = m->line;

	if (l->type == LINE_HEADER) {
		s->named = peer_named_state_source(l);
		return;
	}
	if (l->type == LINE_EVENT) {
		add_event(s, r, l);
		return;
	}
	if (is_unread(r, m))
		span_add(&s->unread, l->turn, l->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct blind *s = state;
	const char *colon = s->reason[0] ? ": " : "";

	finding_add(out, SEVERITY_WARNING, &s->lost, "/event",
	            "the state was not read from the environment that the calls act on%s%s", colon,
	            s->reason);
	if (s->unread.count > 0) {
		finding_add(out, SEVERITY_WARNING, &s->unread, "/reward",
		            "reward or status could not be read after %" PRId64 " of %" PRId64
		            " steps",
		            s->unread.count, r->steps);
	} else if (s->failed.count > 0) {
		finding_add(out, SEVERITY_WARNING, &s->failed, "/event",
		            "the control plane could not be read, %" PRId64 " time%s%s%s",
		            s->failed.count, plural(s->failed.count), s->lost.count ? "" : colon,
		            s->lost.count ? "" : s->reason);
	}
	if (s->lost.count + s->failed.count + s->unread.count == 0) {
		finding_add(out, SEVERITY_INFO, &s->skipped, "/event",
		            "the control plane was deliberately not read%s%s", colon, s->reason);
	}
}

const struct check check_control_plane_blind = {
	.id = "control-plane-blind",
	.title = "reward, status or state could not be read, or came from another environment",
	.severity = SEVERITY_WARNING,
	.lowered = "the control plane was deliberately not read",
	.explains = {&check_missing_state},
	.why = "The control plane reports reward, termination and state next to the tool calls. "
	       "Here it failed, or it replied for an environment other than the one the tools "
	       "act on. Clients that substitute 0 and \"not terminated\" turn this into an "
	       "endless episode without reward and without an error.\n"
	       "Look at the events control-plane-failed and state-source-lost, and at the "
	       "session id sent to the control endpoints: it must be the environment's, not the "
	       "transport's.\n"
	       "Fix: make server and client agree on the environment's session id.",
	.needs = FACT(META),
	.needs_meta = true,
	.wants = KIND_HEADER | KIND_UNREPORTED | KIND_EVENT,
	.state_size = sizeof(struct blind),
	.line = line,
	.end = end,
};
