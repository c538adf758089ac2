/* JSON lines: finding, rollout, difference, summary. */
#include "base/text.h"
#include "report/differences.h"
#include "report/kinds/kind.h"

static void difference(struct report *r, const char *file, const struct difference *d)
{
	report_json_difference(d, file, r->out);
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct buf lines = BUF(BUF_MAX_MESSAGE);

	if (c->verdict) {
		report_json_verdict(c->verdict, &lines);
		text_escape_json(r->out, buf_view(&lines));
	}
	buf_release(&lines);
}

static void end(struct report *r, const struct report_totals *t)
{
	if (t->judge) {
		report_json_summary(t->judge, r->out);
	}
	if (t->compared) {
		report_difference_summary(t->compared, true, r->out);
	}
}

const struct report_kind report_kind_json = {
	.difference = difference, .rollout = rollout, .end = end};
