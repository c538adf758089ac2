/* JUnit XML: one suite, a testcase per rollout. Only widely supported elements and attributes are
   used: those in the schema of Jenkins' xunit plugin (junit-10.xsd), which GitLab reads as well.
   Failures are findings and differences; errors are rollouts without a result. */
#include "base/text.h"
#include "report/kinds/kind.h"

/* ---- XML ---- */

/* U+FFFE and U+FFFF, which XML 1.0 forbids (section 2.2). */
static bool is_noncharacter(struct str s)
{
	return s.n >= 3 && !memcmp(s.p, "\xef\xbf", 2) &&
	       ((unsigned char)s.p[2] == 0xbe || (unsigned char)s.p[2] == 0xbf);
}

/* Appends escaped text (base/text.h), whose only control characters are line feeds. */
static void put_xml(struct buf *out, struct str text)
{
	static const char special[] = "&<>\""; /* "]]>" is not allowed in text */
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

	for (size_t i = 0; i < text.n; i++) {
		const char *found = text.p[i] ? strchr(special, text.p[i]) : NULL;

		if (found) {
			buf_text(out, entities[found - special]);
		} else if (is_noncharacter(str_skip(text, i))) {
			buf_printf(out, "\\u{fff%c}",
			           (unsigned char)text.p[i + 2] == 0xbe ? 'e' : 'f');
			i += 2;
		} else {
			buf_char(out, text.p[i]);
		}
	}
}

static void put_attribute(struct buf *out, const char *name, struct str value)
{
	buf_printf(out, " %s=\"", name);
	put_xml(out, value);
	buf_char(out, '"');
}

static void put_count(struct buf *out, const char *name, size_t n)
{
	buf_printf(out, " %s=\"%zu\"", name, n);
}

/* In seconds. A reader may need it: without, one of them shows NaN. */
static void put_time(struct buf *out, uint64_t ms)
{
	buf_printf(out, " time=\"%llu.%03llu\"", (unsigned long long)(ms / 1000),
	           (unsigned long long)(ms % 1000));
}

static void put_element(struct buf *out, const char *name, const struct case_text *t)
{
	buf_printf(out, "<%s", name);
	put_attribute(out, "type", str_from(t->kind ? t->kind : name));
	put_attribute(out, "message", buf_view(&t->title));
	buf_char(out, '>');
	put_xml(out, buf_view(&t->body));
	buf_printf(out, "</%s>\n", name);
}

/* ---- the report ---- */

/* Consumers identify a test by this name across runs, and use the part before the last dot as its
   package. */
static void put_classname(struct report *r, const struct report_case *c)
{
	static const char suffix[] = ".jsonl";
	struct str file = str_from(c->file && !c->fresh_file ? c->file : r->conf->command);
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	size_t n = sizeof(suffix) - 1;

	if (file.n > n && !memcmp(file.p + file.n - n, suffix, n))
		file.n -= n;
	text_escape(&name, file);
	put_attribute(r->out, "classname", buf_view(&name));
}

static void rollout(struct report *r, const struct report_case *c)
{
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

	case_text_finish(&r->text, c);
	case_name(c, &name);
	buf_text(r->out, "<testcase");
	put_classname(r, c);
	put_attribute(r->out, "name", buf_view(&name));
	put_time(r->out, c->took_ms);
	if (c->result == CASE_PASSED && !r->text.body.n) {
		buf_text(r->out, "/>\n");
	} else {
		buf_text(r->out, ">\n");
		if (c->result == CASE_PASSED) { /* findings below the threshold */
			buf_text(r->out, "<system-out>");
			put_xml(r->out, buf_view(&r->text.body));
			buf_text(r->out, "</system-out>\n");
		} else {
			put_element(r->out, c->result == CASE_ERROR ? "error" : "failure",
			            &r->text);
		}
		buf_text(r->out, "</testcase>\n");
	}
}

static void put_suite(struct report *r, const char *element, const struct report_totals *t)
{
	buf_printf(&r->head, "<%s name=\"rolldbg %s\"", element, r->conf->command);
	put_count(&r->head, "tests", t->cases);
	put_count(&r->head, "failures", t->failed);
	put_count(&r->head, "errors", t->errors);
	put_time(&r->head, t->took_ms);
	buf_text(&r->head, ">\n");
}

static void end(struct report *r, const struct report_totals *t)
{
	buf_text(&r->head, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	put_suite(r, "testsuites", t);
	put_suite(r, "testsuite", t);
	buf_text(r->out, "</testsuite>\n</testsuites>\n");
}

const struct report_kind report_kind_junit = {
	.file = {"a JUnit report",
                 (const char *const[]){
			 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rolldbg ",
			 NULL}},
	.head_last = true,
	.rollout = rollout,
	.end = end};
