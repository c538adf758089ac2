/* SARIF 2.1.0 (OASIS, 2020), limited to what code scanning reads: all rules with their help, a
   result with file and line for each finding and difference, and whether every case had a
   result. */
#include "base/text.h"
#include "json/write.h"
#include "report/kinds/kind.h"

#include <stdio.h>

#define RESULTS_MAX ((size_t)25000) /* per run: GitHub rejects a file with more */

/* Rules in addition to checks.def. */
enum own_rule { RULE_DIFFERENCE, RULE_SUITE, RULE_NO_RESULT, RULE_LEFT_OUT };
static const struct {
	const char *id, *title, *help;
} own_rules[] = {
	[RULE_DIFFERENCE] =
		{"golden-difference", "the environment's replies differ from the golden",
                 "The golden's calls were sent to the environment again, and its replies differ "
                 "from the recorded ones."},
	[RULE_SUITE] = {"golden-suite", "the goldens do not match the tasks",
                        "A golden without a task is obsolete: delete it. A task without a "
                        "golden lacks one: record it."},
	[RULE_NO_RESULT] = {"no-result", "a rollout or a recording has no result",
                            "The environment was not reached or was lost, or the recording cannot "
                            "be read."},
	[RULE_LEFT_OUT] = {"left-out", "there are more results than a report may contain",
                           "Fix or mask the reported differences, and run the command again."},
};

struct sarif {
	struct json_writer w;
	/* differences of the next case, discarded if that case was accepted */
	struct buf pending;
	size_t results, pending_results, left_out;
};

/* ---- rules ---- */

/* "](" in a peer's text is broken up, so that it cannot form a link (section 3.11.6). */
static void add_safe(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ']' && i + 1 < text.n && text.p[i + 1] == '(')
			buf_char(out, '\\');
		buf_char(out, text.p[i]);
	}
}

static const char *level_of(enum severity s)
{
	return s == SEVERITY_INFO ? "note" : severity_name(s);
}

static void put_rule(struct json_writer *w, const char *id, struct str title, struct str help,
                     enum severity severity)
{
	AUTO_BUF safe_title = BUF(BUF_MAX_MESSAGE), safe_help = BUF(BUF_MAX_MESSAGE);

	add_safe(&safe_title, title);
	add_safe(&safe_help, help);
	jw_pack(w, "{id:%t,shortDescription:{text:%s},fullDescription:{text:%s},help:{text:%s}", id,
	        buf_view(&safe_title), buf_view(&safe_title), buf_view(&safe_help));
	jw_pack(w, "defaultConfiguration:{level:%t}}", level_of(severity));
}

static void put_rules(struct report *r, struct json_writer *w)
{
	AUTO_BUF title = BUF(BUF_MAX_SMALL), help = BUF(BUF_MAX_SMALL);

	jw_put_array(w, "rules");
	for (size_t i = 0; i < checks_count; i++) {
		buf_clear(&title);
		buf_clear(&help);
		r->conf->put_text(&title, checks[i]->title);
		r->conf->put_text(&help, checks[i]->why);
		put_rule(w, checks[i]->id, buf_view(&title), buf_view(&help), checks[i]->severity);
	}
	for (size_t i = 0; i < ARRAY_LEN(own_rules); i++) {
		put_rule(w, own_rules[i].id, str_from(own_rules[i].title),
		         str_from(own_rules[i].help), SEVERITY_ERROR);
	}
	jw_end(w);
}

static void begin(struct report *r)
{
	struct sarif *s = r->state;
	struct json_writer *w = &s->w;

	jw_init(w, r->out);
	jw_pack(w,
	        "{$schema:'https://json.schemastore.org/sarif-2.1.0.json',version:'2.1.0',"
	        "runs:[{tool:{driver:{name:'rolldbg',version:%t",
	        r->conf->version);
	put_rules(r, w);
	jw_pack(w, "}},columnKind:'unicodeCodePoints',results:[");
}

/* ---- results ---- */

/* A relative reference or a file: URI; bytes that are not unreserved are percent-encoded (RFC
   3986). */
static void put_uri(struct buf *out, const char *path)
{
	buf_text(out, path[0] == '/' ? "file://" : "");
	for (const char *p = path; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		             (*p >= '0' && *p <= '9') || strchr("-._~/", *p);

		if (plain)
			buf_char(out, *p);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
	}
}

/* The beginning of a result, up to its message. */
static void put_result(struct json_writer *w, const char *id, size_t index, enum severity severity,
                       struct str message)
{
	AUTO_BUF safe = BUF(BUF_MAX_MESSAGE);

	add_safe(&safe, message);
	jw_pack(w, "{ruleId:%t,ruleIndex:%i,level:%t,message:{text:%s}", id, (int64_t)index,
	        level_of(severity), buf_view(&safe));
}

static void put_place(struct json_writer *w, const char *file, uint64_t line, struct str rollout,
                      struct str pointer)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	jw_put_array(w, "locations");
	if (file && strcmp(file, "-") != 0) {
		put_uri(&text, file);
		jw_pack(w, "{physicalLocation:{artifactLocation:{uri:%s},region:{startLine:%i}}}",
		        buf_view(&text), (int64_t)(line ? line : 1));
		buf_clear(&text);
	}
	jw_end(w);
	if (rollout.p) {
		text_escape(&text, rollout);
		text_escape(&text, pointer);
		jw_pack(w, "partialFingerprints:{rolloutAndPointer/v1:%s}", buf_view(&text));
	}
	jw_end(w);
}

/* Reserves a result if there is room; the last one is reserved for the number left out. */
static bool has_room(struct sarif *s)
{
	bool room = s->results + s->pending_results < RESULTS_MAX - 1;

	s->results += room;
	s->left_out += !room;
	return room;
}

static void put_own(struct sarif *s, enum own_rule rule, const struct report_case *c,
                    struct str message)
{
	if (has_room(s)) {
		put_result(&s->w, own_rules[rule].id, checks_count + (size_t)rule, SEVERITY_ERROR,
		           message);
		put_place(&s->w, c->file, c->line, c->rollout, STR_NONE);
	}
}

static void difference(struct report *r, const struct difference_printer *at,
                       const struct difference *d)
{
	struct sarif *s = r->state;
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	if (!has_room(s))
		return;
	s->results--;
	s->pending_results++;
	s->pending.max = SIZE_MAX / 2; /* bounded by RESULTS_MAX */
	if (s->pending.n)
		buf_char(&s->pending, ',');
	text_escape(&message, d->rollout);
	buf_text(&message, ": ");
	report_difference_sentence(d, &message);
	jw_init(&w, &s->pending);
	put_result(&w, own_rules[RULE_DIFFERENCE].id, checks_count + RULE_DIFFERENCE,
	           SEVERITY_ERROR, buf_view(&message));
	put_place(&w, at->file, report_difference_line(d), d->rollout, d->pointer);
}

static void settle_differences(struct sarif *s, const struct report_case *c)
{
	if (c->result != CASE_PASSED && s->pending_results) {
		jw_raw(&s->w, buf_view(&s->pending));
		s->results += s->pending_results;
	}
	s->pending_results = 0;
	buf_clear(&s->pending);
}

static size_t index_of(const char *rule)
{
	size_t i = 0;

	while (i < checks_count && strcmp(checks[i]->id, rule) != 0)
		i++;
	return i;
}

static void put_finding(struct sarif *s, const struct report_case *c, const struct finding *f)
{
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);

	case_name(c, &message);
	buf_printf(&message, ": %s", f->message);
	if (has_room(s)) {
		put_result(&s->w, f->rule, index_of(f->rule), f->severity, buf_view(&message));
		put_place(&s->w, c->file, f->line ? f->line : c->line, c->rollout,
		          str_from(f->pointer));
	}
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct sarif *s = r->state;
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);

	settle_differences(s, c);
	for (size_t i = 0; c->verdict && i < c->verdict->finding_count; i++)
		put_finding(s, c, &c->verdict->findings[i]);
	if (c->problem) {
		case_name(c, &message);
		buf_text(&message, ": ");
		text_escape(&message, str_from(c->problem));
		put_own(s, c->golden ? RULE_SUITE : RULE_NO_RESULT, c, buf_view(&message));
	}
}

static void end(struct report *r, const struct report_totals *t)
{
	struct sarif *s = r->state;
	struct json_writer *w = &s->w;
	char more[64];

	if (s->left_out) {
		s->results = 0;
		snprintf(more, sizeof(more), "%zu more results are not in this report",
		         s->left_out);
		put_own(s, RULE_LEFT_OUT, &(struct report_case){.file = NULL}, str_from(more));
	}
	jw_pack(w, "],invocations:[{executionSuccessful:%b}]}]}", t->errors == 0);
	buf_char(r->out, '\n');
}

static void release(void *state)
{
	struct sarif *s = state;

	buf_release(&s->pending);
}

static const char *const begins[] = {
	"{\"$schema\":\"https://json.schemastore.org/sarif-",
	NULL,
};

const struct report_kind report_kind_sarif = {.file = {"a SARIF report", begins},
                                              .state_size = sizeof(struct sarif),
                                              .begin = begin,
                                              .difference = difference,
                                              .rollout = rollout,
                                              .end = end,
                                              .release = release};
