/* rolldbg stats: metrics over many recordings. */
#include "stats/stats.h"

#include "base/log.h"
#include "base/text.h"
#include "cmd/output.h"
#include "cmd/store.h"
#include "facts/trained.h"
#include "report/metrics.h"
#include "trajectory/reader.h"

struct stats_options {
	const char *by, *trained, *names;
	bool json;
};

#define FIELD(f) offsetof(struct stats_options, f)

static const struct opt options[] = {
	OPT_CHOICE('b', "by", "WHAT", "task|none", FIELD(by),
                   "also print the metrics of each task (default none)"),
	OPT_STRING(0, "trainer-logprobs", "FILE", FIELD(trained),
                   "the trainer's log-probabilities of the sampled tokens, as for check"),
	OPT_CHOICE(0, "names", "WHOSE", "trl|verl", FIELD(names),
                   "name the metrics as this trainer does, where it has them (default trl)"),
	OPT_FLAG(0, "json", FIELD(json),
                 "print metrics, the checklist and a summary as JSON lines"),
};

struct counting {
	const struct context *context;
	const struct stats_options *opts;
	struct facts *facts;
	struct stats *stats;
	struct output out;
	struct error failed; /* to print; kind FAIL_NONE: nothing did */
	bool many;           /* files: one that is not whole is not the end */
	uint64_t headless;   /* the first line of this file whose rollout has no header; 0: none */
};

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct counting *c = ctx;
	struct facts_update u;

	if (facts_end_unfinished(c->facts, l, &u)) {
		stats_take(c->stats, &u);
	}
	if (facts_line(c->facts, l, note, &u, err)) {
		if (!c->many || !facts_is_headless(c->facts, l)) {
			return -1;
		}
		c->headless = c->headless ? c->headless : note->line;
		return 0;
	}
	if (u.rollout) {
		stats_take(c->stats, &u);
	}
	return 0;
}

static int take_file(struct counting *c, const char *path, struct error *err)
{
	struct facts_update u;
	bool any;

	c->headless = 0;
	if (reader_file_lines(path, take_line, c, &any, err)) {
		return -1;
	}
	if (!any && !c->many) {
		return error_set(err, FAIL_INPUT, "%s: contains no recording", path);
	}
	if (!any) {
		log_warn("%s is empty", path);
	}
	if (c->headless) {
		log_warn("%s:%llu: lines of a rollout that has no header are left out", path,
		         (unsigned long long)c->headless);
	}
	while (facts_end_next(c->facts, &u)) {
		stats_take(c->stats, &u);
	}
	facts_new_file(c->facts);
	return 0;
}

static enum metric_names names_of(const struct stats_options *o)
{
	return o->names && !strcmp(o->names, "verl") ? NAMES_VERL : NAMES_TRL;
}

static void take_task(void *ctx, struct str task, const struct metrics *m)
{
	struct counting *c = ctx;

	if (!c->opts->by || strcmp(c->opts->by, "task") != 0) {
		return;
	}
	if (c->opts->json) {
		struct buf line = BUF(BUF_MAX_MESSAGE);

		report_json_task(task, m, names_of(c->opts), &line);
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
		report_json_metrics(&total, names_of(c->opts), out);
		report_json_checklist(lines, &total, out);
	} else {
		buf_text(out, by_task ? "\n" : "");
		report_metrics(&total, names_of(c->opts), out);
		buf_char(out, '\n');
		report_checklist(lines, c->context->style, out);
	}
	return output_flush(&c->out, err);
}

static int stats_run(const struct context *context, const void *opts, int argc, char **argv,
                     struct error *err)
{
	struct counting c = {
		.context = context, .opts = opts, .stats = stats_new(), .out = output_to_stdout()};
	struct facts_conf conf = {.user_size = sizeof(struct stats_rollout)};
	struct file_list files = {0};
	size_t unusable = 0;
	int failed = (c.opts->trained && trained_read(c.opts->trained, &conf.hints.trained, err)) ||
	             store_operands(context, argc, argv, &files, err);

	c.facts = facts_new(&conf);
	c.many = files.many;
	for (size_t i = 0; !failed && i < files.count; i++) {
		failed = take_file(&c, files.paths[i], err) &&
		         !store_pass_over(&files, err, &unusable);
	}
	if (!failed) {
		failed = say(&c, err);
	}
	facts_free(c.facts);
	trained_free(conf.hints.trained);
	file_list_free(&files);
	stats_free(c.stats);
	output_release(&c.out);
	return failed ? -1 : unusable ? fail_exit_code(FAIL_INPUT) : 0;
}

const struct command command_stats = {
	.name = "stats",
	.summary = "summarize recordings: metrics under the trainers' names, and a checklist",
	.operands = "[FILE|DIR...]",
	.description = "Reads recordings (files, the *.jsonl files of a folder, - for standard "
		       "input; by default the latest recording) and prints metrics over all of "
		       "them. The rollouts of one task are a group, whatever files they are in. "
		       "A checklist below the metrics compares them with a healthy training run: "
		       "tools are used, a reward is above 0, log-probabilities are finite and "
		       "not 0, the KL is in the band of kl-band, advantages (r - mean) / (std + "
		       "1e-4) are finite, groups are complete. The exit code is 0 whatever the "
		       "numbers are: this is a report. Use check for a verdict.",
	.max_operands = -1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct stats_options),
	.run = stats_run,
};
