/* Sessions do not affect each other: judged by the states of the others before and after the
   calls of the first session, by the step count after the first step of each, and by numbers in the
   replies. */
#include "probe/probe_internal.h"

#include "json/diff.h"

#include <inttypes.h>

#define CHANGE_MAX 60 /* bytes of both values of a change that is shown */

struct verdict {
	size_t moved;    /* sessions whose state changed with the first one's calls */
	size_t counted;  /* sessions whose first step continued the first one's step count */
	size_t isolated; /* sessions shown to be isolated */
	size_t unmoved;  /* those of them whose state was compared, and did not change */
	size_t example;  /* a session that is not isolated */
	size_t same_ids; /* sessions with the first one's environment id */
	/* the replies of all sessions continue each other in this number */
	bool continued;
	struct sequence_found number;
};

static void compare_session(const struct probe *p, size_t i, bool first_moved, int64_t first_count,
                            struct verdict *v)
{
	const struct neighbor *visit = &p->neighbors[i];
	const struct session *s = &p->sessions[i], *first = &p->sessions[0];
	int64_t own = visit->called ? visit->reply.env_steps : -1;
	bool looked = visit->compared && first_moved && !p->state_drifts;
	bool moved = looked && visit->changed;
	bool counted = first_count > 0 && own > first_count && probe_counts_by_one(p);
	bool started = first_count > 0 && own == probe_first_count(p);

	v->moved += moved;
	v->counted += counted;
	v->same_ids += s->ids[1][0] && !strcmp(s->ids[1], first->ids[1]);
	v->example = !v->example && (moved || counted) ? i : v->example;
	v->unmoved += looked && !visit->changed && !counted;
	v->isolated += !moved && !counted && ((looked && !visit->changed) || started);
}

/* Appends the first change whose values are short: ": /position from 0 to 5". */
static bool put_short_change(void *ctx, const struct json_difference *d)
{
	struct buf *out = ctx;

	if (!d->before.p || !d->after.p || d->before.n + d->after.n > CHANGE_MAX) {
		return true;
	}
	buf_printf(out, ": %.*s from %.*s to %.*s", STR_ARG(d->pointer), STR_ARG(d->before),
	           STR_ARG(d->after));
	return false;
}

static void report_moved(const struct session *s, size_t number, struct property *out)
{
	struct buf change = BUF(BUF_MAX_SMALL);

	if (s->start.json.n && s->later.json.n) {
		json_diff(buf_view(&s->start.json), buf_view(&s->later.json),
		          s->env ? session_facts(s)->ignore_paths : NULL, put_short_change,
		          &change);
	}
	property_evidence(out, "only session 1 acted, but the state of session %zu changed%s",
	                  number, buf_cstr(&change));
	buf_release(&change);
}

static void report_shared(const struct probe *p, const struct verdict *v, struct property *out)
{
	size_t i = v->example;
	const struct session *s = &p->sessions[i];

	property_judge(out, PROPERTY_FAIL, "shared");
	if (v->moved) {
		report_moved(s, i + 1, out);
	}
	if (v->counted) {
		property_evidence(out, "the first step of session %zu was counted as step %" PRId64,
		                  i + 1, p->neighbors[i].reply.env_steps);
	}
	if (v->continued) {
		property_evidence(out,
		                  "%s in the replies continues from session to session: over %zu "
		                  "calls it goes from %.10g to %.10g",
		                  *v->number.pointer ? v->number.pointer : "the number",
		                  v->number.steps, v->number.first, v->number.last);
	}
	if (v->same_ids) {
		property_evidence(out, "%zu sessions report environment %s", v->same_ids + 1,
		                  s->ids[1]);
	}
	property_fix(out, "create one environment per session (pass a class or a factory, not "
	                  "an instance) and keep no module-level state");
}

/* Why the states do not show whether the sessions are isolated. */
static const char *why_states_tell_nothing(const struct probe *p)
{
	if (p->state_drifts) {
		return "the state changes without a call";
	}
	return p->opened > 1 && !p->neighbors[1].compared
	               ? "the states of the sessions are unknown"
	               : "no call of session 1 changed the state";
}

static void report_inconclusive(const struct probe *p, struct property *out)
{
	property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
	if (p->not_called || !p->good_count) {
		property_evidence(out, "%s", p->not_called ? p->not_called : "no call succeeded");
	} else {
		property_evidence(out, "%s%s", why_states_tell_nothing(p),
		                  probe_counts(p) ? "" : ", and the steps are not counted");
	}
}

static void report_isolated(const struct probe *p, const struct verdict *v, struct property *out)
{
	size_t others = p->opened - 1;

	property_judge(out, PROPERTY_OK, "%zu isolated", p->opened);
	if (v->unmoved < others) {
		property_evidence(out, "each session counts its own steps; %s",
		                  why_states_tell_nothing(p));
	} else {
		property_evidence(out, "session 1 acted, and the other%s did not change%s%.*s",
		                  plural(others),
		                  p->server_counter.p ? ", except for a counter of the server, "
		                                      : "",
		                  STR_ARG(p->server_counter));
	}
}

static void report(const struct probe *p, const struct verdict *v, struct property *out)
{
	if (v->isolated == p->opened - 1) {
		report_isolated(p, v, out);
	} else {
		report_inconclusive(p, out);
	}
	if (v->same_ids) {
		property_evidence(out, "but %zu sessions report the same environment, %s",
		                  v->same_ids + 1, p->sessions[0].ids[1]);
	}
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct verdict v = {0};
	int64_t count = probe_counts(p) ? probe_count_after_calls(p) : -1;

	(void)err;
	if (p->opened < 2) {
		property_judge(out, p->opened ? PROPERTY_SKIPPED : PROPERTY_UNKNOWN, "%s",
		               p->opened ? "one session" : "not tested");
		property_evidence(out, "%s",
		                  p->opened ? "two sessions at a time are needed" : p->not_called);
		return 0;
	}
	for (size_t i = 1; i < p->opened; i++) {
		compare_session(p, i, p->first_effect < CALLS_MAX, count, &v);
	}
	v.continued = reply_sequence_find(&p->replies, &v.number);
	p->shared = v.moved || v.counted || v.continued;
	if (p->shared) {
		report_shared(p, &v, out);
	} else {
		report(p, &v, out);
	}
	return 0;
}

const struct property_ops property_isolation = {examine};
