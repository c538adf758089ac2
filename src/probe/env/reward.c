/* The reward panel: what a solution earns, and what no action, random calls and one call repeated
   earn, each in its own session with the same seed. */
#include "policy/policy.h"
#include "probe/probe_internal.h"

#include <stdio.h>

#define PANEL_CALLS    24 /* of a policy that does not end */
#define SOLUTION_CALLS 1000
#define RANDOM_TRIES   3

static void take_reply(const struct probe_reply *r, struct played *e)
{
	if (r->outcome != OUTCOME_OK && e->failed++ == 0)
		e->why = *r;
	e->calls++;
	e->known = e->known || r->reward_known;
	e->reward += r->reward;
}

/* Asks the policy; without one, `again` is repeated. */
static int next_call(struct policy *policy, const struct probe_call *again, size_t turn,
                     const struct session *s, struct decision *d, struct error *err)
{
	struct policy_view view = {.turn = (int64_t)turn,
	                           .observation = buf_view(&s->observation),
	                           .last = turn ? s->last.outcome : OUTCOME_NONE,
	                           .last_error = str_from(s->last.message)};

	if (policy)
		return policy->ops->decide(policy, &view, d, err);
	*d = (struct decision){.kind = again ? DECIDE_CALL : DECIDE_FINISHED};
	if (again) {
		d->name = again->name;
		d->arguments = again->arguments;
	}
	return 0;
}

int probe_play(struct probe *p, struct policy *policy, const struct probe_call *again, size_t most,
               struct played *e, struct error *err)
{
	struct session *s = &p->sessions[0];

	while (e->calls < most && session_is_open(s) && !e->last.reply.over) {
		struct probe_reply *reply = &e->last.reply;
		struct decision d = {0};

		if (next_call(policy, again, e->calls, s, &d, err))
			return -1;
		if (d.kind != DECIDE_CALL)
			break;
		e->last.name = arena_str(&p->arena, d.name);
		e->last.arguments = arena_str(&p->arena, d.arguments);
		if (session_step(&p->pool, s, e->last.name, e->last.arguments, reply, err))
			return -1;
		take_reply(reply, e);
		if (reply->layer == LAYER_TRANSPORT) /* each would take the whole timeout */
			break;
	}
	return 0;
}

/* conf NULL: `again` is repeated, or nothing is called. */
static int play(struct probe *p, const struct policy_conf *conf, const struct probe_call *again,
                struct played *e, struct property *out, struct error *err)
{
	struct session *s = &p->sessions[0];
	struct policy *policy = NULL;
	size_t most = conf && conf == p->conf->solution ? SOLUTION_CALLS : PANEL_CALLS;

	*e = (struct played){.played = false};
	if (probe_fresh(p, out, err))
		return -1;
	if (!session_is_open(s))
		return 0;
	int failed = 0;
	if (conf) {
		struct policy_conf own = *conf;

		own.tools = session_facts(s)->tools;
		failed = policy_open(&own, &policy, err);
		if (failed && (err->kind == FAIL_INPUT || err->kind == FAIL_USAGE)) {
			session_close(s);
			return property_say(out, PROPERTY_UNKNOWN, "the policy does not fit",
			                    err->text, NULL);
		}
	}
	failed = failed || probe_play(p, policy, again, most, e, err);
	failed = failed || (session_is_open(s) && env_finish(s->env, err));
	e->played = true;
	/* the environment's own total, if it has one */
	if (!failed && s->env && json_double(session_facts(s)->total_reward, &e->reward))
		e->known = true;
	if (policy)
		policy->ops->close(policy);
	session_close(s);
	return failed ? -1 : 0;
}

struct panel {
	struct played solution, nothing, random[RANDOM_TRIES], again;
};

static int play_panel(struct probe *p, struct panel *panel, struct property *out, struct error *err)
{
	struct policy_conf drawn = {.tool = p->conf->policy.tool};
	char spec[32];

	if (p->conf->solution && play(p, p->conf->solution, NULL, &panel->solution, out, err))
		return -1;
	if (!out->evidence.n && play(p, NULL, NULL, &panel->nothing, out, err))
		return -1;
	/* random calls of other servers may have effects anywhere */
	for (int i = 0;
	     i < RANDOM_TRIES && !out->evidence.n && p->traits.has_episodes && json_count(p->tools);
	     i++) {
		snprintf(spec, sizeof(spec), "random:%d", i + 1);
		drawn.spec = spec;
		if (play(p, &drawn, NULL, &panel->random[i], out, err))
			return -1;
	}
	return probe_call_for_others(p) && p->traits.has_episodes && !out->evidence.n
	               ? play(p, NULL, probe_call_for_others(p), &panel->again, out, err)
	               : 0;
}

static void describe(const struct panel *panel, struct property *out)
{
	if (panel->solution.played) {
		property_evidence(out, "the solution earns %g in %zu call%s",
		                  panel->solution.reward, panel->solution.calls,
		                  plural(panel->solution.calls));
	}
	property_evidence(out, "no action %g", panel->nothing.reward);
	for (size_t i = 0; i < RANDOM_TRIES && panel->random[i].played; i++)
		if (i == 0)
			property_evidence(out, "random calls %g", panel->random[i].reward);
		else
			buf_printf(&out->evidence, " %g", panel->random[i].reward);
	if (panel->again.played) {
		property_evidence(out, "one call %zu time%s %g", panel->again.calls,
		                  plural(panel->again.calls), panel->again.reward);
	}
}

/* Of those that nothing can be said for: no action, and all random episodes. */
static double floor_of(const struct panel *panel)
{
	double low = panel->nothing.reward, random = 0;

	for (size_t i = 0; i < RANDOM_TRIES; i++) {
		double r = panel->random[i].reward;

		random = i == 0 || r < random ? r : random;
	}
	return panel->random[0].played && random > low ? random : low;
}

static bool is_known(const struct panel *panel)
{
	bool known = panel->solution.known || panel->nothing.known || panel->again.known;

	for (size_t i = 0; i < RANDOM_TRIES; i++)
		known = known || panel->random[i].known;
	return known;
}

static void judge(const struct panel *panel, struct property *out)
{
	double low = floor_of(panel), high = panel->solution.reward;

	if (!is_known(panel)) {
		property_say(out, PROPERTY_SKIPPED, "no reward", "the server reports none", NULL);
		return;
	}
	if (!panel->solution.played) {
		property_judge(out, PROPERTY_UNKNOWN, "floor %g, no solution given", low);
		property_fix(out, "show what a solution earns: \1solution\2 FILE, a policy or a "
		                  "recording");
	} else if (panel->solution.failed) {
		property_judge(out, PROPERTY_UNKNOWN, "the solution fails");
		property_evidence(out, "%zu of its %zu calls failed", panel->solution.failed,
		                  panel->solution.calls);
		property_quote(out, &panel->solution.why);
	} else if (high <= low) {
		property_judge(out, PROPERTY_FAIL, "ceiling %g, floor %g", high, low);
		property_fix(out, "see that the reward is computed from what the calls reached, "
		                  "and that the solution fits this task and seed");
	} else if (panel->again.played && panel->again.reward >= high) {
		property_judge(out, PROPERTY_UNKNOWN, "ceiling %g, reached by one call", high);
	} else {
		property_judge(out, PROPERTY_OK, "ceiling %g, floor %g", high, low);
	}
	describe(panel, out);
}

int property_reward(struct probe *p, struct property *out, struct error *err)
{
	struct panel panel = {.solution.played = false};

	if (probe_lacks_sessions(p, out))
		return 0;
	if (p->traits.no_rewards) {
		return property_say(out, PROPERTY_SKIPPED, "no reward",
		                    "such a server reports none: they are computed elsewhere",
		                    NULL);
	}
	if (!p->traits.has_episodes && !p->conf->solution) {
		return property_say(
			out, PROPERTY_SKIPPED, "no environment",
			"the server has no episodes: its tools may have effects anywhere", NULL);
	}
	if (!p->good_count && !p->conf->solution) {
		return property_say(out, PROPERTY_UNKNOWN, "not tested",
		                    p->not_called ? p->not_called : "no call succeeded", NULL);
	}
	if (play_panel(p, &panel, out, err))
		return -1;
	if (!out->evidence.n)
		judge(&panel, out);
	return 0;
}
