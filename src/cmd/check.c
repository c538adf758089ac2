/* rolldbg check: applies the rules to recordings. */
#include "check/judge.h"
#include "cmd/check_files.h"
#include "cmd/listing.h"
#include "cmd/settings.h"
#include "cmd/store.h"
#include "cmd/threads.h"
#include "trajectory/reader.h"
#include "trajectory/trained.h"

struct check_options {
	struct verdict_options verdict;
	struct report_options report;
	const char *explain, *trained, *html;
	bool list, verify;
	struct opt_u64 jobs;
	struct opt_list ignored;
};

#define FIELD(f) offsetof(struct check_options, f)

static const struct opt options[] = {
	OPT_GROUP(FIELD(report), report_group),
	OPT_GROUP(FIELD(verdict), verdict_group),
	OPT_NUMBER('j', "jobs", OPT_HARMLESS, "N", FIELD(jobs),
                   "check N files at a time (default 1); the output is the same"),
	OPT_LIST(0, "ignore", OPT_HARMLESS, "POINTER", FIELD(ignored),
                 "JSON Pointer to a part of the state whose changes are no effects, in addition to "
                 "what the recordings ignore; may be given several times"),
	OPT_STRING(0, "trainer-logprobs", OPT_HARMLESS, "FILE", FIELD(trained),
                   "the trainer's log-probabilities of the sampled tokens, for kl-band"),
	OPT_STRING(0, "html", OPT_POWER, "FILE", FIELD(html),
                   "also write a page for browsers: the findings next to the steps"),
	OPT_STRING(0, "explain", OPT_HARMLESS, "RULE", FIELD(explain),
                   "explain a rule and how to fix what it finds, and exit"),
	OPT_FLAG(0, "list", OPT_HARMLESS, FIELD(list), "list the rules, and exit"),
	OPT_FLAG(0, "verify", OPT_HARMLESS, FIELD(verify),
                 "recompute each state_hash and exit 3 at the first mismatch"),
};

/* ---- lists ---- */

static int list(const struct check_options *o, struct style style, int argc, char **argv,
                struct error *err)
{
	bool json = reports_have_json(&o->report);

	if (o->list && o->explain) {
		return error_set(err, FAIL_USAGE, "--list and --explain are mutually exclusive");
	}
	if (argc) {
		return error_set(err, FAIL_USAGE, "%s reads no recording: unexpected operand '%s'",
		                 o->list ? "--list" : "--explain", argv[0]);
	}
	return o->list ? listing_rules(style, json, err) : listing_rule(o->explain, json, err);
}

/* ---- judging ---- */

static int open_page(const struct check_options *o, struct file_checking *k, struct error *err)
{
	return o->html ? html_file_open(k->verdicts->html, o->html, err) : 0;
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

static int take_ignored(const struct check_options *o, struct hints *out, struct error *err)
{
	out->ignored = o->ignored.item;
	out->ignored_count = o->ignored.count;
	for (size_t i = 0; i < out->ignored_count; i++) {
		if (out->ignored[i][0] != '/') {
			return error_set(err, FAIL_USAGE,
			                 "\1ignore\2 %s: not a JSON Pointer, which begins with '/'",
			                 out->ignored[i]);
		}
	}
	return 0;
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
	                          .settings = settings_as_options,
	                          .places = o->report.kinds.count > 0,
	                          .line = o->html ? verdicts_line : NULL,
	                          .verdict = verdicts_take,
	                          .ctx = &v};
	struct file_list files = {0};
	struct file_checking k = {.files = &files, .conf = &conf, .verdicts = &v};

	if (o->explain || o->list) {
		return list(o, c->style, argc, argv, err);
	}
	size_t jobs;
	int failed = threads_number(&o->jobs, &jobs, err) || html_file_check(o->html, err) ||
	             verdict_hints(&o->verdict, c, &conf.hints, err) ||
	             take_ignored(o, &conf.hints, err) ||
	             (o->trained && trained_read(o->trained, &conf.hints.trained, err)) ||
	             judge_new(&conf, &k.judge, err) ||
	             reports_open(&o->report, c, &v.out.text, NULL, &v.reports, err) ||
	             store_operands(c, argc, argv, &files, err) || check_files(o, jobs, &k, err);
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
