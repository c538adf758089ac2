/* Text for a failed case: see kind.h. */
#include "report/kinds/kind.h"

#include "base/text.h"

#include <stdlib.h>

static const struct style plain = {.columns = 0};

static void make_usable(struct case_text *t)
{
	if (!t->title.max) {
		t->title = BUF(BUF_MAX_MESSAGE);
		t->body = BUF(BUF_MAX_MESSAGE);
		t->printer = (struct difference_printer){.style = plain};
	}
}

/* Removes an addition that exceeds the cap. */
static void keep_within_cap(struct case_text *t, size_t before)
{
	if (t->body.n > CASE_TEXT_MAX) {
		buf_cut(&t->body, before);
		t->left_out++;
	}
}

/* The difference in the title: what the rollout came to, else a change, else any. */
static int rank_of(const struct difference *d)
{
	static const char *const results[] = {"/reward",  "/total_reward", "/status",
	                                      "/outcome", "/terminated",   "/truncated"};

	for (size_t i = 0; i < ARRAY_LEN(results); i++)
		if (str_is(d->pointer, results[i]))
			return 0;
	return d->kind == DIFFERENCE_ADDED || d->kind == DIFFERENCE_REMOVED ? 2 : 1;
}

static void case_text_difference(struct case_text *t, const struct difference *d)
{
	make_usable(t);
	size_t before = t->body.n;
	int rank = rank_of(d);

	if (t->count++ == 0 || rank < t->rank) {
		buf_clear(&t->title);
		t->rank = rank;
		t->kind = "difference";
		t->line = report_difference_line(d);
		report_difference_sentence(d, &t->title);
	}
	if (t->left_out) {
		t->left_out++;
		return;
	}
	report_difference(&t->printer, d, &t->body);
	keep_within_cap(t, before);
}

static void add_finding(struct case_text *t, const struct rollout_verdict *v, size_t index)
{
	const struct finding *f = &v->findings[index];
	size_t before = t->body.n;

	report_finding(v, f, ORIGIN_NONE, plain, &t->body);
	if (t->count++ == 0) {
		t->kind = f->rule;
		t->line = f->line;
		buf_add(&t->title, t->body.p + before, t->body.n - before - 1);
	}
	keep_within_cap(t, before);
}

/* Errors first: a case that failed has the name of what it failed for. */
static void add_findings(struct case_text *t, const struct rollout_verdict *v)
{
	static const enum severity order[] = {SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO};

	for (size_t k = 0; k < ARRAY_LEN(order); k++) {
		for (size_t i = 0; i < v->finding_count; i++)
			if (v->findings[i].severity == order[k])
				add_finding(t, v, i);
	}
}

static void add_problem(struct case_text *t, const struct report_case *c)
{
	const struct rollout_verdict *v = c->verdict;

	t->kind = v ? end_status_name(v->status) : c->golden ? c->golden : "no-result";
	t->line = 0;
	buf_clear(&t->title);
	text_escape(&t->title, str_from(c->problem));
	buf_str(&t->body, buf_view(&t->title));
	buf_char(&t->body, '\n');
}

void case_text_finish(struct case_text *t, const struct report_case *c)
{
	make_usable(t);
	if (c->verdict)
		add_findings(t, c->verdict);
	if (c->verdict && c->verdict->failure && (t->count || c->problem)) {
		buf_printf(&t->body, "failure: %s%s\n", failure_cause_name(c->verdict->failure),
		           c->verdict->no_reward ? "; its reward is not a reward" : "");
	}
	if (c->problem)
		add_problem(t, c);
	else if (t->count > 1)
		buf_printf(&t->title, " (and %zu more)", t->count - 1);
	if (t->left_out)
		buf_printf(&t->body, "%zu more\n", t->left_out);
	if (c->hint)
		text_escape_line(&t->body, str_from(c->hint));
	t->line = t->line ? t->line : c->line;
}

static void case_text_clear(struct case_text *t)
{
	buf_clear(&t->title);
	buf_clear(&t->body);
	difference_printer_release(&t->printer);
	t->kind = NULL;
	t->count = t->left_out = 0;
	t->line = 0;
}

void case_name(const struct report_case *c, struct buf *out)
{
	/* false: described by its task or file instead */
	bool rollout = c->rollout.p && !(c->golden && c->task.p);

	if (rollout) {
		text_escape(out, c->rollout);
	} else if (c->task.p) {
		buf_text(out, c->golden ? "the golden of task " : "");
		text_escape(out, c->task);
		buf_text(out, c->golden ? "" : ", all samples");
	} else {
		buf_text(out, c->file ? "the whole file" : "all recordings");
	}
}

/* ---- what the driver of all kinds calls ---- */

void report_add_difference(struct report *r, const struct difference_printer *at,
                           const struct difference *d)
{
	if (r->kind->difference)
		r->kind->difference(r, at, d);
	else if (r->kind->rollout)
		case_text_difference(&r->text, d);
}

void report_add_case(struct report *r, const struct report_case *c)
{
	if (r->kind->rollout)
		r->kind->rollout(r, c);
	case_text_clear(&r->text);
}

void report_release(struct report *r)
{
	if (r->kind->release)
		r->kind->release(r->state);
	free(r->state);
	BUFS_RELEASE(&r->text.title, &r->text.body, &r->head);
	difference_printer_release(&r->text.printer);
}
