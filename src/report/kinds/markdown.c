/* Markdown for a job summary: the number of failed rollouts, then each failure with its reason.
   Untrusted text is in code spans and in fenced blocks whose fences are longer than any run of
   backticks in it, so that it is not parsed as markup (CommonMark sections 4.5 and 6.1). */
#include "base/text.h"
#include "report/kinds/kind.h"

#define TOTAL_MAX ((size_t)900 << 10) /* GitHub accepts 1 MiB per step */

struct markdown {
	size_t written, left_out;
};

static size_t longest_ticks(struct str text)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void put_ticks(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, '`');
}

static void put_span(struct buf *out, struct str text)
{
	size_t ticks = longest_ticks(text) + 1;
	const char *space = ticks > 1 ? " " : "";

	put_ticks(out, ticks);
	buf_text(out, space);
	buf_str(out, text.n ? text : STR(" "));
	buf_text(out, space);
	put_ticks(out, ticks);
}

static void put_block(struct buf *out, struct str text)
{
	size_t ticks = longest_ticks(text);

	ticks = ticks < 3 ? 3 : ticks + 1;
	put_ticks(out, ticks);
	buf_text(out, "text\n");
	buf_str(out, text);
	put_ticks(out, ticks);
	buf_text(out, "\n\n");
}

static void put_case(struct buf *out, const struct report_case *c, const struct case_text *t)
{
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

	buf_text(out, c->result == CASE_ERROR ? "**no result** " : "**failed** ");
	if (c->file) {
		text_escape(&name, str_from(c->file));
		if (t->line)
			buf_printf(&name, ":%llu", (unsigned long long)t->line);
		put_span(out, buf_view(&name));
		buf_char(out, ' ');
		buf_clear(&name);
	}
	case_name(c, &name);
	put_span(out, buf_view(&name));
	buf_text(out, "\n\n");
	put_block(out, buf_view(&t->body));
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct markdown *m = r->state;
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	case_text_finish(&r->text, c);
	if (c->result != CASE_PASSED) {
		put_case(&text, c, &r->text);
		if (m->written + text.n > TOTAL_MAX) {
			m->left_out++;
		} else {
			buf_str(r->out, buf_view(&text));
			m->written += text.n;
		}
	}
}

static void put_count(struct buf *out, size_t n, const char *what)
{
	if (n)
		buf_printf(out, ", %zu %s", n, what);
}

static void end(struct report *r, const struct report_totals *t)
{
	struct markdown *m = r->state;
	bool passed = !t->failed && !t->errors;
	struct judge_summary s;

	buf_printf(&r->head, "### %s rolldbg %s: %zu rollout%s", passed ? "✅" : "❌",
	           r->conf->command, t->rollouts, plural(t->rollouts));
	put_count(&r->head, t->failed, "failed");
	put_count(&r->head, t->errors, "without a result");
	buf_text(&r->head, "\n\n");
	if (t->judge) {
		judge_summary(t->judge, &s);
		report_counters(s.turns, s.steps, s.effective, s.unknown, s.failed, s.reward,
		                &r->head);
		buf_char(&r->head, '\n');
	}
	if (m->left_out) {
		buf_printf(r->out, "%zu more, not listed: the summary would be too long\n",
		           m->left_out);
	}
}

const struct report_kind report_kind_markdown = {
	.file = {"a markdown report",
                 (const char *const[]){"### ✅ rolldbg ", "### ❌ rolldbg ", NULL}},
	.state_size = sizeof(struct markdown),
	.head_last = true,
	.rollout = rollout,
	.end = end};
