/* Comparison of two sets of recordings: see stats_compare.h. */
#include "cmd/stats_compare.h"

#include "base/mem.h"

#include <stdlib.h>

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

static void take_task(void *ctx, struct str task, const struct metrics *m)
{
	struct task_set *s = ctx;

	if ((s->count & (s->count - 1)) == 0) { /* the array is full at 0 and powers of two */
		s->tasks = mem_resize(s->tasks, s->count ? 2 * s->count : 1, sizeof(*s->tasks));
	}
	s->tasks[s->count++] = (struct task_side){arena_str(&s->arena, task), *m};
}

static void gather(struct task_set *s, struct stats *stats)
{
	stats_finish(stats, take_task, s, &s->total);
}

static void release(struct task_set *s)
{
	free(s->tasks);
	arena_release(&s->arena);
}

static int order(const struct task_side *a, const struct task_side *b)
{
	if (!a->task.p || !b->task.p) {
		return (a->task.p != NULL) - (b->task.p != NULL);
	}
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
		if (pair(c, which <= 0 ? a : NULL, which >= 0 ? b : NULL, err)) {
			return -1;
		}
	}
	return 0;
}

static int count_pair(struct comparing *c, const struct task_side *a, const struct task_side *b,
                      struct error *err)
{
	(void)err;
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
	if (c->format != CHANGES_TABLE || (of_task && c->all_tasks)) {
		return c->format != CHANGES_TABLE || m->difference.known;
	}
	return of_task ? m->verdict == CHANGE_MORE || m->verdict == CHANGE_LESS
	               : m->before.known || m->after.known;
}

static int compare_pair(struct comparing *c, const struct task_side *a, const struct task_side *b,
                        struct error *err)
{
	struct metric_change changes[COMPARED_MAX];

	if (!a || !b) {
		return 0;
	}
	bool changed = compare_all(&a->metrics, &b->metrics, c->count.tasks, changes) > 0;
	c->count.tasks_changed += changed;
	if (!changed && !c->all_tasks) {
		return 0;
	}
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

int stats_compare(const struct context *context, struct stats *before, struct stats *after,
                  bool all_tasks, enum change_format format, struct output *out, struct error *err)
{
	struct comparing c = {
		.context = context, .all_tasks = all_tasks, .format = format, .out = out};

	gather(&c.before, before);
	gather(&c.after, after);
	int failed = each_pair(&c, count_pair, err);
	report_changes_title(format, &out->text);
	compare_totals(&c);
	failed = failed || each_pair(&c, compare_pair, err);
	report_changes_end(&c.count, format, &out->text);
	release(&c.before);
	release(&c.after);
	return failed ? -1 : output_flush(out, err);
}
