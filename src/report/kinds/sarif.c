/* SARIF 2.1.0 (OASIS, 2020), limited to what code scanning reads: all rules with their help, a
   result with file and line for each finding and for each case that differs or has no result, and
   whether every case had a result. */
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
	size_t results, left_out;
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

	*w = jw_form(r->out,
	             "{$schema:'https://json.schemastore.org/sarif-2.1.0.json',version:'2.1.0',"
	             "runs:[{tool:{driver:{name:'rolldbg',version:%t",
	             r->conf->version);
	put_rules(r, w);
	jw_pack(w, "}},columnKind:'unicodeCodePoints',results:[");
}

/* ---- results ---- */

/* A relative reference or a file: URI. */
static void put_uri(struct buf *out, const char *path)
{
	buf_text(out, path[0] == '/' ? "file://" : "");
	text_put_uri(out, str_from(path), "/");
}

static void put_place(struct json_writer *w, const struct report_case *c, uint64_t line,
                      const char *pointer)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	jw_put_array(w, "locations");
	if (c->file && strcmp(c->file, "-") != 0) {
		put_uri(&text, c->file);
		jw_pack(w, "{physicalLocation:{artifactLocation:{uri:%s},region:{startLine:%i}}}",
		        buf_view(&text), (int64_t)(line ? line : 1));
		buf_clear(&text);
	}
	jw_end(w);
	if (c->rollout.p) {
		text_escape(&text, c->rollout);
		text_escape(&text, str_from(pointer));
		jw_pack(w, "partialFingerprints:{rolloutAndPointer/v1:%s}", buf_view(&text));
	}
}

struct sarif_result {
	const char *rule; /* of checks.def, or one of own_rules */
	enum severity severity;
	uint64_t line; /* 0: unknown */
	struct str message;
	const char *pointer;
};

static size_t index_of(const char *rule)
{
	size_t i = 0, own = 0;

	while (i < checks_count && strcmp(checks[i]->id, rule) != 0)
		i++;
	while (i == checks_count && strcmp(own_rules[own].id, rule) != 0)
		own++;
	return i + own;
}

/* About all recordings, if the case has no file and no rollout. */
static void put_result(struct sarif *s, const struct report_case *c,
                       const struct sarif_result *result)
{
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);

	s->results++;
	add_safe(&message, result->message);
	jw_pack(&s->w, "{ruleId:%t,ruleIndex:%i,level:%t,message:{text:%s}", result->rule,
	        (int64_t)index_of(result->rule), level_of(result->severity), buf_view(&message));
	put_place(&s->w, c, result->line, result->pointer);
	jw_end(&s->w);
}

/* If there is room: the last result is reserved for the number left out. */
static void put_of_case(struct sarif *s, const struct report_case *c, struct sarif_result result)
{
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);

	if (s->results == RESULTS_MAX - 1) {
		s->left_out++;
		return;
	}
	case_name(c, &message);
	buf_text(&message, ": ");
	buf_str(&message, result.message);
	result.message = buf_view(&message);
	put_result(s, c, &result);
}

static void rollout(struct report *r, const struct report_case *c)
{
	struct report_case alone = *c;
	enum own_rule rule = !c->problem ? RULE_DIFFERENCE
	                     : c->golden ? RULE_SUITE
	                                 : RULE_NO_RESULT;

	for (size_t i = 0; c->verdict && i < c->verdict->finding_count; i++) {
		const struct finding *f = &c->verdict->findings[i];

		put_of_case(r->state, c,
		            (struct sarif_result){f->rule, f->severity, f->line ? f->line : c->line,
		                                  str_from(f->message), f->pointer});
	}
	alone.verdict = NULL; /* its findings are results of their own */
	if (c->problem || (c->compared && c->result != CASE_PASSED)) {
		case_text_finish(&r->text, &alone);
		put_of_case(r->state, c,
		            (struct sarif_result){own_rules[rule].id, SEVERITY_ERROR, r->text.line,
		                                  buf_view(&r->text.title), ""});
	}
}

static void end(struct report *r, const struct report_totals *t)
{
	struct sarif *s = r->state;
	struct json_writer *w = &s->w;
	char more[64];

	if (s->left_out) {
		snprintf(more, sizeof(more), "%zu more results are not in this report",
		         s->left_out);
		put_result(s, &(struct report_case){.file = NULL},
		           &(struct sarif_result){own_rules[RULE_LEFT_OUT].id, SEVERITY_ERROR, 0,
		                                  str_from(more), ""});
	}
	jw_pack(w, "],invocations:[{executionSuccessful:%b}]}]}", t->errors == 0);
	buf_char(r->out, '\n');
}

static const char *const begins[] = {
	"{\"$schema\":\"https://json.schemastore.org/sarif-",
	NULL,
};

const struct report_kind report_kind_sarif = {.file = {"a SARIF report", begins},
                                              .state_size = sizeof(struct sarif),
                                              .begin = begin,
                                              .rollout = rollout,
                                              .end = end};
