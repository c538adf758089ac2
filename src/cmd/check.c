/* rolldbg check: judge recordings. */
#include "base/text.h"
#include "check/recording.h"
#include "check/trained.h"
#include "cmd/store.h"
#include "cmd/verdicts.h"
#include "trajectory/reader.h"

#define EXPLAIN_WIDTH 78
#define RULE_COLUMN   24

struct check_options {
	struct verdict_options verdict;
	const char *explain, *trained;
	bool list, verify;
};

static const struct opt options[] = {
	VERDICT_OPTIONS(OPT(struct check_options, verdict)),
	{0, "trainer-logprobs", "FILE", OPT_STR, OPT(struct check_options, trained),
         "the trainer's log-probabilities of the sampled tokens, for kl-band", NULL},
	{0, "explain", "RULE", OPT_STR, OPT(struct check_options, explain),
         "print what a rule means and what to do about it, and exit", NULL},
	{0, "list", NULL, OPT_FLAG, OPT(struct check_options, list),
         "list the rules, and exit", NULL},
	{0, "verify", NULL, OPT_FLAG, OPT(struct check_options, verify),
         "recompute each state_hash, and stop with exit code 3 at a wrong one", NULL},
};

/* ---- what the rules are ---- */

static int explain(const char *rule, struct error *err)
{
	const struct check *c = check_find(str_from(rule));
	struct output out = output_to_stdout();
	const char *names[64];
	size_t n = 0;

	if (c) {
		struct buf title = BUF(BUF_MAX_SMALL);

		buf_printf(&title, "%s: %s\n", c->id, c->title);
		text_wrap(&out.text, buf_view(&title), 0, EXPLAIN_WIDTH);
		buf_release(&title);
		text_wrap(&out.text, str_from(c->why), 0, EXPLAIN_WIDTH);
		return output_close(&out, err);
	}
	for (size_t i = 0; i < checks_count && n < ARRAY_LEN(names); i++) {
		names[n++] = checks[i]->id;
	}
	text_suggest(&out.text, str_from(rule), names, n);
	error_set(err, FAIL_USAGE, "unknown rule '%s'%s", rule, buf_cstr(&out.text));
	output_release(&out);
	return -1;
}

/* A line each for grep, folded for a terminal. */
static int list_rules(struct style style, struct error *err)
{
	struct output out = output_to_stdout();
	size_t width = style.terminal ? style.columns : SIZE_MAX;

	for (size_t i = 0; i < checks_count; i++) {
		buf_printf(&out.text, "%-*s", RULE_COLUMN, checks[i]->id);
		text_wrap(&out.text, str_from(checks[i]->title), RULE_COLUMN, width);
	}
	return output_close(&out, err);
}

/* ---- judging ---- */

/* What is known is shown as it comes, for a recording may be long. */
static int flush_some(void *ctx, struct error *err)
{
	struct verdicts *v = ctx;

	return output_flush_some(&v->out, err);
}

static int check_files(const struct file_list *files, struct judge *j, struct verdicts *v,
                       struct error *err)
{
	if (files->count > 1) {
		v->whose = WHOSE_FILE_AND_ROLLOUT;
	}
	for (size_t i = 0; i < files->count; i++) {
		if (judge_recording(j, files->paths[i], flush_some, v, err)) {
			struct error ignored; /* what was judged so far is worth seeing */
			(void)!output_flush(&v->out, &ignored);
			return -1;
		}
	}
	judge_finish(j);
	verdicts_summary(v, j);
	return output_flush(&v->out, err);
}

static int check_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct check_options *o = opts;
	struct verdicts v = {.context = c,
	                     .out = output_to_stdout(),
	                     .json = o->verdict.json,
	                     .whose = WHOSE_ROLLOUT,
	                     .fail_on = o->verdict.fail_on};
	struct judge_conf conf = {.only = o->verdict.only,
	                          .without = o->verdict.without,
	                          .verify = o->verify,
	                          .verdict = verdicts_take,
	                          .ctx = &v};
	struct file_list files = {0};
	struct judge *j = NULL;

	if (o->explain || o->list) {
		return o->list ? list_rules(c->style, err) : explain(o->explain, err);
	}
	int failed = verdict_told(&o->verdict, &conf.told, err) ||
	             (o->trained && trained_read(o->trained, &conf.told.trained, err)) ||
	             judge_new(&conf, &j, err) ||
	             store_operands(c, argc, argv, &files, err) ||
	             check_files(&files, j, &v, err);
	judge_free(j);
	trained_free(conf.told.trained);
	told_release(&conf.told);
	file_list_free(&files);
	output_release(&v.out);
	/* a rollout that never was is not clean, whatever the rules have to say of it;
	   who asks for one rule alone wants to know of that one */
	return failed ? -1 : v.at_or_above > 0 || (v.broken > 0 && !o->verdict.only);
}

const struct command command_check = {
	.name = "check",
	.summary = "judge recordings: did the environment move, and if not, why",
	.operands = "[FILE|DIR...]",
	.description = "Reads recordings (files, the *.jsonl of a folder, - for standard "
		       "input; the latest one when nothing is named) and prints what the "
		       "rules find. Exit code 1 when a finding is at least as severe as "
		       "--fail-on.\n"
		       "The file of --trainer-logprobs has one line for each turn, "
		       "{\"rollout\":\"lake.0\",\"turn\":0,\"logprobs\":[-0.5,..]}: "
		       "the trainer's value for each token the model sampled, in order, "
		       "without the tokens of tool results.",
	.max_operands = -1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct check_options),
	.run = check_run,
};
