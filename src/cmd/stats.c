/* rolldbg stats: metrics over many recordings. */
#include "stats/stats.h"

#include "base/text.h"
#include "check/recording.h"
#include "check/trained.h"
#include "cmd/output.h"
#include "cmd/store.h"
#include "report/metrics.h"
#include "trajectory/reader.h"

struct stats_options {
	const char *by, *trained;
	bool json;
};

static const struct opt options[] = {
	{'b', "by", "WHAT", OPT_CHOICE, OPT(struct stats_options, by),
         "also print the metrics of each task (default none)", "task|none"},
	{0, "trainer-logprobs", "FILE", OPT_STR, OPT(struct stats_options, trained),
         "the trainer's log-probabilities of the sampled tokens, as for check", NULL},
	{0, "json", NULL, OPT_FLAG, OPT(struct stats_options, json),
         "print metrics, the checklist and a summary as JSON lines", NULL},
};

struct counting {
	const struct context *context;
	const struct stats_options *opts;
	struct stats *stats;
	struct output out;
	struct error failed; /* to print; kind FAIL_NONE: nothing did */
};

static void take_line(void *ctx, const struct rollout_facts *r, const struct moment *m)
{
	struct counting *c = ctx;

	stats_line(c->stats, r, m);
}

static void take_rollout(void *ctx, const struct rollout_verdict *v)
{
	struct counting *c = ctx;

	stats_rollout(c->stats, v);
}

static void take_task(void *ctx, struct str task, const struct metrics *m)
{
	struct counting *c = ctx;

	if (!c->opts->by || strcmp(c->opts->by, "task") != 0) {
		return;
	}
	if (c->opts->json) {
		struct buf line = BUF(BUF_MAX_MESSAGE);

		report_json_task(task, m, &line);
		text_escape_json(&c->out.text, buf_view(&line));
		buf_release(&line);
	} else {
		report_metrics_row(task, m, &c->out.text);
	}
	if (c->failed.kind == FAIL_NONE) {
		(void)!output_flush_some(&c->out, &c->failed);
	} else {
		buf_clear(&c->out.text);
	}
}

static int say(struct counting *c, struct error *err)
{
	struct checklist_line lines[CHECKLIST];
	struct metrics total;
	struct buf *out = &c->out.text;
	bool by_task = c->opts->by && !strcmp(c->opts->by, "task");

	if (by_task && !c->opts->json) {
		report_metrics_title(out);
	}
	stats_finish(c->stats, take_task, c, &total);
	if (c->failed.kind != FAIL_NONE) {
		*err = c->failed;
		return -1;
	}
	checklist_make(&total, c->opts->trained != NULL, lines);
	if (c->opts->json) {
		report_json_metrics(&total, out);
		report_json_checklist(lines, &total, out);
	} else {
		buf_text(out, by_task ? "\n" : "");
		report_metrics(&total, out);
		buf_char(out, '\n');
		report_checklist(lines, c->context->style, out);
	}
	return output_flush(&c->out, err);
}

static int stats_run(const struct context *context, const void *opts, int argc,
                     char **argv, struct error *err)
{
	struct counting c = {.context = context,
	                     .opts = opts,
	                     .stats = stats_new(),
	                     .out = output_to_stdout()};
	/* the judge counts; of the rules the least is asked */
	struct judge_conf conf = {.only = "incomplete",
	                          .line = take_line,
	                          .verdict = take_rollout,
	                          .ctx = &c};
	struct file_list files = {0};
	struct judge *j = NULL;
	int failed = (c.opts->trained &&
	              trained_read(c.opts->trained, &conf.told.trained, err)) ||
	             judge_new(&conf, &j, err) ||
	             store_operands(context, argc, argv, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++) {
		failed = judge_recording(j, files.paths[i], NULL, NULL, err);
	}
	if (!failed) {
		judge_finish(j);
		failed = say(&c, err);
	}
	judge_free(j);
	trained_free(conf.told.trained);
	file_list_free(&files);
	stats_free(c.stats);
	output_release(&c.out);
	return failed ? -1 : 0;
}

const struct command command_stats = {
	.name = "stats",
	.summary =
		"sum recordings up: metrics under the trainers' names, and a checklist",
	.operands = "[FILE|DIR...]",
	.description =
		"Reads recordings (files, the *.jsonl of a folder, - for standard input; "
		"the latest one when nothing is named) and prints metrics over all of "
		"them. The rollouts of one task are a group, whatever files they are in. "
		"A checklist below the metrics compares them with a healthy training "
		"run: tools are used, a reward is above 0, log-probabilities are finite "
		"and not 0, the KL is in the band of kl-band, advantages (r - mean) / "
		"(std + 1e-4) are finite, groups are complete. The exit code is 0 "
		"whatever the numbers are: this is a report; check is the judge.",
	.max_operands = -1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct stats_options),
	.run = stats_run,
};
