/* Verdicts on their way out: see verdicts.h. */
#include "cmd/verdicts.h"

#include "base/text.h"
#include "check/baseline.h"

static enum severity threshold(const struct verdicts *v, bool *never)
{
	*never = v->fail_on && !strcmp(v->fail_on, "never");
	if (v->fail_on && !strcmp(v->fail_on, "warning")) {
		return SEVERITY_WARNING;
	}
	return v->fail_on && !strcmp(v->fail_on, "info") ? SEVERITY_INFO : SEVERITY_ERROR;
}

static bool is_one_of(struct str status, const char *const *words)
{
	while (*words && !str_is(status, *words)) {
		words++;
	}
	return *words != NULL;
}

static const char *const own_ends[] = {"terminated", "truncated", "finished",
                                       "max-turns",  "stopped",   NULL};
/* Nobody wanted these. (An interrupt somebody did.) */
static const char *const failures[] = {"refused", "unreachable", "failed", NULL};

int verdict_told(const struct verdict_options *o, struct told *out, struct error *err)
{
	struct baseline *b = o->baselines.count ? baseline_new() : NULL;

	*out = (struct told){.read_only = o->read_only,
	                     .noop = o->noop,
	                     .baseline = b,
	                     .errors = o->expected.item,
	                     .error_count = o->expected.count};
	for (size_t i = 0; i < o->baselines.count; i++) {
		if (baseline_add(b, o->baselines.item[i], err)) {
			return -1;
		}
	}
	return 0;
}

void told_release(struct told *t)
{
	baseline_free(t->baseline);
	t->baseline = NULL;
}

static struct held_back *held_of(struct verdicts *v, const char *rule)
{
	for (size_t i = 0; i < v->held_count; i++) {
		if (!strcmp(v->held[i].rule, rule)) {
			return &v->held[i];
		}
	}
	if (v->held_count == ARRAY_LEN(v->held)) {
		return NULL;
	}
	v->held[v->held_count] = (struct held_back){rule, SEVERITY_INFO, 0, 0};
	return &v->held[v->held_count++];
}

static bool is_shown(struct verdicts *v, const struct finding *f)
{
	struct held_back *h = v->show_max ? held_of(v, f->rule) : NULL;

	if (!h || h->shown < v->show_max) {
		if (h) {
			h->shown++;
		}
		return true;
	}
	h->held++;
	h->severity = f->severity > h->severity ? f->severity : h->severity;
	return false;
}

/* Where many rollouts have the same trouble, a few of them say enough. */
static void show_findings(struct verdicts *v, const struct rollout_verdict *r)
{
	for (size_t i = 0; i < r->finding_count; i++) {
		struct rollout_verdict one = *r;

		one.findings = &r->findings[i];
		one.finding_count = 1;
		if (is_shown(v, one.findings)) {
			report_findings(&one, v->whose, v->context->style, &v->out.text);
		}
	}
}

static void show_held_back(const struct verdicts *v, struct buf *out)
{
	for (size_t i = 0; i < v->held_count; i++) {
		const struct held_back *h = &v->held[i];

		if (h->held) {
			buf_printf(out, "%s: %s: %lld more of these (-v shows all)\n",
			           severity_name(h->severity), h->rule,
			           (long long)h->held);
		}
	}
}

void verdicts_take(void *ctx, const struct rollout_verdict *r)
{
	struct verdicts *v = ctx;
	bool never;
	enum severity least = threshold(v, &never);

	for (size_t i = 0; i < r->finding_count; i++) {
		v->at_or_above += !never && r->findings[i].severity >= least;
	}
	v->unfinished += r->rollout.p && !is_one_of(r->status, own_ends);
	v->broken += !never && r->rollout.p && is_one_of(r->status, failures);
	if (v->json) {
		struct buf lines = BUF(BUF_MAX_MESSAGE);

		report_json_verdict(r, &lines);
		text_escape_json(&v->out.text, buf_view(&lines));
		buf_release(&lines);
	} else {
		show_findings(v, r);
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
	show_held_back(v, out);
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
