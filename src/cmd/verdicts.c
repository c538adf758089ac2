/* Verdicts on their way out: see verdicts.h. */
#include "cmd/verdicts.h"

#include "base/text.h"

static enum severity threshold(const struct verdicts *v, bool *never)
{
	*never = v->fail_on && !strcmp(v->fail_on, "never");
	if (v->fail_on && !strcmp(v->fail_on, "warning")) {
		return SEVERITY_WARNING;
	}
	return v->fail_on && !strcmp(v->fail_on, "info") ? SEVERITY_INFO : SEVERITY_ERROR;
}

static bool ran_to_its_end(struct str status)
{
	static const char *const ends[] = {"terminated", "truncated", "finished",
	                                   "max-turns", "stopped"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		if (str_is(status, ends[i])) {
			return true;
		}
	}
	return false;
}

struct told verdict_told(const struct verdict_options *o)
{
	return (struct told){.read_only = o->read_only,
	                     .noop = o->noop,
	                     .errors = o->expected.item,
	                     .error_count = o->expected.count};
}

void verdicts_take(void *ctx, const struct rollout_verdict *r)
{
	struct verdicts *v = ctx;
	bool never;
	enum severity least = threshold(v, &never);

	for (size_t i = 0; i < r->finding_count; i++) {
		v->at_or_above += !never && r->findings[i].severity >= least;
	}
	v->unfinished += r->rollout.p && !ran_to_its_end(r->status);
	if (v->json) {
		struct buf lines = BUF(BUF_MAX_MESSAGE);

		report_json_verdict(r, &lines);
		text_escape_json(&v->out.text, buf_view(&lines));
		buf_release(&lines);
	} else {
		report_findings(r, v->whose, v->context->style, &v->out.text);
	}
}

void verdicts_summary(struct verdicts *v, const struct judge *j)
{
	struct judge_summary s;
	struct buf *out = &v->out.text;

	if (v->json) {
		report_json_summary(j, out);
		return;
	}
	if (v->context->quiet) {
		return;
	}
	judge_summary(j, &s);
	if (s.rollouts != 1) {
		buf_printf(out, "%lld rollouts · ", (long long)s.rollouts);
	}
	report_counters(s.turns, s.steps, s.effective, s.unknown, s.failed, s.reward,
	                out);
	report_conclusion(&s, v->unfinished, v->context->style, out);
	if (judge_not_checked(j) && *judge_not_checked(j)) {
		buf_printf(out, "not checked, their facts were stripped: %s\n",
		           judge_not_checked(j));
	}
}
