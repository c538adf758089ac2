/* The session's contract: a reset with another seed, then with the first again, leads to the first
   one's start; and what comes after the end of an episode earns nothing. */
#include "policy/policy.h"
#include "probe/probe_internal.h"

#include <inttypes.h>
#include <stdio.h>

#define END_CALLS 200 /* within which an episode should end */

enum answer { UNKNOWN, KEPT, BROKEN };

struct contract {
	enum answer seed, end;
	struct env_contract protocol;
	char why[512]; /* why the end is unknown or broken */
};

static int reset_and_read(struct probe *p, int64_t seed, struct str *start, struct error *err)
{
	struct session *s = &p->sessions[0];

	*start = STR_NONE;
	if (!session_is_open(s) || session_reset(&p->pool, s, seed, err))
		return session_is_open(s) ? -1 : 0;
	return probe_read(p, s, &s->later, start, err);
}

/* A reset without a call in between, with another seed in between, and once more. */
static int examine_seed(struct probe *p, struct contract *c, struct error *err)
{
	int64_t other = p->seed == INT64_MAX ? p->seed - 1 : p->seed + 1;
	struct str first, twice, else_where, again;

	if (!p->traits.starts_over || !p->traits.takes_seed || p->state_drifts)
		return 0;
	if (reset_and_read(p, p->seed, &first, err) || reset_and_read(p, p->seed, &twice, err) ||
	    reset_and_read(p, other, &else_where, err) || reset_and_read(p, p->seed, &again, err)) {
		return -1;
	}
	c->seed = !probe_alike(p, &p->states, first, twice)  ? UNKNOWN
	          : probe_alike(p, &p->states, first, again) ? KEPT
	                                                     : BROKEN;
	return 0;
}

/* What is random may differ once; a seed that stays does so each time. */
static int examine_seed_again(struct probe *p, struct contract *c, struct property *out,
                              struct error *err)
{
	for (int round = 1; round < ROUNDS && c->seed == BROKEN; round++) {
		c->seed = UNKNOWN;
		if (probe_fresh(p, out, err) || examine_seed(p, c, err))
			return -1;
		c->seed = c->seed == BROKEN && !p->seed_varies ? BROKEN : UNKNOWN;
	}
	return 0;
}

/* The last call, sent twice more. */
static int call_after_end(struct probe *p, const struct probe_call *last, struct contract *c,
                          struct error *err)
{
	struct probe_reply reply;

	c->end = KEPT;
	for (int i = 0; i < 2 && session_is_open(&p->sessions[0]); i++) {
		if (session_step(&p->pool, &p->sessions[0], last->name, last->arguments, &reply,
		                 err)) {
			return -1;
		}
		if (reply.outcome == OUTCOME_OK && reply.reward > 0 && !p->lost) {
			c->end = BROKEN;
			snprintf(c->why, sizeof(c->why), "a call after the end earned %g again",
			         reply.reward);
		}
	}
	return 0;
}

static int examine_end(struct probe *p, struct contract *c, struct error *err)
{
	struct policy_conf conf =
		p->conf->solution
			? *p->conf->solution
			: (struct policy_conf){.spec = "random:1", .tool = p->conf->policy.tool};
	struct played played = {.calls = 0};
	struct policy *policy = NULL;

	snprintf(c->why, sizeof(c->why), "no episode ended within %d calls", END_CALLS);
	if (!p->conf->solution && (!p->good_count || !p->traits.has_episodes))
		return 0;
	conf.tools = p->tools;
	int failed = policy_open(&conf, &policy, err);
	if (failed && (err->kind == FAIL_INPUT || err->kind == FAIL_USAGE)) {
		snprintf(c->why, sizeof(c->why), "%s", err->text);
		return 0;
	}
	failed = failed || probe_play(p, policy, NULL, END_CALLS, &played, err);
	if (policy)
		policy->ops->close(policy);
	if (!failed && played.last.reply.over)
		failed = call_after_end(p, &played.last, c, err);
	return failed ? -1 : 0;
}

static int examine_protocol(struct probe *p, struct contract *c, struct property *out,
                            struct error *err)
{
	const struct probe_call *call = probe_call_for_others(p);
	struct session *s = &p->sessions[0];

	session_close(s);
	if (!call || !p->pool.ops->examine)
		return 0;
	if (probe_fresh(p, out, err))
		return -1;
	return session_is_open(s) ? p->pool.ops->examine(s->env, call->name, call->arguments,
	                                                 &c->protocol, err)
	                          : 0;
}

static void judge_protocol(const struct contract *c, struct property *out)
{
	const struct env_contract *k = &c->protocol;

	if (k->broken.n) {
		property_judge(out, PROPERTY_FAIL, "broken");
		property_evidence(out, "%s", buf_cstr(&k->broken));
		property_fix(out, "refuse what does not belong to an open session");
	} else if (k->kept && out->status == PROPERTY_UNKNOWN) {
		property_judge(out, PROPERTY_OK, "kept");
	}
	if (k->kept) {
		property_evidence(out, "%u mistake%s of a client answered as the protocol says",
		                  k->kept, k->kept == 1 ? "" : "s");
	}
	if (k->odd.n)
		property_evidence(out, "%s", buf_cstr(&k->odd));
}

static void judge(const struct probe *p, const struct contract *c, struct property *out)
{
	/* a trainer that stops at the end of an episode never sees what comes after it */
	bool broken = c->seed == BROKEN, late = c->end == BROKEN;
	bool kept = !late && (c->seed == KEPT || c->end == KEPT);

	property_judge(out,
	               broken ? PROPERTY_FAIL
	               : kept ? PROPERTY_OK
	                      : PROPERTY_UNKNOWN,
	               "%s",
	               broken ? "another seed stays"
	               : late ? "rewards after the end"
	               : kept ? "kept"
	                      : "not shown");
	if (c->seed == BROKEN) {
		property_evidence(
			out, "seed %" PRId64 " leads elsewhere after a reset with another seed",
			p->seed);
		property_fix(out, "make each reset(seed=..) seed the generators anew");
	} else if (c->seed == KEPT) {
		property_evidence(out,
		                  "seed %" PRId64 " leads to its start again after another seed",
		                  p->seed);
	}
	if (c->end == KEPT)
		property_evidence(out, "calls after the end earn nothing");
	else
		property_evidence(out, "%s", c->why);
	if (c->end == BROKEN) {
		property_fix(out, "refuse calls after the end of an episode, or reply without a "
		                  "reward");
	}
}

int property_contract(struct probe *p, struct property *out, struct error *err)
{
	struct contract c = {.protocol = {.broken = BUF(BUF_MAX_SMALL), .odd = BUF(BUF_MAX_SMALL)}};

	if (probe_lacks_sessions(p, out))
		return 0;
	if (probe_fresh(p, out, err))
		return -1;
	if (!session_is_open(&p->sessions[0]))
		return 0;
	int failed = examine_seed(p, &c, err) || examine_seed_again(p, &c, out, err) ||
	             examine_end(p, &c, err) || examine_protocol(p, &c, out, err);
	session_close(&p->sessions[0]);
	if (!failed) {
		judge(p, &c, out);
		judge_protocol(&c, out);
	}
	BUFS_RELEASE(&c.protocol.broken, &c.protocol.odd);
	return failed ? -1 : 0;
}
