/* rolldbg check: applies the rules to recordings. */
#include "base/names.h"
#include "base/text.h"
#include "check/judge.h"
#include "cmd/check_files.h"
#include "cmd/settings.h"
#include "cmd/store.h"
#include "cmd/threads.h"
#include "facts/trained.h"
#include "trajectory/reader.h"

#define EXPLAIN_WIDTH 78
#define RULE_COLUMN   24
#define TITLE_COLUMN  (RULE_COLUMN + 9)

struct check_options {
	struct verdict_options verdict;
	struct report_options report;
	const char *explain, *trained, *html;
	bool list, verify;
	struct opt_u64 jobs;
};

#define FIELD(f) offsetof(struct check_options, f)

static const struct opt options[] = {
	OPT_GROUP(FIELD(report), report_group),
	OPT_GROUP(FIELD(verdict), verdict_group),
	OPT_NUMBER('j', "jobs", "N", FIELD(jobs),
                   "check N files at a time (default 1); the output is the same"),
	OPT_STRING(0, "trainer-logprobs", "FILE", FIELD(trained),
                   "the trainer's log-probabilities of the sampled tokens, for kl-band"),
	OPT_STRING(0, "html", "FILE", FIELD(html),
                   "also write a page for browsers: the findings next to the steps"),
	OPT_STRING(0, "explain", "RULE", FIELD(explain),
                   "explain a rule and how to fix what it finds, and exit"),
	OPT_FLAG(0, "list", FIELD(list), "list the rules, and exit"),
	OPT_FLAG(0, "verify", FIELD(verify),
                 "recompute each state_hash and exit 3 at the first mismatch"),
};

/* ---- what the rules are ---- */

/* Appends a rule's explanation: each line of `why` is a paragraph, or a list item if it begins
   with "- ". */
static void put_paragraphs(struct str why, struct buf *out)
{
	while (why.n) {
		const char *end = memchr(why.p, '\n', why.n);
		size_t n = end ? (size_t)(end - why.p) : why.n;
		struct str paragraph = {why.p, n};

		if (str_starts(paragraph, STR("- "))) {
			buf_text(out, "- ");
			text_wrap(out, str_skip(paragraph, 2), 2, EXPLAIN_WIDTH);
		} else {
			buf_char(out, '\n');
			text_wrap(out, paragraph, 0, EXPLAIN_WIDTH);
		}
		why = str_skip(why, n + (end != NULL));
	}
}

/* The rule's title, severity, the rules it explains, and its explanation. */
static void explain_rule(const struct check *c, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_printf(&text, "%s: ", c->id);
	settings_put(&text, c->title);
	buf_text(&text, "\nSeverity: ");
	check_describe_severity(c, &text);
	for (size_t i = 0; i < EXPLAINS_MAX && c->explains[i]; i++) {
		buf_printf(&text, "%s%s", i ? ", " : "\nExplains: ", c->explains[i]->id);
	}
	text_wrap(out, buf_view(&text), 0, EXPLAIN_WIDTH);
	buf_clear(&text);
	settings_put(&text, c->why);
	put_paragraphs(buf_view(&text), out);
	buf_release(&text);
}

static int explain(const char *rule, struct error *err)
{
	const struct check *c = check_find(str_from(rule));
	struct output out = output_to_stdout();

	if (!c) {
		output_release(&out);
		check_unknown(str_from(rule), err);
		return error_wrap(err, "--explain");
	}
	explain_rule(c, &out.text);
	return output_close(&out, err);
}

/* One line per rule, so that grep works; wrapped on a terminal. */
static int list_rules(struct style style, struct error *err)
{
	struct output out = output_to_stdout();
	size_t width = style.terminal ? style.columns : SIZE_MAX;
	struct buf title = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < checks_count; i++) {
		buf_printf(&out.text, "%-*s%-*s", RULE_COLUMN, checks[i]->id,
		           TITLE_COLUMN - RULE_COLUMN, severity_name(checks[i]->severity));
		buf_clear(&title);
		settings_put(&title, checks[i]->title);
		text_wrap(&out.text, buf_view(&title), TITLE_COLUMN, width);
	}
	buf_release(&title);
	return output_close(&out, err);
}

/* ---- judging ---- */

static int open_page(const struct check_options *o, struct file_checking *k, struct error *err)
{
	return o->html ? html_file_open(k->verdicts->html, o->html,
	                                &(struct html_inputs){{k->files, NULL}}, err)
	               : 0;
}

static int check_files(const struct check_options *o, size_t jobs, struct file_checking *k,
                       struct error *err)
{
	if (k->files->many) {
		judge_many(k->judge);
	}
	if (k->files->count > 1) {
		k->verdicts->origin = ORIGIN_FILE_AND_ROLLOUT;
	}
	/* one thread: pairing with the trainer's file requires all recordings, and a page is
	   written in line order */
	if (open_page(o, k, err) || check_each_file(k, o->trained || o->html ? 1 : jobs, err)) {
		return -1;
	}
	judge_finish(k->judge);
	if (o->html) {
		html_file_summary(k->verdicts->html, k->judge, k->verdicts->unfinished);
		if (html_file_publish(k->verdicts->html, err)) {
			return -1;
		}
	}
	verdicts_summary(k->verdicts, k->judge);
	return reports_close(k->verdicts->reports, k->judge, NULL, err) ||
	                       output_flush(&k->verdicts->out, err)
	               ? -1
	               : 0;
}

static int check_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct check_options *o = opts;
	struct html_file html = {.conf = {.command = "check"}};
	struct verdicts v = {.context = c,
	                     .html = o->html ? &html : NULL,
	                     .out = output_to_stdout(),
	                     .origin = ORIGIN_ROLLOUT,
	                     .ends_count = !o->verdict.only && !verdict_never_fails(&o->verdict),
	                     .fail_on = o->verdict.fail_on};
	struct judge_conf conf = {.only = o->verdict.only,
	                          .without = o->verdict.without,
	                          .verify = o->verify,
	                          .places = o->report.kinds.count > 0,
	                          .line = o->html ? verdicts_line : NULL,
	                          .verdict = verdicts_take,
	                          .ctx = &v};
	struct file_list files = {0};
	struct file_checking k = {.files = &files, .conf = &conf, .verdicts = &v};

	if (o->explain || o->list) {
		return o->list ? list_rules(c->style, err) : explain(o->explain, err);
	}
	size_t jobs;
	int failed = threads_number(&o->jobs, &jobs, err) || html_file_check(o->html, err) ||
	             verdict_hints(&o->verdict, c, &conf.hints, err) ||
	             (o->trained && trained_read(o->trained, &conf.hints.trained, err)) ||
	             judge_new(&conf, &k.judge, err) ||
	             reports_open(&o->report, c, &v.out.text, NULL, &v.reports, err) ||
	             store_operands(c, argc, argv, &files, err) ||
	             reports_check_inputs(v.reports, &files, err) || check_files(o, jobs, &k, err);
	if (failed) {
		reports_give_up(v.reports, NULL, NULL, err);
	}
	judge_free(k.judge);
	trained_free(conf.hints.trained);
	verdict_hints_release(&conf.hints);
	file_list_free(&files);
	reports_free(v.reports);
	html_file_release(&html);
	output_release(&v.out);
	if (!failed && k.unusable) {
		return fail_exit_code(FAIL_INPUT);
	}
	/* a rollout that never started is not clean, even without findings; --only is about its one
	   rule */
	return failed ? -1 : v.at_or_above > 0 || (v.broken > 0 && !o->verdict.only);
}

const struct command command_check = {
	.name = "check",
	.summary = "check recordings: did the environment change, and if not, why not?",
	.operands = "[FILE|DIR...]",
	.description = "Reads recordings (files, the *.jsonl files of a directory, - for standard "
		       "input; by default the latest recording) and prints what the rules find. "
		       "Exits with 1 if a finding is at least as severe as --fail-on.\n"
		       "The --trainer-logprobs file has one line per turn, "
		       "{\"rollout\":\"lake.0\",\"turn\":0,\"logprobs\":[-0.5,..]}: the "
		       "trainer's value for each sampled token, in order, without the tokens of "
		       "tool results.",
	.max_operands = -1,
	.recordings = true,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct check_options),
	.run = check_run,
};
