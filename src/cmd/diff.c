/* rolldbg diff: the differences between two recordings, or two directories of recordings. */
#include "base/in_order.h"
#include "base/mem.h"
#include "base/text.h"
#include "check/judge.h"
#include "cmd/diff_operands.h"
#include "cmd/golden/pair_groups.h"
#include "cmd/html_judge.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/pager.h"
#include "cmd/store/store.h"
#include "compare/lockstep.h"
#include "recording/by_rollout.h"
#include "report/difference_stat.h"
#include "report/differences.h"

#include <stdlib.h>
#include <sys/stat.h>

/* a group with more input or output is compared in sequence */
#define ALONE_BYTES ((uint64_t)8 << 20)

struct diff_options {
	struct compare_options compare;
	const char *rollout, *html;
	bool stat, word_diff, json, exit_code, no_exit_code;
	struct opt_u64 jobs;
};

#define FIELD(f) offsetof(struct diff_options, f)

static const struct opt options[] = {
	OPT_GROUP(FIELD(compare), compare_group),
	OPT_STRING('r', "rollout", OPT_NEVER, "ID", FIELD(rollout), "compare only this rollout"),
	OPT_FLAG(0, "stat", OPT_HARMLESS, FIELD(stat),
                 "one line per rollout that differs, most important first: verdict (as in check), "
                 "reward, status, steps, which values; of several, first what differs in how many"),
	OPT_FLAG(0, "word-diff", OPT_HARMLESS, FIELD(word_diff),
                 "show every changed string word by word, as [-old-]{+new+}; without it, only "
                 "strings too long to show in full"),
	OPT_STRING(0, "html", OPT_POWER, "FILE", FIELD(html),
                   "also write a page for browsers: both recordings, side by side"),
	OPT_FLAG(0, "json", OPT_HARMLESS, FIELD(json),
                 "print each difference and a summary as JSON lines"),
	OPT_FLAG(0, "exit-code", OPT_HARMLESS, FIELD(exit_code),
                 "exit 1 if they differ (the default)"),
	OPT_FLAG(0, "no-exit-code", OPT_HARMLESS, FIELD(no_exit_code),
                 "exit 0 even if they differ"),
	OPT_BOUNDED(
		'j', "jobs", OPT_HARMLESS, 1, THREADS_MAX, "N", FIELD(jobs),
		"compare in N threads (default 1; with --stat and --rollout always 1); the output "
		"is the same"),
};

/* One of the two recordings. */
struct recording_side {
	struct file_list files;
	struct by_rollout *lines;
	struct patterns *patterns; /* of the options; records which ones matched */
	struct strip *strip;
	struct rollout_copy rollout; /* the last one read */
	struct judge *judge;         /* NULL without --stat */
	const char *verdict;         /* rule id of its first error; NULL: none */
};

struct diffing {
	const struct context *context;
	const struct diff_options *opts;
	struct output out;
	struct pager pager;
	struct recording_side side[2];
	struct compare_rules rules;
	struct difference_printer printer;
	struct html_judge *page; /* NULL: none */
	struct difference_stats stats;
	struct compare_conf conf;
	struct compare_count count, one; /* of all rollouts; of the current one */
	/* Threads only read these: */
	struct by_rollout *all[2]; /* one per side */
	struct pair_group *groups;
	size_t group_count;
	size_t jobs;
};

/* ---- reading ---- */

static int see_line(void *ctx, const struct line *l, const struct reader_note *note,
                    struct error *err)
{
	struct recording_side *s = ctx;

	patterns_see(s->patterns, l->text);
	return s->judge ? judge_line(s->judge, l, note, err) : 0;
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct recording_side *s = ctx;

	for (size_t i = 0; v->rollout.p && i < v->finding_count && !s->verdict; i++)
		s->verdict = v->findings[i].severity == SEVERITY_ERROR ? v->findings[i].rule : NULL;
}

static struct lockstep_side begin_rollout(struct recording_side *s)
{
	rollout_copy_release(&s->rollout);
	s->rollout.id = arena_str(&s->rollout.arena, by_rollout_id(s->lines));
	s->verdict = NULL;
	return (struct lockstep_side){.lines = s->lines,
	                              .strip = s->strip,
	                              .rollout = &s->rollout,
	                              .see = see_line,
	                              .ctx = s};
}

static void end_rollout(struct recording_side *s)
{
	if (s->judge)
		judge_file(s->judge, NULL); /* ends a rollout without an end line */
}

static int read_both(struct diffing *f, struct recording_side *a, struct recording_side *b,
                     struct error *err)
{
	struct lockstep_side first = begin_rollout(a), second = begin_rollout(b);

	if (lockstep_compare(&first, &second, &f->conf, &f->one, err))
		return -1;
	end_rollout(a);
	end_rollout(b);
	return 0;
}

static int read_unpaired(struct diffing *f, struct recording_side *s, bool extra, struct error *err)
{
	struct lockstep_side side = begin_rollout(s);

	if (lockstep_unpaired(&side, extra, &f->conf, &f->one, err))
		return -1;
	end_rollout(s);
	return 0;
}

static int skip_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct recording_side *s = ctx;
	struct buf unused = BUF(SIZE_MAX / 2);

	(void)note;
	int failed = strip_line(s->strip, l, &unused, err);
	buf_release(&unused);
	return failed;
}

/* ---- printing ---- */

static void put_in_page(struct diffing *f, const struct difference *d)
{
	struct difference_printer json = {.json = true};
	struct buf line = BUF(SIZE_MAX / 2);

	report_difference(&json, d, &line);
	html_judge_results(f->page, buf_view(&line));
	difference_printer_release(&json);
	buf_release(&line);
}

static void take_difference(void *ctx, const struct difference *d)
{
	struct diffing *f = ctx;

	if (f->opts->stat)
		difference_stats_see(&f->stats, d);
	else
		report_difference(&f->printer, d, &f->out.text);
	if (f->page)
		put_in_page(f, d);
}

/* Returns -1 with FAIL_NONE if the reader of the output has closed its end. */
static int print_some(struct diffing *f, struct error *err)
{
	if (f->out.text.n && pager_start(&f->pager, f->context, err))
		return -1;
	if (output_flush(&f->out, err))
		return -1;
	return f->out.closed ? error_set(err, FAIL_NONE, "the pager has exited") : 0;
}

static void finish_rollout(struct diffing *f, const struct rollout_copy *first,
                           const struct rollout_copy *second)
{
	const char *const verdicts[2] = {f->side[0].verdict, f->side[1].verdict};

	if (f->opts->stat && f->one.differences)
		difference_stats_add(&f->stats, first, second, verdicts, &f->one);
	compare_add(&f->count, &f->one);
}

/* ---- rollout by rollout, in the order of their ids ---- */

/* `lines` is NULL if that side has nothing to skip. */
static int skip_rollout(struct recording_side *s, struct error *err)
{
	return s ? by_rollout_next(s->lines, skip_line, s, err) : 0;
}

static int compare_pair_of(struct diffing *f, struct recording_side *a, struct recording_side *b,
                           struct error *err)
{
	f->one = (struct compare_count){.rollouts = 0};
	if (a && b ? read_both(f, a, b, err) : read_unpaired(f, a ? a : b, !a, err))
		return -1;
	finish_rollout(f, a ? &a->rollout : NULL, b ? &b->rollout : NULL);
	return 0;
}

/* Most rollouts are byte for byte the same and are not parsed, unless some pattern has not matched
   anything yet. */
static int skip_same(struct diffing *f, struct error *err)
{
	size_t steps;

	if (f->rules.patterns.missed)
		return 0;
	int same = by_rollout_skip_same(f->side[0].lines, f->side[1].lines, &steps, err);
	if (same > 0) {
		f->count.rollouts++;
		f->count.steps += steps;
	}
	return same;
}

static int compare_next(struct diffing *f, struct error *err)
{
	int order = pair_order(f->side[0].lines, f->side[1].lines);
	struct recording_side *a = order <= 0 ? &f->side[0] : NULL;
	struct recording_side *b = order >= 0 ? &f->side[1] : NULL;
	struct str id = by_rollout_id((a ? a : b)->lines);

	if (f->opts->rollout && !str_is(id, f->opts->rollout))
		return skip_rollout(a, err) || skip_rollout(b, err) ? -1 : 0;
	int same = a && b ? skip_same(f, err) : 0;
	return same ? (same > 0 ? 0 : -1) : compare_pair_of(f, a, b, err);
}

static bool has_next(const struct diffing *f)
{
	return by_rollout_id(f->side[0].lines).p || by_rollout_id(f->side[1].lines).p;
}

/* ---- in several threads ---- */

static struct difference_printer new_printer(const struct context *c, const struct diff_options *o)
{
	return (struct difference_printer){
		.style = c->style, .json = o->json, .word_diff = o->word_diff};
}

static void open_group(struct diffing *f, struct by_rollout *const *all, const struct pair_group *g)
{
	for (int i = 0; i < 2; i++)
		f->side[i].lines = by_rollout_view(all[i], g->first[i], g->end[i]);
}

static void close_group(struct diffing *f, struct by_rollout *const *all)
{
	for (int i = 0; i < 2; i++) {
		by_rollout_close(f->side[i].lines);
		f->side[i].lines = all[i];
	}
}

static void drop(void *ctx, void *result)
{
	struct diffing *own = result;

	(void)ctx;
	if (!own)
		return;
	for (int i = 0; i < 2; i++) {
		by_rollout_close(own->side[i].lines);
		strip_free(own->side[i].strip);
		rollout_copy_release(&own->side[i].rollout);
	}
	difference_printer_release(&own->printer);
	output_release(&own->out);
	free(own);
}

static struct diffing *new_own(const struct diffing *f, const struct pair_group *g)
{
	struct diffing *own = mem_new(sizeof(*own));

	*own = (struct diffing){.context = f->context,
	                        .opts = f->opts,
	                        .out = output_of_results(f->opts->json),
	                        .printer = new_printer(f->context, f->opts),
	                        .conf = f->conf};
	own->conf.ctx = own;
	open_group(own, f->all, g);
	for (int i = 0; i < 2; i++)
		own->side[i].patterns = &own->rules.patterns; /* all patterns have matched by now */
	return own;
}

/* Returns NULL if they have to be compared in sequence. */
static void *compare_alone(void *ctx, size_t index)
{
	const struct diffing *f = ctx;
	struct diffing *own = new_own(f, &f->groups[index]);
	const struct opt_list *masks = &f->opts->compare.masks;
	struct error ignored; /* the comparison in sequence reports it */
	int failed = f->groups[index].bytes > ALONE_BYTES ||
	             masks_strip(masks, &own->side[0].strip, &ignored) ||
	             masks_strip(masks, &own->side[1].strip, &ignored);

	while (!failed && has_next(own))
		failed = compare_next(own, &ignored) || own->out.text.n > ALONE_BYTES;
	if (failed) {
		drop(NULL, own);
		return NULL;
	}
	return own;
}

static int take_group(void *ctx, size_t index, void *result, struct error *err)
{
	struct diffing *f = ctx, *own = result;
	int failed = 0;

	if (own) {
		buf_str(&f->out.text, buf_view(&own->out.text));
		compare_add(&f->count, &own->count);
		drop(NULL, own);
		return print_some(f, err);
	}
	open_group(f, f->all, &f->groups[index]);
	while (!failed && has_next(f))
		failed = compare_next(f, err) || print_some(f, err);
	close_group(f, f->all);
	return failed ? -1 : 0;
}

static int compare_in_threads(struct diffing *f, size_t jobs, struct error *err)
{
	for (int i = 0; i < 2; i++)
		f->all[i] = f->side[i].lines;
	f->groups = pair_groups_new(f->all[0], f->all[1], &f->group_count);
	const struct in_order order = {.count = f->group_count,
	                               .jobs = jobs,
	                               .work = compare_alone,
	                               .take = take_group,
	                               .drop = drop,
	                               .ctx = f};

	return in_order_run(&order, err);
}

/* While some pattern has not matched anything, one thread parses all lines. */
static int compare_pairs(struct diffing *f, struct error *err)
{
	size_t jobs = f->opts->stat || f->opts->rollout ? 1 : f->jobs;

	while (has_next(f) && (jobs == 1 || f->rules.patterns.missed))
		if (compare_next(f, err) || print_some(f, err))
			return -1;
	return has_next(f) ? compare_in_threads(f, jobs, err) : 0;
}

static int compare_all(struct diffing *f, struct error *err)
{
	if (compare_pairs(f, err))
		return -1;
	if (f->opts->rollout && f->count.rollouts == 0) {
		return error_set(err, FAIL_USAGE, "no rollout '%s' in either recording",
		                 f->opts->rollout);
	}
	difference_stats_put(&f->stats, f->count.rollouts, f->opts->json, f->context->style,
	                     &f->out.text);
	if (f->opts->json || !f->context->quiet)
		report_difference_summary(&f->count, f->opts->json, &f->out.text);
	if (f->count.rollouts)
		compare_rules_warn(&f->rules, "the recordings");
	return print_some(f, err);
}

/* ---- which recordings ---- */

static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int open_judge(struct recording_side *s, struct error *err)
{
	struct judge_conf conf = {.verdict = take_verdict, .ctx = s};

	if (judge_new(&conf, &s->judge, err))
		return -1;
	judge_many(s->judge);
	judge_file(s->judge, NULL);
	return 0;
}

/* /dev/null is accepted: git difftool passes it for a file that exists on one side only. */
static bool is_unpaired_empty(const struct recording_side *s)
{
	return !s->files.many && !by_rollout_id(s->lines).p && is_regular(s->files.paths[0]);
}

static int open_sides(struct diffing *f, struct error *err)
{
	for (int i = 0; i < 2; i++) {
		struct recording_side *s = &f->side[i];

		s->patterns = &f->rules.patterns;
		if (f->opts->stat && open_judge(s, err))
			return -1;
		if (masks_strip(&f->opts->compare.masks, &s->strip, err) ||
		    by_rollout_open(NULL, s->files.paths, s->files.count, torn_warn, NULL,
		                    &s->lines, err)) {
			return -1;
		}
		if (is_unpaired_empty(s)) {
			return error_set(err, FAIL_INPUT, "%s: contains no recording",
			                 s->files.paths[0]);
		}
	}
	return 0;
}

static int open_page(struct diffing *f, struct error *err)
{
	const struct html_job job = {.path = f->opts->html,
	                             .command = "diff",
	                             .rollout = f->opts->rollout,
	                             .sides = {&f->side[0].files, &f->side[1].files}};

	return f->opts->html ? html_judge_new(&job, true, &f->page, err) : 0;
}

static int finish_page(struct diffing *f, struct error *err)
{
	struct buf line = BUF(BUF_MAX_SMALL);

	if (!f->page)
		return 0;
	report_difference_summary(&f->count, true, &line);
	html_judge_results(f->page, buf_view(&line));
	buf_release(&line);
	return html_judge_finish(f->page, err);
}

static int compare_files(struct diffing *f, struct error *err)
{
	return open_page(f, err) || open_sides(f, err) || compare_all(f, err) || finish_page(f, err)
	               ? -1
	               : 0;
}

static void release(struct diffing *f)
{
	pager_finish(&f->pager);
	html_judge_free(f->page);
	for (int i = 0; i < 2; i++) {
		by_rollout_close(f->side[i].lines);
		strip_free(f->side[i].strip);
		judge_free(f->side[i].judge);
		rollout_copy_release(&f->side[i].rollout);
		file_list_free(&f->side[i].files);
	}
	difference_printer_release(&f->printer);
	difference_stats_release(&f->stats);
	compare_rules_release(&f->rules);
	output_release(&f->out);
	free(f->groups);
}

static int diff_run(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	const struct diff_options *o = opts;
	struct diffing f = {.context = c,
	                    .opts = o,
	                    .out = output_of_results(o->json),
	                    .printer = new_printer(c, o)};
	int code = -1;

	f.conf = (struct compare_conf){.header = true, .take = take_difference, .ctx = &f};
	if (!compare_rules_read(&f.rules, &o->compare, err)) {
		/* a page is written in the order of the rollouts */
		f.jobs = o->html ? 1 : opt_number(o->jobs, 1);
		compare_rules_apply(&f.rules, &f.conf);
		if (diff_is_from_git(argc) && !o->json)
			text_put_path(&f.out.text, "diff", argv[0]);
		code = diff_operands(c, argc, argv, &f.side[0].files, &f.side[1].files, err) ||
		                       compare_files(&f, err)
		               ? -1
		               : f.count.different > 0 && !o->no_exit_code &&
		                         !diff_is_from_git(argc);
	}
	if (code < 0 && f.out.closed)
		code = f.count.different > 0 && !o->no_exit_code;
	release(&f);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two recordings, or two directories of them, call by call",
	.operands = "[A B]",
	.description =
		"Rollouts are matched by id, and their steps by tool and arguments, so two "
		"inserted calls show as two lines instead of changing everything after them. In "
		"matched steps the state, outcome, error class, observation (which has an error's "
		"text), structured content, raw reply, reward, terminated and truncated are compared "
		"value by value, also inside strings that hold JSON; each difference is named by its "
		"JSON Pointer into the line. Of several equal calls the one that is missing is told by "
		"state and reply. Not compared are what strip removes (times, session ids, masked "
		"values, state that the state source ignores), the error's message in our own words, "
		"env_steps, llm, and what a recording of another program does not have. Numbers are compared by value: 1 and 1.0 "
		"are equal. A and B are files or directories of *.jsonl; one of them may be - for "
		"standard input. Without operands the last two recordings in the state directory "
		"are compared. The seven operands that git appends to a diff.NAME.command are taken, too, "
		"with exit code 0. If nothing differs, nothing is printed. The exit code is 0 if the "
		"recordings agree and 1 if they differ.",
	.max_operands = DIFF_OPERANDS_MAX,
	.recordings = true,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct diff_options),
	.run = diff_run,
};
