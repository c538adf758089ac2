/* Replies depend on earlier calls: the calls of the first session, each alone in a fresh one
   (rollout/history.h). */
#include "base/log.h"
#include "base/text.h"
#include "probe/probe_internal.h"
#include "protocol/tool_list.h"

#include <stdio.h>

#define FIX_CALLS "specify calls that build on each other: \1call\2 or \1actions\2"

static struct history_script *make_script(const struct probe *p)
{
	struct history_script *h = history_new(&p->explaining, p->state_ignore);

	for (size_t i = 0; i < p->call_count; i++) {
		const struct probe_call *c = &p->calls[i];
		struct history_step step = {.name = c->name,
		                            .arguments = c->arguments,
		                            .outcome = c->reply.outcome,
		                            .observation = c->observation,
		                            .state = c->state,
		                            .idle = tool_is_read_only(p->tools, c->name),
		                            .over = c->reply.over};

		if (!history_add(h, &step))
			break;
	}
	return h;
}

static const char *why_not_sent(const struct probe *p)
{
	return p->not_called ? p->not_called
	       : !p->traits.has_episodes && !p->named
	               ? "the tools may have effects anywhere, and no calls were given"
	               : NULL;
}

/* A calculator's replies depend on nothing before, nor do those of a lamp that a call sets whatever it was. What
   is rebuilt for each request shows the calls in no later reading of its state. */
static void doubt(const struct probe *p, struct history_verdict *v)
{
	bool follows =
		!p->calls[0].known || (p->state_kind != STATE_OBSERVATION && probe_changes(p));

	if (v->answer != HISTORY_NONE || (p->traits.has_episodes ? !v->drawn : !follows))
		return;
	v->answer = HISTORY_UNKNOWN;
	if (v->drawn) {
		snprintf(
			v->why, sizeof(v->why),
			"every call got the same reply; %zu of %zu replies to calls drawn from the "
			"tools' schemas are the same in a fresh session",
			v->compared, v->compared);
		return;
	}
	snprintf(v->why, sizeof(v->why),
	         "%zu of %zu replies are the same in a fresh session; so are those of tools that "
	         "only compute, look something up, acknowledge, or set a value whatever it was",
	         v->compared, v->compared);
}

int probe_history(struct probe *p, struct error *err)
{
	const char *why = why_not_sent(p);

	if (p->history_asked)
		return 0;
	p->history_asked = true;
	text_copy(p->history.why, sizeof(p->history.why), why ? str_from(why) : STR_NONE);
	if (why)
		return 0;
	struct history_script *h = make_script(p);
	struct history_conf conf = {.env_ops = p->conf->env_ops,
	                            .env = &p->env,
	                            .io = p->conf->io,
	                            .episodes = p->traits.has_episodes,
	                            .settle_ms = p->conf->settle_ms};
	why = history_plan(h, &p->history_sessions, &p->history_calls);
	if (!why) {
		log_info("history: %zu session%s for %zu calls", p->history_sessions,
		         plural(p->history_sessions), p->history_calls);
	}
	int failed = history_run(h, &conf, &p->history, err);
	history_free(h);
	if (!failed)
		doubt(p, &p->history);
	return failed;
}

int property_history(struct probe *p, struct property *out, struct error *err)
{
	const struct history_verdict *v = &p->history;

	if (probe_history(p, err))
		return -1;
	switch (v->answer) {
	case HISTORY_UNKNOWN:
		property_judge(out, PROPERTY_UNKNOWN, "not shown");
		property_evidence(out, "%s", v->why);
		if (p->opened)
			property_fix(out, FIX_CALLS);
		return 0;
	case HISTORY_NONE:
		property_judge(out, PROPERTY_FAIL, "no history");
		property_evidence(out, "%zu of %zu replies are the same in a fresh session",
		                  v->compared, v->compared);
		property_fix(
			out,
			"the session or the environment is rebuilt for each call: keep it between "
			"calls; tools that look a value up, echo one, or set it whatever it was, "
			"need none");
		break;
	case HISTORY_KEPT:
		property_judge(out, v->doubtful ? PROPERTY_UNKNOWN : PROPERTY_OK,
		               v->doubtful ? "kept by some calls" : "kept");
		if (v->depend) {
			property_evidence(out, "%zu of %zu replies depend on earlier calls%s",
			                  v->depend, v->compared,
			                  v->drawn ? ", of calls drawn from the tools' schemas"
			                           : "");
		} else {
			property_evidence(out, "the same call, sent twice, got two replies");
		}
		if (v->why[0] && !v->drawn)
			property_evidence(out, "but %s", v->why);
		if (v->doubtful)
			property_fix(out, FIX_CALLS);
		break;
	}
	property_evidence(out, "%zu session%s for %zu calls", p->history_sessions,
	                  plural(p->history_sessions), p->history_calls);
	return 0;
}
