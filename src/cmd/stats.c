/* rolldbg stats: metrics over recordings. */
#include "stats/stats.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/html_file.h"
#include "cmd/options/import_options.h"
#include "cmd/options/output.h"
#include "cmd/options/shard.h"
#include "cmd/store/store.h"
#include "cmd/verdicts.h"
#include "recording/reader.h"
#include "recording/trained.h"
#include "report/metrics_text.h"
#include "stats/partial.h"

#include <stdlib.h>

/* ---- recordings, or partial results, into metrics ---- */

#define PARTIAL_MAX ((size_t)1 << 30)

struct gathered {
	struct stats *stats;
	bool trained;    /* a trainer's log-probabilities were given */
	size_t unusable; /* files that were skipped */
};

struct gathering {
	struct stats *stats;
	struct evidence *facts;
	bool many;         /* several files: an unusable one is skipped */
	bool any;          /* this file has a whole line */
	uint64_t headless; /* the first line in this file of a rollout without header; 0: none */
};

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct gathering *g = ctx;
	struct evidence_update u;

	g->any = g->any || !note->torn;
	if (evidence_end_unfinished(g->facts, l, &u))
		stats_take(g->stats, &u);
	if (evidence_line(g->facts, l, note, &u, err)) {
		if (!g->many || !evidence_is_headless(g->facts, l))
			return -1;
		g->headless = g->headless ? g->headless : note->line;
		return 0;
	}
	if (u.rollout)
		stats_take(g->stats, &u);
	return 0;
}

static int take_file(struct gathering *g, const char *path, struct error *err)
{
	struct evidence_update u;
	bool any;

	g->headless = 0;
	g->any = false;
	if (reader_file_lines(path, take_line, g, &any, err))
		return -1;
	if (!g->any && !g->many) {
		return error_set(err, FAIL_INPUT, "%s: contains no recording%s", path,
		                 any ? ", only a truncated line" : "");
	}
	if (!g->any)
		log_warn(any ? "%s contains no complete line" : "%s is empty", path);
	if (g->headless) {
		log_warn("%s:%llu: lines of a rollout without a header are skipped", path,
		         (unsigned long long)g->headless);
	}
	while (evidence_end_next(g->facts, &u))
		stats_take(g->stats, &u);
	evidence_new_file(g->facts);
	return 0;
}

/* `trained` may be NULL. If there are several files, unusable ones are reported and counted. */
static int gather_recordings(struct gathered *out, const struct file_list *files,
                             struct trained *trained, struct error *err)
{
	const struct evidence_conf conf = {.hints.trained = trained,
	                                   .user_size = sizeof(struct stats_rollout)};
	int failed = 0;

	*out = (struct gathered){.stats = stats_new(), .trained = trained};
	struct gathering g = {
		.stats = out->stats, .facts = evidence_new(&conf), .many = files->many};
	for (size_t i = 0; !failed && i < files->count; i++) {
		failed = take_file(&g, files->paths[i], err) &&
		         !store_pass_over(files, err, &out->unusable);
	}
	evidence_free(g.facts);
	return failed ? -1 : 0;
}

/* Files with equal bytes nearly always hold the same rollouts; two runs that did exactly the same may
   be equal as well. */
static void warn_if_seen(const struct file_list *files, uint64_t *hashes, size_t i, struct str text)
{
	hashes[i] = map_hash(text);
	for (size_t k = 0; k < i; k++) {
		if (hashes[k] == hashes[i]) {
			bool same = !strcmp(files->paths[i], files->paths[k]);

			log_warn("%s %s%s: the same rollouts are counted twice", files->paths[i],
			         same ? "is given twice" : "has the same bytes as ",
			         same ? "" : files->paths[k]);
			return;
		}
	}
}

struct merging {
	struct shard_set shards;
	const char *name; /* of the file being read */
	bool trained;
};

static int take_head(void *ctx, const struct partial_head *head, struct error *err)
{
	struct merging *m = ctx;
	const struct shard one = {head->shard, head->of};

	m->trained = m->trained || head->trained;
	return shard_set_add(&m->shards, &one, m->name, err);
}

static int gather_partials(struct gathered *out, const struct file_list *files, struct error *err)
{
	AUTO_BUF text = BUF(PARTIAL_MAX);
	uint64_t *hashes = mem_array(files->count + 1, sizeof(*hashes));
	struct merging m = {.name = NULL};
	int failed = 0;

	*out = (struct gathered){.stats = stats_new()};
	for (size_t i = 0; !failed && i < files->count; i++) {
		buf_clear(&text);
		m.name = files->paths[i];
		failed = file_read("partial result", m.name, &text, err) ||
		         partial_read(out->stats, buf_view(&text), m.name, take_head, &m, err);
		warn_if_seen(files, hashes, i, buf_view(&text));
	}
	failed = failed || shard_set_whole(&m.shards, err);
	out->trained = m.trained;
	shard_set_release(&m.shards);
	free(hashes);
	return failed ? -1 : 0;
}

/* ---- comparing two sets of recordings ---- */

struct task_side {
	struct str task;
	struct metrics metrics;
};

/* All tasks of one set, in order; those without a task come first. */
struct task_set {
	struct task_side *tasks;
	size_t count;
	struct metrics total;
	struct arena arena;
};

struct comparing {
	const struct context *context;
	bool all_tasks;
	enum change_format format;
	struct output *out;
	struct task_set before, after;
	struct change_count count;
};

static void add_task(void *ctx, struct str task, const struct metrics *m)
{
	struct task_set *s = ctx;

	s->tasks = mem_grow(s->tasks, s->count, sizeof(*s->tasks));
	s->tasks[s->count++] = (struct task_side){arena_str(&s->arena, task), *m};
}

static void task_set_release(struct task_set *s)
{
	free(s->tasks);
	arena_release(&s->arena);
}

static int order(const struct task_side *a, const struct task_side *b)
{
	if (!a->task.p || !b->task.p)
		return (a->task.p != NULL) - (b->task.p != NULL);
	return str_order(a->task, b->task);
}

/* Calls `pair` for each task of either side, in order, with NULL for a side without it. */
static int each_pair(struct comparing *c,
                     int (*pair)(struct comparing *c, const struct task_side *a,
                                 const struct task_side *b, struct error *err),
                     struct error *err)
{
	size_t i = 0, k = 0;

	while (i < c->before.count || k < c->after.count) {
		const struct task_side *a = i < c->before.count ? &c->before.tasks[i] : NULL;
		const struct task_side *b = k < c->after.count ? &c->after.tasks[k] : NULL;
		int which = !a ? 1 : !b ? -1 : order(a, b);

		i += which <= 0;
		k += which >= 0;
		if (pair(c, which <= 0 ? a : NULL, which >= 0 ? b : NULL, err))
			return -1;
	}
	return 0;
}

static int count_pair(struct comparing *c, const struct task_side *a, const struct task_side *b,
                      struct error *err)
{
	c->count.tasks += a && b;
	c->count.only_before += !b;
	c->count.only_after += !a;
	return 0;
}

/* Returns how many changed by more than noise. */
static size_t compare_all(const struct metrics *before, const struct metrics *after,
                          size_t comparisons, struct metric_change out[COMPARED_MAX])
{
	size_t changed = 0;

	for (size_t i = 0; i < compared_metrics; i++) {
		out[i] = metric_compare(i, before, after, comparisons);
		changed += out[i].verdict == CHANGE_MORE || out[i].verdict == CHANGE_LESS;
	}
	return changed;
}

/* The table omits metrics without information. */
static bool is_shown(const struct comparing *c, const struct metric_change *m, bool of_task)
{
	if (c->format != CHANGES_TABLE || (of_task && c->all_tasks))
		return c->format != CHANGES_TABLE || m->difference.known;
	return of_task ? m->verdict == CHANGE_MORE || m->verdict == CHANGE_LESS
	               : m->before.known || m->after.known;
}

static int compare_pair(struct comparing *c, const struct task_side *a, const struct task_side *b,
                        struct error *err)
{
	struct metric_change changes[COMPARED_MAX];

	if (!a || !b)
		return 0;
	bool changed = compare_all(&a->metrics, &b->metrics, c->count.tasks, changes) > 0;
	c->count.tasks_changed += changed;
	if (!changed && !c->all_tasks)
		return 0;
	report_changes_task(a->task, c->format, &c->out->text);
	for (size_t i = 0; i < compared_metrics; i++) {
		if (is_shown(c, &changes[i], true)) {
			report_change(&changes[i], true, a->task, c->format, c->context->style,
			              &c->out->text);
		}
	}
	return output_flush_some(c->out, err);
}

static void compare_totals(struct comparing *c)
{
	struct metric_change changes[COMPARED_MAX];

	compare_all(&c->before.total, &c->after.total, 1, changes);
	for (size_t i = 0; i < compared_metrics; i++) {
		c->count.verdicts[changes[i].verdict]++;
		if (is_shown(c, &changes[i], false)) {
			report_change(&changes[i], false, STR_NONE, c->format, c->context->style,
			              &c->out->text);
		}
	}
}

/* Finishes the gathered metrics and prints them. all_tasks: includes tasks without a change. */
static int stats_compare(const struct context *context, struct stats *before, struct stats *after,
                         bool all_tasks, enum change_format format, struct output *out,
                         struct error *err)
{
	struct comparing c = {
		.context = context, .all_tasks = all_tasks, .format = format, .out = out};

	stats_finish(before, add_task, &c.before, &c.before.total);
	stats_finish(after, add_task, &c.after, &c.after.total);
	int failed = each_pair(&c, count_pair, err);
	report_changes_title(format, &out->text);
	compare_totals(&c);
	failed = failed || each_pair(&c, compare_pair, err);
	report_changes_end(&c.count, format, &out->text);
	task_set_release(&c.before);
	task_set_release(&c.after);
	return failed ? -1 : output_flush(out, err);
}

/* ---- metrics ---- */

#define OPTIONS stats
#include "cmd/options/table.h"

struct counting {
	const struct context *context;
	const struct stats_options *opts;
	struct trained *trained;
	struct shard shard;
	struct output out;
	struct buf results;  /* JSON lines, for the page */
	double max_failures; /* share of rollouts; 1: no limit */
	bool exceeded;       /* the limit is */
	struct error failed; /* the first print error; kind FAIL_NONE: none */
};

static bool by_task(const struct counting *c)
{
	return c->opts->by && !strcmp(c->opts->by, "task");
}

/* ---- printing ---- */

static enum metric_names names_of(const struct stats_options *o)
{
	return o->names && !strcmp(o->names, "verl") ? NAMES_VERL : NAMES_TRL;
}

static void put_task(struct counting *c, struct str task, const struct metrics *m)
{
	if (c->opts->csv)
		report_csv_metrics(true, task, m, names_of(c->opts), &c->out.text);
	else if (c->opts->json)
		report_json_task(task, m, names_of(c->opts), &c->out.text);
	else
		report_metrics_row(task, m, &c->out.text);
}

static void take_task(void *ctx, struct str task, const struct metrics *m)
{
	struct counting *c = ctx;

	if (c->opts->html)
		report_json_task(task, m, names_of(c->opts), &c->results);
	if (!by_task(c))
		return;
	put_task(c, task, m);
	if (c->failed.kind == FAIL_NONE)
		(void)!output_flush_some(&c->out, &c->failed);
	else
		buf_clear(&c->out.text);
}

static void put_total(struct counting *c, const struct metrics *total, bool trained)
{
	struct checklist_line lines[CHECKLIST];
	struct buf *out = &c->out.text;

	checklist_make(total, trained, lines);
	if (c->opts->html) {
		report_json_metrics(total, names_of(c->opts), &c->results);
		report_json_checklist(lines, total, &c->results);
	}
	if (c->opts->csv) {
		report_csv_metrics(false, STR_NONE, total, names_of(c->opts), out);
	} else if (c->opts->json) {
		report_json_metrics(total, names_of(c->opts), out);
		report_json_checklist(lines, total, out);
	} else {
		buf_text(out, by_task(c) ? "\n" : "");
		report_metrics(total, names_of(c->opts), out);
		buf_char(out, '\n');
		report_checklist(lines, c->context->style, out);
	}
}

static int say(struct counting *c, struct gathered *g, struct error *err)
{
	struct metrics total;

	if (c->opts->partial) {
		const struct partial_head head = {g->trained, c->shard.index, c->shard.count};

		partial_write(g->stats, &head, &c->out.text);
		return output_flush(&c->out, err);
	}
	if (c->opts->csv)
		report_csv_metrics(false, STR_NONE, NULL, names_of(c->opts), &c->out.text);
	else if (by_task(c) && !c->opts->json)
		report_metrics_title(&c->out.text);
	stats_finish(g->stats, take_task, c, &total);
	if (c->failed.kind != FAIL_NONE) {
		*err = c->failed;
		return -1;
	}
	put_total(c, &total, g->trained);
	if (output_flush(&c->out, err))
		return -1;
	c->exceeded =
		failure_gate_exceeded(c->max_failures, (int64_t)total.sum[SUM_ENVIRONMENT_FAILURES],
	                              (int64_t)total.sum[SUM_ROLLOUTS]);
	return 0;
}

/* ---- reading ---- */

static int gather(struct counting *c, int argc, char **argv, struct gathered *g, struct error *err)
{
	struct file_list files = {0};
	size_t *numbers = NULL;
	int failed = store_operands(c->context, argc, argv, &files, err);

	if (!failed) {
		shard_files(&c->shard, &files, &numbers);
		free(numbers);
		failed = c->opts->merge ? gather_partials(g, &files, err)
		                        : gather_recordings(g, &files, c->trained, err);
	}
	file_list_free(&files);
	return failed;
}

static int write_page(struct counting *c, int argc, char **argv, struct error *err)
{
	struct file_list files = {0};
	const struct html_job job = {.path = c->opts->html, .command = "stats", .sides = {&files}};
	struct html_judge *h = NULL;
	int failed = store_operands(c->context, argc, argv, &files, err) ||
	             html_judge_new(&job, true, &h, err);

	if (!failed) {
		html_judge_results(h, buf_view(&c->results));
		failed = html_judge_finish(h, NULL, err);
	}
	html_judge_free(h);
	file_list_free(&files);
	return failed ? -1 : 0;
}

static int print_metrics(struct counting *c, int argc, char **argv, size_t *unusable,
                         struct error *err)
{
	struct gathered g = {.stats = NULL};
	int failed = gather(c, argc, argv, &g, err) || say(c, &g, err) ||
	             (c->opts->html && write_page(c, argc, argv, err));

	*unusable = g.unusable;
	stats_free(g.stats);
	return failed;
}

static int print_comparison(struct counting *c, char **argv, size_t *unusable, struct error *err)
{
	struct gathered before = {.stats = NULL}, after = {.stats = NULL};
	enum change_format format = c->opts->csv    ? CHANGES_CSV
	                            : c->opts->json ? CHANGES_JSON
	                                            : CHANGES_TABLE;
	int failed = gather(c, 1, argv, &before, err) || gather(c, 1, argv + 1, &after, err) ||
	             stats_compare(c->context, before.stats, after.stats, by_task(c), format,
	                           &c->out, err);

	*unusable = before.unusable + after.unusable;
	stats_free(before.stats);
	stats_free(after.stats);
	return failed;
}

/* ---- options ---- */

static int check_options(const struct stats_options *o, int argc, struct error *err)
{
	if (o->compare && argc != 2)
		return error_set(err, FAIL_USAGE, "--compare needs two operands: BEFORE AFTER");
	if (o->merge && argc == 0)
		return error_set(err, FAIL_USAGE, "--merge needs partial results to read");
	return 0;
}

static int stats_main(const struct context *context, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct stats_options *o = opts;
	struct counting c = {.context = context,
	                     .opts = o,
	                     .out = output_of_results(o->json),
	                     .results = BUF(BUF_MAX_MESSAGE)};
	AUTO_BUF tools = BUF(0);
	size_t unusable = 0;
	int failed = check_options(c.opts, argc, err) ||
	             import_options_apply(&o->import, &tools, err) ||
	             failure_gate_read(o->max_failures, &c.max_failures, err) ||
	             shard_read(o->shard, context, &c.shard, err) ||
	             (c.opts->trained && trained_read(c.opts->trained, &c.trained, err));

	if (!failed) {
		failed = c.opts->compare ? print_comparison(&c, argv, &unusable, err)
		                         : print_metrics(&c, argc, argv, &unusable, err);
	}
	trained_free(c.trained);
	output_release(&c.out);
	buf_release(&c.results);
	return failed ? -1 : unusable ? fail_exit_code(FAIL_INPUT) : c.exceeded;
}

CODE(stats)
