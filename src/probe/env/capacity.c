/* How many sessions get an environment: the others are refused, queued, or opened and refused
   at their first call. */
#include "probe/probe_internal.h"

static size_t count_envs(const struct probe *p)
{
	size_t n = p->opened;

	if (p->step_refused && p->refused_session == 1)
		return 0;
	for (size_t i = 1; i < p->opened; i++)
		n -= p->neighbors[i].called && p->neighbors[i].reply.outcome == OUTCOME_CAPACITY;
	return n;
}

/* Names the setting behind the limit: of the server, or of the environment behind it. */
static void advise_limit(const struct probe *p, const struct probe_reply *r, struct property *out)
{
	bool by_server = r->layer == LAYER_JSONRPC || r->layer == LAYER_HTTP ||
	                 r->layer == LAYER_WEBSOCKET || r->layer == LAYER_FRAMEWORK;

	if (by_server && p->conf->env_ops->limit_fix) {
		property_fix(out, "%s", p->conf->env_ops->limit_fix);
	} else {
		property_fix(out, "raise the environment limit of the server, or of the proxy "
		                  "in front of it");
	}
}

static void report_refusal(const struct probe *p, struct property *out)
{
	if (p->step_refused) {
		property_evidence(out, "session %zu opened, but its first call was refused",
		                  p->refused_session);
		property_quote(out, &p->step_refusal);
		advise_limit(p, &p->step_refusal, out);
		return;
	}
	switch (p->refused_status) {
	case SESSION_REFUSED:
		property_evidence(out, "session %zu was refused", p->tried);
		property_quote(out, &p->refusal);
		if (p->refusal.outcome == OUTCOME_CAPACITY) {
			advise_limit(p, &p->refusal, out);
		} else if (p->refusal.class == CLASS_AUTH) {
			property_fix(out, "send credentials with \1header\2 or \1header_env\2");
		} else {
			property_fix(out, "check the server's log: it failed before an "
			                  "environment was created");
		}
		break;
	case SESSION_LATE:
		property_evidence(out,
		                  p->queued ? "session %zu was queued until another session ended"
		                            : "session %zu timed out",
		                  p->tried);
		advise_limit(p, &p->refusal, out);
		break;
	case SESSION_LOST:
		property_evidence(out, "session %zu", p->tried);
		property_quote(out, &p->refusal);
		break;
	case SESSION_OPEN:
	case SESSION_CLOSED:
		break;
	}
}

int property_capacity(struct probe *p, struct property *out, struct error *err)
{
	(void)err;
	if (p->traits.no_sessions) { /* any environment may answer a request */
		return property_say(out, PROPERTY_FAIL, "no sessions", p->traits.no_sessions,
		                    p->traits.no_sessions_fix);
	}
	p->got_env = count_envs(p);
	bool enough = p->got_env >= p->conf->need;
	bool lost = p->refused_status == SESSION_LOST;

	property_judge(out,
	               enough ? PROPERTY_OK
	               : lost ? PROPERTY_UNKNOWN
	                      : PROPERTY_FAIL,
	               "%zu of %zu", p->got_env, p->conf->sessions);
	report_refusal(p, out);
	if (p->conf->need < p->conf->sessions)
		property_evidence(out, "%zu needed", p->conf->need);
	if (p->traits.names_sessions && !p->sessions[0].ids[0][0])
		property_evidence(out, "the server assigns no session ids: it may be stateless");
	if (enough)
		buf_clear(&out->fix);
	else if (p->got_env)
		property_fix(out, "or run at most %zu rollout%s at a time", p->got_env,
		             plural(p->got_env));
	return 0;
}
