/* Verdicts on their way out: see verdicts.h. */
#include "cmd/verdicts.h"

static enum severity threshold(const struct verdicts *v, bool *never)
{
	*never = v->fail_on && !strcmp(v->fail_on, "never");
	if (v->fail_on && !strcmp(v->fail_on, "warning")) {
		return SEVERITY_WARNING;
	}
	return v->fail_on && !strcmp(v->fail_on, "info") ? SEVERITY_INFO : SEVERITY_ERROR;
}

void verdicts_take(void *ctx, const struct rollout_verdict *r)
{
	struct verdicts *v = ctx;
	bool never;
	enum severity least = threshold(v, &never);

	for (size_t i = 0; i < r->finding_count; i++) {
		v->at_or_above += !never && r->findings[i].severity >= least;
	}
	if (v->json) {
		report_json_verdict(r, &v->out.text);
	} else {
		report_findings(r, v->names, v->context->style, &v->out.text);
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
	if (s.errors + s.warnings + s.infos > 0) {
		buf_printf(out, "findings: %lld errors, %lld warnings, %lld infos\n",
		           (long long)s.errors, (long long)s.warnings,
		           (long long)s.infos);
	}
	if (judge_not_checked(j) && *judge_not_checked(j)) {
		buf_printf(out, "not checked, their facts were stripped: %s\n",
		           judge_not_checked(j));
	}
}
