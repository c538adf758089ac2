/* Annotations of GitHub Actions: workflow commands in the log. A runner shows 10 per level and
   step, in log order, so they are buffered until the end and sorted worst first; those beyond the
   limit are counted in a plain line of the log.
   https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
#include "base/text.h"
#include "report/kinds/kind.h"

#define SHOWN_OF_A_LEVEL ((size_t)10)

/* The annotations of one level, formatted. */
struct annotations {
	struct buf lines;
	size_t count; /* including those beyond the limit */
};

struct github {
	struct annotations levels[SEVERITY_ERROR + 1]; /* by severity */
};

static const char *const commands[] = {
	[SEVERITY_INFO] = "notice", [SEVERITY_WARNING] = "warning", [SEVERITY_ERROR] = "error"};

/* A message ends at a line feed; a property also at ',' or ':'. */
static void put_escaped(struct buf *out, struct str text, const char *special)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] && strchr(special, text.p[i]))
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.p[i]);
		else
			buf_char(out, text.p[i]);
}

static void put_property(struct buf *out, const char *before, const char *name, struct str value)
{
	buf_printf(out, "%s%s=", before, name);
	put_escaped(out, value, "%\r\n:,");
}

/* Adds an annotation for `line` of `file` (NULL: none). */
static void annotate(struct annotations *l, enum severity severity, const struct report_case *c,
                     uint64_t line, const char *title, struct str message)
{
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

	if (l->count++ >= SHOWN_OF_A_LEVEL)
		return;
	l->lines.max = BUF_MAX_MESSAGE;
	buf_printf(&l->lines, "::%s", commands[severity]);
	if (c->file && !c->fresh_file && strcmp(c->file, "-") != 0) {
		text_escape(&name, str_from(c->file));
		put_property(&l->lines, " ", "file", buf_view(&name));
		buf_clear(&name);
		buf_printf(&l->lines, ",line=%llu,", (unsigned long long)(line ? line : 1));
	} else {
		buf_char(&l->lines, ' ');
	}
	put_property(&l->lines, "", "title", str_from(title));
	buf_text(&l->lines, "::");
	case_name(c, &name);
	buf_text(&name, ": ");
	buf_str(&name, message);
	put_escaped(&l->lines, buf_view(&name), "%\r\n");
	buf_char(&l->lines, '\n');
}

/* Annotates all findings; a passed case can have warnings. */
static void annotate_findings(struct github *g, const struct report_case *c)
{
	for (size_t i = 0; c->verdict && i < c->verdict->finding_count; i++) {
		const struct finding *f = &c->verdict->findings[i];

		annotate(&g->levels[f->severity], f->severity, c, f->line ? f->line : c->line,
		         f->rule, str_from(f->message));
	}
}

/* One annotation for all differences, since the limit is low: the first difference, and the
   hint. */
static void annotate_case(struct github *g, struct case_text *t, const struct report_case *c)
{
	if (c->hint) {
		buf_char(&t->title, '\n');
		buf_text(&t->title, c->hint);
	}
	annotate(&g->levels[SEVERITY_ERROR], SEVERITY_ERROR, c, t->line, t->kind,
	         buf_view(&t->title));
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct github *g = r->state;

	annotate_findings(g, c);
	if (c->problem || c->compared) {
		struct report_case alone = *c;

		alone.verdict = NULL; /* its findings have their own annotations */
		case_text_finish(&r->text, &alone);
		if (c->result != CASE_PASSED) /* accepted differences get no annotation */
			annotate_case(g, &r->text, c);
	}
}

static void end(struct report *r, const struct report_totals *t)
{
	struct github *g = r->state;
	AUTO_BUF more = BUF(BUF_MAX_SMALL);

	for (size_t i = ARRAY_LEN(g->levels); i-- > 0;) {
		const struct annotations *l = &g->levels[i];
		size_t n = l->count > SHOWN_OF_A_LEVEL ? l->count - SHOWN_OF_A_LEVEL : 0;

		buf_str(r->out, buf_view(&l->lines));
		if (n) {
			buf_printf(&more, "%s%zu more %s%s", more.n ? ", " : "", n, commands[i],
			           plural(n));
		}
	}
	if (more.n) {
		buf_printf(r->out, "rolldbg: not annotated: %s (GitHub shows %zu of a level)\n",
		           buf_cstr(&more), SHOWN_OF_A_LEVEL);
	}
}

static void release(void *state)
{
	struct github *g = state;

	for (size_t i = 0; i < ARRAY_LEN(g->levels); i++)
		buf_release(&g->levels[i].lines);
}

const struct report_kind report_kind_github = {
	.file = {"a report of annotations",
                 (const char *const[]){"::error ", "::warning ", "::notice ", NULL}},
	.state_size = sizeof(struct github),
	.rollout = rollout,
	.end = end,
	.release = release};
