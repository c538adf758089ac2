/* JSON lines: finding, rollout, difference, summary. */
#include "base/text.h"
#include "json/write.h"
#include "report/kinds/kind.h"

static void difference(struct report *r, const struct difference_printer *at,
                       const struct difference *d)
{
	struct difference_printer *p = r->state;
	AUTO_BUF line = BUF(SIZE_MAX / 2);

	p->json = true;
	p->file = at->file;
	p->replayed = at->replayed;
	report_difference(p, d, &line);
	text_escape_json(r->out, buf_view(&line));
}

static void rollout(struct report *r, const struct report_case *c)
{
	AUTO_BUF lines = BUF(BUF_MAX_MESSAGE);

	if (c->golden) {
		json_pack(&lines, "{type:'golden',kind:%t,file:%t,task:%s}", c->golden, c->file,
		          c->task);
		buf_char(&lines, '\n');
	}
	if (c->verdict)
		report_json_verdict(c->verdict, &lines);
	text_escape_json(r->out, buf_view(&lines));
}

static void end(struct report *r, const struct report_totals *t)
{
	if (t->judge)
		report_json_summary(t->judge, r->out);
	if (t->compared)
		report_difference_summary(t->compared, true, r->out);
}

static void release(void *state)
{
	difference_printer_release(state);
}

static const char *const begins[] = {
	"{\"type\":\"rollout\"",
	"{\"type\":\"finding\"",
	"{\"type\":\"difference\"",
	"{\"type\":\"divergence\"",
	"{\"type\":\"golden\"",
	"{\"type\":\"summary\"",
	NULL,
};

const struct report_kind report_kind_json = {.file = {"JSON lines of a report", begins},
                                             .state_size = sizeof(struct difference_printer),
                                             .difference = difference,
                                             .rollout = rollout,
                                             .end = end,
                                             .release = release};
