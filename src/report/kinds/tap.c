/* Test Anything Protocol, version 13: one test per rollout. A failed test has a YAML block with
   quoted scalars and one literal block, as parsed by prove and other harnesses. */
#include "base/text.h"
#include "json/write.h"
#include "report/kinds/kind.h"

struct tap {
	size_t count;
};

static void begin(struct report *r)
{
	buf_text(r->out, "TAP version 13\n");
}

/* '#' starts a directive, and a backslash is the escape character. */
static void put_description(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '#' || text.p[i] == '\\')
			buf_char(out, '\\');
		buf_char(out, text.p[i]);
	}
}

/* A literal block. Its lines are already escaped, so they cannot end it. */
static void put_details(struct buf *out, struct str lines)
{
	buf_text(out, "  details: |\n");
	while (lines.n) {
		buf_text(out, "    ");
		buf_str(out, str_cut(&lines, '\n'));
		buf_char(out, '\n');
	}
}

static void put_quoted(struct buf *out, struct str text)
{
	AUTO_BUF quoted = BUF(BUF_MAX_MESSAGE);

	json_quote(&quoted, text);
	text_escape_json(out, buf_view(&quoted));
	buf_char(out, '\n');
}

static void put_block(struct buf *out, const struct report_case *c, const struct case_text *t)
{
	buf_printf(out, "  ---\n  severity: %s\n", c->result == CASE_ERROR ? "error" : "fail");
	if (c->file) {
		buf_text(out, "  file: ");
		put_quoted(out, str_from(c->file));
	}
	if (t->line)
		buf_printf(out, "  line: %llu\n", (unsigned long long)t->line);
	buf_text(out, "  message: ");
	put_quoted(out, buf_view(&t->title));
	put_details(out, buf_view(&t->body));
	buf_text(out, "  ...\n");
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct tap *t = r->state;
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

	case_text_finish(&r->text, c);
	if (c->file) {
		text_escape(&name, str_from(c->file));
		buf_text(&name, ": ");
	}
	case_name(c, &name);
	buf_printf(r->out, "%sok %zu - ", c->result == CASE_PASSED ? "" : "not ", ++t->count);
	put_description(r->out, buf_view(&name));
	buf_char(r->out, '\n');
	if (c->result != CASE_PASSED)
		put_block(r->out, c, &r->text);
}

static void end(struct report *r, const struct report_totals *t)
{
	buf_printf(r->out, t->cases ? "1..%zu\n" : "1..%zu # skip no rollouts\n", t->cases);
}

const struct report_kind report_kind_tap = {
	.file = {"a TAP report", (const char *const[]){"TAP version ", NULL}},
	.state_size = sizeof(struct tap),
	.begin = begin,
	.rollout = rollout,
	.end = end};
