/* rolldbg diff: the differences between two recordings, or two directories of recordings. */
#include "base/text.h"
#include "check/judge.h"
#include "cmd/html_file.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/store/store.h"
#include "compare/compare.h"
#include "recording/by_rollout.h"
#include "report/difference_stat.h"
#include "report/differences.h"

#include <sys/stat.h>

/* PATH OLD-FILE OLD-HEX OLD-MODE NEW-FILE NEW-HEX NEW-MODE [NEW-PATH INFO]: what git appends to a
   diff.NAME.command (gitattributes(5)); it takes an exit code other than 0 for a failure. */
#define GIT_OPERANDS 7
#define GIT_RENAMED  9
#define GIT_OLD      1
#define GIT_NEW      4

#define OPTIONS diff
#include "cmd/options/table.h"

/* One of the two recordings. */
struct recording_side {
	struct file_list files;
	struct by_rollout *lines;
	struct patterns *patterns; /* of the options; records which ones matched */
	struct strip *strip;
	struct rollout_copy rollout; /* the last one read */
	struct judge *judge;         /* NULL without --stat */
	const char *verdict;         /* rule id of its first error; NULL: none */
	/* the next step of its rollout and the one after, as slices of text */
	struct buf text[2];
	struct line step[2];
	bool has[2], ended;
	int now; /* index of the first of the two */
};

struct diffing {
	const struct context *context;
	const struct diff_options *opts;
	struct output out;
	struct recording_side side[2];
	struct compare_rules rules;
	struct difference_printer printer;
	struct html_judge *page; /* NULL: none */
	struct difference_stats stats;
	struct compare_conf conf;
	struct compare_count count, one; /* of all rollouts; of the current one */
};

/* ---- two rollouts, compared while they are read ---- */

static int take_line(struct recording_side *s, int place, const struct line *l,
                     const struct reader_note *note, struct error *err)
{
	patterns_see(s->patterns, l->text);
	return (s->judge && judge_line(s->judge, l, note, err)) ||
	                       rollout_copy_take(&s->rollout, s->strip, l, &s->text[place],
	                                         &s->step[place], &s->has[place], err)
	               ? reader_place_error(err, note)
	               : 0;
}

/* Reads lines up to and with the next step. */
static int read_step(struct recording_side *s, int place, struct error *err)
{
	struct reader_note note;
	struct line l;

	s->has[place] = false;
	while (!s->ended && !s->has[place]) {
		int more = by_rollout_line(s->lines, &l, &note, err);

		if (more < 0 || (more && take_line(s, place, &l, &note, err)))
			return -1;
		s->ended = !more;
	}
	return 0;
}

static int pass_step(struct recording_side *s, struct error *err)
{
	s->now = !s->now;
	return read_step(s, !s->now, err);
}

static void begin_rollout(struct recording_side *s)
{
	rollout_copy_release(&s->rollout);
	s->rollout.id = arena_str(&s->rollout.arena, by_rollout_id(s->lines));
	s->verdict = NULL;
	s->ended = false;
}

static int begin_steps(struct recording_side *s, struct error *err)
{
	begin_rollout(s);
	return read_step(s, s->now, err) || read_step(s, !s->now, err) ? -1 : 0;
}

/* Keeps the steps that were read, and all that follow. */
static int keep_rest(struct recording_side *s, struct error *err)
{
	while (s->has[s->now]) {
		if (rollout_copy_keep(&s->rollout, buf_view(&s->text[s->now]),
		                      s->step[s->now].number, err) ||
		    pass_step(s, err)) {
			return -1;
		}
	}
	return 0;
}

static bool is_repeated(const struct recording_side *s)
{
	return s->has[!s->now] && compare_same_call(&s->step[s->now], &s->step[!s->now]);
}

/* Are the next steps of both sides a pair, whatever follows? */
static bool is_pair(const struct recording_side *a, const struct recording_side *b)
{
	const struct line *x = &a->step[a->now], *y = &b->step[b->now];

	return a->has[a->now] && b->has[b->now] && compare_same_call(x, y) &&
	       ((!is_repeated(a) && !is_repeated(b)) || compare_same_content(x, y));
}

static void end_rollout(struct recording_side *s)
{
	if (s->judge)
		judge_file(s->judge, NULL); /* ends a rollout without an end line */
}

/* Like reading both rollouts and compare_rollouts, with the same differences in the same order,
   except that a header or reset that follows a step is not compared. */
static int read_both(struct diffing *f, struct recording_side *a, struct recording_side *b,
                     struct error *err)
{
	struct compare_progress p = {.begun = false};

	if (begin_steps(a, err) || begin_steps(b, err))
		return -1;
	while (is_pair(a, b)) {
		compare_next_steps(&a->rollout, &a->step[a->now], &b->rollout, &b->step[b->now],
		                   &f->conf, &p, &f->one);
		a->rollout.dropped++;
		b->rollout.dropped++;
		if (pass_step(a, err) || pass_step(b, err))
			return -1;
	}
	if (keep_rest(a, err) || keep_rest(b, err))
		return -1;
	compare_rest(&a->rollout, &b->rollout, &f->conf, &p, &f->one);
	end_rollout(a);
	end_rollout(b);
	return 0;
}

/* Reads a rollout that only one side has, and reports it. */
static int read_unpaired(struct diffing *f, struct recording_side *s, bool extra, struct error *err)
{
	begin_rollout(s);
	do {
		if (read_step(s, 0, err))
			return -1;
		s->rollout.dropped += s->has[0];
	} while (s->has[0]);
	compare_unpaired(&s->rollout, extra, &f->conf, &f->one);
	end_rollout(s);
	return 0;
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct recording_side *s = ctx;

	for (size_t i = 0; v->rollout.p && i < v->finding_count && !s->verdict; i++)
		s->verdict = v->findings[i].severity == SEVERITY_ERROR ? v->findings[i].rule : NULL;
}

static int skip_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct recording_side *s = ctx;
	AUTO_BUF unused = BUF(SIZE_MAX / 2);

	return strip_line(s->strip, l, &unused, err);
}

/* ---- printing ---- */

static void put_in_page(struct diffing *f, const struct difference *d)
{
	struct difference_printer json = {.json = true};
	AUTO_BUF line = BUF(SIZE_MAX / 2);

	report_difference(&json, d, &line);
	html_judge_results(f->page, buf_view(&line));
	difference_printer_release(&json);
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
	if (output_flush(&f->out, err))
		return -1;
	return f->out.closed ? error_set(err, FAIL_NONE, "standard output is closed") : 0;
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
	const char *const verdicts[2] = {f->side[0].verdict, f->side[1].verdict};

	if (f->opts->stat && f->one.differences) {
		difference_stats_add(&f->stats, a ? &a->rollout : NULL, b ? &b->rollout : NULL,
		                     verdicts, &f->one);
	}
	compare_add(&f->count, &f->one);
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
	struct str first = by_rollout_id(f->side[0].lines),
		   second = by_rollout_id(f->side[1].lines);
	int order = !second.p ? -1 : !first.p ? 1 : str_order(first, second);
	struct recording_side *a = order <= 0 ? &f->side[0] : NULL;
	struct recording_side *b = order >= 0 ? &f->side[1] : NULL;
	struct str id = by_rollout_id((a ? a : b)->lines);

	if (f->opts->rollout && !str_is(id, f->opts->rollout))
		return skip_rollout(a, err) || skip_rollout(b, err) ? -1 : 0;
	int same = a && b ? skip_same(f, err) : 0;
	return same ? (same > 0 ? 0 : -1) : compare_pair_of(f, a, b, err);
}

static int compare_all(struct diffing *f, struct error *err)
{
	while (by_rollout_id(f->side[0].lines).p || by_rollout_id(f->side[1].lines).p)
		if (compare_next(f, err) || print_some(f, err))
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

static bool is_from_git(int argc)
{
	return argc == GIT_OPERANDS || argc == GIT_RENAMED;
}

static int read_operands(const struct context *c, int argc, char **argv, struct file_list *first,
                         struct file_list *second, struct error *err)
{
	struct buf paths[2] = {BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL)};
	struct file_list *lists[] = {first, second};
	bool git = is_from_git(argc);
	int failed = 0;

	if (argc == 1 || (argc > 2 && !git)) {
		return error_set(err, FAIL_USAGE,
		                 "needs two recordings, or none to compare the last two runs");
	}
	if (argc == 2 && !strcmp(argv[0], "-") && !strcmp(argv[1], "-"))
		return error_set(err, FAIL_USAGE, "standard input can be only one of the two");
	if (!argc)
		failed = store_last_two(c, &paths[0], &paths[1], err);
	for (int i = 0; i < 2 && !failed; i++) {
		char *path = git ? argv[i ? GIT_NEW : GIT_OLD] : argc ? argv[i] : paths[i].p;

		failed = file_list_new(&path, 1, lists[i], err);
	}
	BUFS_RELEASE(&paths[0], &paths[1]);
	return failed;
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
	struct stat st;

	return !s->files.many && !by_rollout_id(s->lines).p && stat(s->files.paths[0], &st) == 0 &&
	       S_ISREG(st.st_mode);
}

static int open_sides(struct diffing *f, struct error *err)
{
	for (int i = 0; i < 2; i++) {
		struct recording_side *s = &f->side[i];

		s->patterns = &f->rules.patterns;
		s->text[0] = s->text[1] = BUF(SIZE_MAX / 2);
		if (f->opts->stat && open_judge(s, err))
			return -1;
		if (masks_strip(f->opts->compare.masks.item, f->opts->compare.masks.count,
		                &s->strip, err) ||
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
	AUTO_BUF line = BUF(BUF_MAX_SMALL);

	if (!f->page)
		return 0;
	report_difference_summary(&f->count, true, &line);
	html_judge_results(f->page, buf_view(&line));
	return html_judge_finish(f->page, NULL, err);
}

static void release(struct diffing *f)
{
	html_judge_free(f->page);
	for (int i = 0; i < 2; i++) {
		by_rollout_close(f->side[i].lines);
		strip_free(f->side[i].strip);
		judge_free(f->side[i].judge);
		rollout_copy_release(&f->side[i].rollout);
		BUFS_RELEASE(&f->side[i].text[0], &f->side[i].text[1]);
		file_list_free(&f->side[i].files);
	}
	difference_printer_release(&f->printer);
	difference_stats_release(&f->stats);
	compare_rules_release(&f->rules);
	output_release(&f->out);
}

static int diff_main(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct diff_options *o = opts;
	struct diffing f = {
		.context = c,
		.opts = o,
		.out = output_of_results(o->json),
		.printer = {.style = c->style, .json = o->json, .word_diff = o->word_diff}};
	int code = -1;

	f.conf = (struct compare_conf){.header = true, .take = take_difference, .ctx = &f};
	if (!compare_rules_read(&f.rules, &o->compare, err)) {
		compare_rules_apply(&f.rules, &f.conf);
		if (is_from_git(argc) && !o->json)
			text_put_path(&f.out.text, "diff", argv[0]);
		code = read_operands(c, argc, argv, &f.side[0].files, &f.side[1].files, err) ||
		                       open_page(&f, err) || open_sides(&f, err) ||
		                       compare_all(&f, err) || finish_page(&f, err)
		               ? -1
		               : f.count.different > 0 && !o->no_exit_code && !is_from_git(argc);
	}
	if (code < 0 && f.out.closed)
		code = f.count.different > 0 && !o->no_exit_code;
	release(&f);
	return code;
}

CODE(diff)
