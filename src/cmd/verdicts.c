/* Prints verdicts: see verdicts.h. */
#include "cmd/verdicts.h"

#include "base/log.h"
#include "base/text.h"
#include "check/baseline_read.h"
#include "cmd/options/setting_options.h"
#include "cmd/store/store.h"
#include "json/scan.h"

#include <inttypes.h>

#define ROWS verdict
#include "cmd/options/rows.h"
const struct option_group verdict_group = {verdict_opts, ARRAY_LEN(verdict_opts),
                                           "verdict options"};

bool verdict_never_fails(const struct verdict_options *o)
{
	return o->fail_on && !strcmp(o->fail_on, "never");
}

/* The least severity that fails; above all severities: none does. */
static int threshold(const struct verdict_options *o)
{
	for (int s = 0; o->fail_on && s <= (int)SEVERITY_ERROR; s++)
		if (!strcmp(o->fail_on, severity_name((enum severity)s)))
			return s;
	return (int)SEVERITY_ERROR + verdict_never_fails(o);
}

/* Ended by a failure; an interrupt is not one. */
static bool is_failure(enum end_status s)
{
	return s == END_REFUSED || s == END_UNREACHABLE || s == END_FAILED;
}

static int64_t min_effective(const struct verdict_options *o)
{
	uint64_t n = o->min_effective.value;

	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

int verdict_hints(const struct verdict_options *o, const struct context *c, struct hints *out,
                  struct error *err)
{
	AUTO_ARENA names = {.last = NULL};
	double limit;
	int failed = failure_gate_read(o->max_failures, &limit, err);
	struct baseline *b = o->baselines.count ? baseline_new() : NULL;

	*out = (struct hints){.read_only = o->read_only,
	                      .noop = o->noop,
	                      .baseline = b,
	                      .errors = o->expected.item,
	                      .error_count = o->expected.count,
	                      .effects = o->effects.item,
	                      .effect_count = o->effects.count,
	                      .min_effective = min_effective(o)};
	for (size_t i = 0; i < o->baselines.count && !failed; i++) {
		const char *name = o->baselines.item[i];

		failed = store_name(c->variable, &name, &names, err) || baseline_add(b, name, err);
	}
	return failed ? -1 : 0;
}

void verdict_hints_release(struct hints *t)
{
	baseline_free(t->baseline);
	t->baseline = NULL;
}

static struct folded *folded_of(struct verdicts *v, const char *rule)
{
	for (size_t i = 0; i < v->folded_count; i++)
		if (!strcmp(v->folded[i].rule, rule))
			return &v->folded[i];
	if (v->folded_count == ARRAY_LEN(v->folded))
		return NULL;
	v->folded[v->folded_count] = (struct folded){.rule = rule, .first = v->taken};
	return &v->folded[v->folded_count++];
}

static bool is_shown(struct verdicts *v, const struct finding *f)
{
	struct folded *h = v->fold ? folded_of(v, f->rule) : NULL;

	if (!h)
		return true;
	h->severity = f->severity > h->severity ? f->severity : h->severity;
	h->count++;
	bool shown = v->brief ? h->count == 1 && !f->cause : h->first == v->taken;
	h->shown += shown;
	return shown;
}

static void note_worst(struct verdicts *v, const char *rule, enum severity severity)
{
	if (!v->worst || severity > v->worst_severity) {
		v->worst = rule;
		v->worst_severity = severity;
	}
}

static void show_findings(struct verdicts *v, const struct rollout_verdict *r)
{
	struct style style = v->context->style;
	AUTO_BUF causes = BUF(BUF_MAX_MESSAGE);

	for (size_t i = 0; i < r->finding_count; i++) {
		const struct finding *f = &r->findings[i];

		if (!is_shown(v, f))
			continue;
		report_finding(r, f, v->origin, style, &v->out.text);
		note_worst(v, f->rule, f->severity);
		if (!v->context->quiet && report_is_cause(r, f)) {
			report_cause(r, f, v->origin, style, &causes);
			v->has_cause = true;
		}
	}
	settings_as_options(causes.p, causes.n);
	buf_str(&v->out.text, buf_view(&causes));
}

void verdicts_end_file(struct verdicts *v)
{
	struct buf *out = &v->out.text;

	for (size_t i = 0; i < v->folded_count; i++) {
		const struct folded *h = &v->folded[i];

		if (h->count > 1 && h->count > h->shown) {
			if (v->file && v->origin == ORIGIN_FILE_AND_ROLLOUT) {
				text_escape(out, str_from(v->file));
				buf_text(out, ": ");
			}
			buf_printf(out, "%s: %s: %lld findings in all (-v shows each)\n",
			           severity_name(h->severity), h->rule, (long long)h->count);
		}
	}
	v->folded_count = 0;
}

/* ---- cases of reports ---- */

static bool has_no_result(const struct verdicts *v, enum end_status s)
{
	return (v->ends_count && is_failure(s) && s != END_REFUSED) ||
	       (v->live && s == END_INTERRUPTED);
}

static void report_verdict(struct verdicts *v, const struct rollout_verdict *r, int64_t count)
{
	AUTO_BUF reason = BUF(BUF_MAX_MESSAGE);
	struct report_case c = {.result = count ? CASE_FAILED : CASE_PASSED,
	                        .file = r->file,
	                        .fresh_file = v->fresh_file,
	                        .line = r->line,
	                        .rollout = r->rollout,
	                        .task = r->task,
	                        .verdict = r};

	bool lost = r->rollout.p && has_no_result(v, r->status);
	bool refused = r->rollout.p && v->ends_count && r->status == END_REFUSED;
	if (lost || refused) {
		buf_printf(&reason, "%s%s", end_status_name(r->status), r->reason.n ? ": " : "");
		buf_str(&reason, r->reason);
		c.result = lost ? CASE_ERROR : CASE_FAILED;
		c.problem = buf_cstr(&reason);
	}
	reports_case(v->reports, &c);
}

static bool same_file(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The file that contains the rollout, if it is one of its own. */
static const char *recording_of(struct verdicts *v, const struct rollout_verdict *r)
{
	if (!v->recordings->directory || !r->rollout.p)
		return r->file;
	buf_clear(&v->path);
	v->path.max = BUF_MAX_SMALL;
	recordings_path(v->recordings, r->rollout, &v->path);
	return buf_cstr(&v->path);
}

void verdicts_take(void *ctx, const struct rollout_verdict *verdict)
{
	struct verdicts *v = ctx;
	struct rollout_verdict placed = *verdict;
	const struct rollout_verdict *r = &placed;
	int least = threshold(v->options);
	int64_t count = 0;

	if (v->recordings) {
		v->origin = v->many && r->rollout.p ? ORIGIN_ROLLOUT : ORIGIN_NONE;
		placed.file = recording_of(v, r);
	}
	/* groups come after all files */
	const char *file = r->task.p && !r->rollout.p ? NULL : r->file;

	if (!v->brief && !same_file(v->file, file)) {
		verdicts_end_file(v);
		v->file = file;
	}
	v->taken++;
	for (size_t i = 0; i < r->finding_count; i++)
		count += (int)r->findings[i].severity >= least;
	v->at_or_above += count;
	v->unfinished += r->rollout.p && !end_status_is_reached(r->status);
	v->broken += !verdict_never_fails(v->options) && r->rollout.p && is_failure(r->status);
	report_verdict(v, r, count);
	if (v->html)
		html_file_verdict(v->html, r);
	if (reports_have_table(v->reports))
		show_findings(v, r);
}

void verdicts_line(void *ctx, const struct evidence_update *u)
{
	struct verdicts *v = ctx;

	if (v->html)
		html_file_line(v->html, u);
	if (v->line)
		v->line(v->ctx, u);
}

int verdicts_open(struct verdicts *v, const struct hints *hints,
                  const struct report_options *reports, const char *taken, struct error *err)
{
	const struct judge_conf conf = {.only = v->options->only,
	                                .without = v->options->without,
	                                .hints = *hints,
	                                .settings = settings_as_options,
	                                .places = reports->kinds.count > 0,
	                                .line = v->line ? verdicts_line : NULL,
	                                .verdict = verdicts_take,
	                                .ctx = v};

	if (judge_new(&conf, &v->judge, err) ||
	    reports_open(reports, v->context, &v->out.text, taken, &v->reports, err)) {
		return -1;
	}
	judge_file(v->judge, buf_cstr(&v->recordings->path));
	return 0;
}

int verdicts_feed(struct verdicts *v, const struct line *l, struct error *err)
{
	if (v->recordings->stored && !v->latest && recordings_is_worth_keeping(l)) {
		v->latest = true;
		if (store_set_latest(v->context, buf_cstr(&v->recordings->path), err))
			return -1;
	}
	return judge_line(v->judge, l, NULL, err);
}

void verdicts_print(struct verdicts *v)
{
	if (v->mute.kind == FAIL_NONE && v->out.text.n) {
		progress_give_way(v->progress);
		(void)!output_flush(&v->out, &v->mute);
		progress_go_on(v->progress);
	}
	buf_clear(&v->out.text);
}

void verdicts_release(struct verdicts *v)
{
	progress_free(v->progress);
	judge_free(v->judge);
	reports_free(v->reports);
	output_release(&v->out);
	buf_release(&v->path);
}

/* rules: ids, comma separated. Many are counted, and listed only with -v. */
static void put_not_checked(const char *rules, struct buf *out)
{
	enum { FEW = 3 };
	size_t count = 1;

	for (const char *comma = strchr(rules, ','); comma; comma = strchr(comma + 1, ','))
		count++;
	bool listed = count <= FEW || log_wants(LOG_INFO);
	buf_printf(out, "%zu of %zu rules need data that is not recorded, stripped or too large%s",
	           count, checks_count, listed ? ": " : " (-v lists them)\n");
	for (; listed && *rules; rules++) {
		buf_char(out, *rules);
		buf_text(out, *rules == ',' ? " " : "");
	}
	buf_text(out, listed ? "\n" : "");
}

void verdicts_summary(struct verdicts *v, const struct judge *j)
{
	struct judge_summary s;
	struct buf *out = &v->out.text;
	double limit = 1;

	judge_summary(j, &s);
	if (!failure_gate_read(v->options->max_failures, &limit, ERROR_IGNORED)) {
		v->at_or_above += failure_gate_exceeded(limit, failures_of_environment(&s.failures),
		                                        s.rollouts);
	}
	if (!reports_have_table(v->reports))
		return;
	verdicts_end_file(v);
	if (v->context->quiet)
		return;
	if (s.rollouts != 1)
		buf_printf(out, "%lld rollouts · ", (long long)s.rollouts);
	report_counters(s.turns, s.steps, s.effective, s.unknown, s.failed, s.reward, out);
	size_t at = out->n;

	report_failures(&s, v->context->style, out);
	report_conclusion(&s, v->unfinished, v->context->style, out);
	if (v->worst && !v->has_cause)
		report_more(v->worst, v->context->style, out);
	settings_as_options(out->p + at, out->n - at);
	if (judge_not_checked(j) && *judge_not_checked(j))
		put_not_checked(judge_not_checked(j), out);
}

/* ---- the gate of failures ---- */

int failure_gate_read(const char *text, double *limit, struct error *err)
{
	struct str number = str_from(text ? text : "1");
	struct json_fault fault;
	bool percent = number.n > 0 && number.p[number.n - 1] == '%';

	number.n -= percent;
	if (json_validate(number, &fault) || !json_double(number, limit) || *limit < 0 ||
	    *limit > (percent ? 100 : 1)) {
		return error_set(
			err, FAIL_USAGE,
			"--max-environment-failures: expected a share such as 5%% or 0.05, "
			"got '%s'",
			text);
	}
	*limit /= percent ? 100 : 1;
	return 0;
}

bool failure_gate_exceeded(double limit, int64_t failures, int64_t rollouts)
{
	double all = (double)rollouts;

	if ((double)failures <= limit * all)
		return false;
	log_error("%" PRId64 " of %" PRId64
	          " rollouts (%.3g%%) failed by the environment, which is more than %.3g%%",
	          failures, rollouts, 100 * (double)failures / all, 100 * limit);
	return true;
}
