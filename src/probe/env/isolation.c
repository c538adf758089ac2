/* Sessions do not affect each other. The first one acted: did a member that its calls change by an
   effect move in the state of another one, which had not called? Does the other's first reply,
   from the same start, continue after the first one's calls? Counts prove nothing: a wrapper may
   keep them by session, around one environment. */
#include "probe/probe_internal.h"

#include "json/diff.h"

#define CHANGE_MAX 60 /* bytes of both values of a change that is shown */

struct isolation {
	size_t moved, isolated; /* sessions */
	size_t same_ids;        /* with the first one's environment id */
	size_t example;         /* the first session that is not isolated */
	bool replied;           /* some are isolated by their replies only */
	bool acted;             /* the first one's state is not as it was */
};

/* Its first reply is the one that the first session got, which now would get another. */
static bool starts_anew(const struct probe *p, const struct neighbor *v)
{
	const struct probe_call *call = probe_call_for_others(p);

	return call && v->called && v->reply.outcome == OUTCOME_OK && p->again.p &&
	       probe_compare(p, &p->replies, call->observation, p->again) == MEMBER_EFFECT &&
	       probe_compare(p, &p->replies, call->observation, v->observation) < MEMBER_EFFECT;
}

static bool starts_alike(const struct probe *p, const struct neighbor *v)
{
	return probe_compare(p, &p->states, p->start, v->start) < MEMBER_EFFECT &&
	       probe_compare(p, &p->replies, p->begin, v->begin) < MEMBER_EFFECT;
}

/* It failed, where the first session's succeeded. */
static bool is_refused(const struct probe *p, const struct neighbor *v)
{
	const struct probe_call *call = probe_call_for_others(p);

	return call && v->called && call->reply.outcome == OUTCOME_OK &&
	       v->reply.outcome == OUTCOME_TOOL_ERROR;
}

static void compare_sessions(const struct probe *p, struct isolation *v)
{
	v->acted = p->start.p && p->later.p &&
	           probe_compare(p, &p->states, p->start, p->later) == MEMBER_EFFECT;
	for (size_t i = 1; i < p->opened; i++) {
		const struct neighbor *n = &p->neighbors[i];
		bool unmoved = v->acted && p->state_kind != STATE_OBSERVATION && n->start.p &&
		               n->later.p && !n->moved[0] && !is_refused(p, n);
		bool anew = starts_anew(p, n);

		v->moved += n->moved[0] != '\0';
		v->example = !v->example && n->moved[0] ? i : v->example;
		v->same_ids += n->same_id;
		v->isolated += unmoved || anew;
		v->replied = v->replied || (anew && !unmoved);
	}
}

static int same_reply(struct probe *p, struct session *s, const struct probe_call *call,
                      enum outcome outcome, struct str wanted, bool *same, struct error *err)
{
	struct probe_reply reply;

	if (session_step(&p->pool, s, call->name, call->arguments, &reply, err))
		return -1;
	*same = reply.outcome == outcome &&
	        probe_compare(p, &p->replies, wanted, buf_view(&s->observation)) < MEMBER_EFFECT;
	return 0;
}

/* The first session's calls, alone: if they get the same replies, and the call of session 2 after
   them gets the reply that session 2 got, that one came after them, too. */
static int replay(struct probe *p, bool *continues, struct error *err)
{
	const struct probe_call *call = probe_call_for_others(p);
	const struct neighbor *v = &p->neighbors[1];
	struct session *s = &p->sessions[0];
	int failed = session_open_when_free(&p->pool, s, NULL, probe_settle_deadline(p), err);

	*continues = !failed && session_is_open(s);
	for (size_t i = 0; !failed && *continues && i < p->call_count; i++) {
		const struct probe_call *c = &p->calls[i];

		failed = same_reply(p, s, c, c->reply.outcome, c->observation, continues, err);
	}
	for (size_t i = 0; !failed && *continues && i < p->again_count; i++) {
		bool last = i + 1 == p->again_count;
		bool ignored;

		failed = same_reply(p, s, call, call->reply.outcome, p->again,
		                    last ? continues : &ignored, err);
	}
	if (!failed && *continues)
		failed = same_reply(p, s, call, v->reply.outcome, v->observation, continues, err);
	session_close(s);
	return failed ? -1 : 0;
}

static int examine_continuation(struct probe *p, bool *continues, struct error *err)
{
	const struct neighbor *v = &p->neighbors[1];
	const struct probe_call *call = probe_call_for_others(p);
	bool allowed = p->traits.has_episodes || p->named;

	*continues = false;
	if (!call || !allowed || !v->called || !starts_alike(p, v) ||
	    (v->reply.outcome != OUTCOME_OK && !is_refused(p, v)))
		return 0;
	if (v->reply.outcome == OUTCOME_OK &&
	    probe_compare(p, &p->replies, call->observation, v->observation) < MEMBER_EFFECT) {
		return 0;
	}
	return replay(p, continues, err);
}

struct shown_change {
	const char *pointer;
	struct buf *out;
};

static bool put_change(void *ctx, const struct json_difference *d)
{
	struct shown_change *c = ctx;

	if (!str_is(d->pointer, c->pointer) || d->before.n + d->after.n > CHANGE_MAX)
		return true;
	if (d->before.n && d->after.n)
		buf_printf(c->out, " from %.*s to %.*s", STR_ARG(d->before), STR_ARG(d->after));
	else if (d->after.n)
		buf_printf(c->out, ", added: %.*s", STR_ARG(d->after));
	else
		buf_printf(c->out, ", removed: %.*s", STR_ARG(d->before));
	return false;
}

static void report_moved(const struct probe *p, size_t i, struct property *out)
{
	const struct neighbor *v = &p->neighbors[i];
	AUTO_BUF values = BUF(BUF_MAX_SMALL);
	struct shown_change c = {v->moved, &values};

	json_diff(v->start, v->later, NULL, put_change, &c);
	property_evidence(out, "only session 1 acted, but the state of session %zu changed: %s%s",
	                  i + 1, v->moved, buf_cstr(&values));
}

static void report_shared(const struct probe *p, const struct isolation *v, bool continues,
                          struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "shared");
	if (v->moved)
		report_moved(p, v->example, out);
	if (continues) {
		property_evidence(out,
		                  "session 2 began like session 1, but its first reply is the one "
		                  "that follows the %zu calls of session 1",
		                  p->call_count + p->again_count);
	}
	property_fix(out,
	             p->traits.own_server
	                     ? "each session has a server of its own, so they share its data, a "
	                       "directory or a database: start each on a copy (CONFIRMATION in "
	                       "rolldbg-run(1))"
	                     : "create one environment per session (pass a class or a factory, not "
	                       "an instance) and keep no module-level state");
}

static const char *why_unknown(const struct probe *p, const struct isolation *v)
{
	if (p->not_called)
		return p->not_called;
	if (!p->good_count)
		return "no call succeeded";
	if (p->history.answer == HISTORY_NONE)
		return "no state is kept between calls";
	return !p->start.p ? "the states of the sessions are unknown"
	       : !v->acted ? "no call of session 1 changed the state"
	       : p->state_kind == STATE_OBSERVATION
	               ? "the state is read from each session's own replies"
	               : "not every other session's state is known";
}

/* NULL: other properties say it. */
static const char *fix_unknown(const struct probe *p, const struct isolation *v)
{
	if (p->not_called || !p->good_count || p->history.answer == HISTORY_NONE)
		return NULL;
	return p->start.p && !v->acted
	               ? "specify calls that change the state (\1call\2 or \1actions\2)"
	               : "choose a state that each session can be asked for (\1state\2)";
}

static void report(const struct probe *p, const struct isolation *v, struct property *out)
{
	if (p->history.answer == HISTORY_NONE || v->isolated < p->opened - 1) {
		property_say(out, PROPERTY_UNKNOWN, "inconclusive", why_unknown(p, v),
		             fix_unknown(p, v));
	} else {
		property_judge(out, PROPERTY_OK, "%zu isolated", p->opened);
		property_evidence(out,
		                  v->replied ? "the first reply of each session is not affected by "
		                               "calls in another"
		                             : "session 1 acted, and the other%s did not change",
		                  plural(p->opened - 1));
	}
}

int property_isolation(struct probe *p, struct property *out, struct error *err)
{
	struct isolation v = {0};
	bool continues = false;

	if (p->opened < 2) {
		return p->opened ? property_say(out, PROPERTY_SKIPPED, "one session",
		                                "two sessions at a time are needed", NULL)
		                 : property_say(out, PROPERTY_UNKNOWN, "not tested", p->not_called,
		                                NULL);
	}
	compare_sessions(p, &v);
	if (!v.moved && examine_continuation(p, &continues, err))
		return -1;
	p->shared = v.moved || continues;
	if (p->shared)
		report_shared(p, &v, continues, out);
	else
		report(p, &v, out);
	if (v.same_ids) {
		property_evidence(out, "%s%zu sessions report environment %s",
		                  p->shared ? "" : "but ", v.same_ids + 1, p->env_id);
	}
	return 0;
}
