/* Prints metrics: see metrics_text.h. */
#include "report/metrics_text.h"

#include "base/text.h"
#include "json/write.h"
#include "report/csv.h"

#include <math.h>
#include <stdio.h>

#define NAME_COLUMNS 28
#define TASK_COLUMNS 24

/* ---- for people ---- */

static void put_value(const struct metric *row, const struct metrics *m, struct buf *out)
{
	double v;

	if (!metric_value(row, m, &v))
		buf_text(out, "-");
	else
		buf_printf(out, "%.*g", v == floor(v) ? 15 : 6, v);
}

void report_metrics(const struct metrics *m, enum metric_names names, struct buf *out)
{
	for (size_t i = 0; i < metric_count; i++) {
		const struct metric *row = &metric_table[i];
		double v;

		if (!metric_value(row, m, &v) || (row->detail && v == 0))
			continue;
		buf_printf(out, "%-*s  ", NAME_COLUMNS, metric_name(row, names));
		put_value(row, m, out);
		buf_char(out, '\n');
	}
}

/* The metrics that fit next to a task's id. */
static const struct {
	const char *metric, *title;
	int columns;
} row_cells[] = {
	{"rollouts", "rollouts", 8},
	{"num_turns/mean", "turns", 7},
	{"tools/call_frequency", "calls", 7},
	{"tools/failure_frequency", "failed", 7},
	{"reward", "reward", 8},
	{"reward_std", "std", 8},
};

static const struct metric *row_of(const char *name)
{
	size_t i = 0;

	while (strcmp(metric_table[i].name, name) != 0)
		i++;
	return &metric_table[i];
}

void report_metrics_title(struct buf *out)
{
	buf_printf(out, "%-*s", TASK_COLUMNS, "task");
	for (size_t i = 0; i < ARRAY_LEN(row_cells); i++)
		buf_printf(out, "  %*s", row_cells[i].columns, row_cells[i].title);
	buf_char(out, '\n');
}

void report_metrics_row(struct str task, const struct metrics *m, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	size_t wide = text_escape_cut(&text, task.p ? task : STR("(no task)"), TASK_COLUMNS);

	buf_str(out, buf_view(&text));
	buf_printf(out, "%*s", wide < TASK_COLUMNS ? (int)(TASK_COLUMNS - wide) : 0, "");
	for (size_t i = 0; i < ARRAY_LEN(row_cells); i++) {
		buf_clear(&text);
		put_value(row_of(row_cells[i].metric), m, &text);
		buf_printf(out, "  %*s", row_cells[i].columns, buf_cstr(&text));
	}
	buf_char(out, '\n');
}

void report_checklist(const struct checklist_line lines[CHECKLIST], struct style style,
                      struct buf *out)
{
	static const char *const colors[CHECK_STATUSES] = {"32", "31", "33"};

	for (size_t i = 0; i < CHECKLIST; i++) {
		const char *status = check_status_name(lines[i].status);

		style_begin(out, style, colors[lines[i].status]);
		buf_printf(out, "%-7s", status);
		style_end(out, style);
		buf_printf(out, "  %-10s  %s\n", lines[i].name, lines[i].value);
	}
}

/* ---- for programs ---- */

static void put_metrics(struct json_writer *w, const struct metrics *m, enum metric_names names)
{
	double v;

	for (size_t i = 0; i < metric_count; i++) {
		bool known = metric_value(&metric_table[i], m, &v);

		jw_put_double(w, metric_name(&metric_table[i], names), known ? v : (double)NAN);
	}
	jw_line_end(w);
}

void report_json_metrics(const struct metrics *m, enum metric_names names, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "metrics");
	put_metrics(&w, m, names);
}

void report_json_task(struct str task, const struct metrics *m, enum metric_names names,
                      struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "task");
	jw_put_str(&w, "task", task);
	put_metrics(&w, m, names);
}

void report_csv_metrics(bool of_task, struct str task, const struct metrics *m,
                        enum metric_names names, struct buf *out)
{
	static const struct metrics none = {.known = {false}};
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);
	struct json_writer w = jw_form(&line, "{scope:%t,task:%s", of_task ? "task" : "all", task);

	put_metrics(&w, m ? m : &none, names);
	csv_line(out, buf_view(&line), !m);
}

void report_json_checklist(const struct checklist_line lines[CHECKLIST], const struct metrics *m,
                           struct buf *out)
{
	int64_t count[CHECK_STATUSES] = {0};
	struct json_writer w;

	for (size_t i = 0; i < CHECKLIST; i++) {
		count[lines[i].status]++;
		json_pack(out, "{type:'property',name:%t,status:%t,value:%t}", lines[i].name,
		          check_status_name(lines[i].status), lines[i].value);
		buf_char(out, '\n');
	}
	jw_line(&w, out, "summary");
	jw_put_double(&w, "rollouts", m->sum[SUM_ROLLOUTS]);
	for (size_t i = 0; i < CHECK_STATUSES; i++)
		jw_put_i64(&w, check_status_name((enum check_status)i), count[i]);
	jw_line_end(&w);
}

/* ---- differences between two sets ---- */

#define CHANGED_COLUMNS  26
#define VALUE_COLUMNS    10
#define INTERVAL_COLUMNS 26

/* ---- for people ---- */

static void put_estimate(const struct estimate *v, struct buf *out)
{
	if (v->known)
		buf_printf(out, "  %*.4g", VALUE_COLUMNS, v->value);
	else
		buf_printf(out, "  %*s", VALUE_COLUMNS, "-");
}

static const char *color_of(enum change_verdict v)
{
	return v == CHANGE_MORE || v == CHANGE_LESS ? COLOR_BOLD : COLOR_FAINT;
}

static void put_change(const struct metric_change *c, struct style style, struct buf *out)
{
	const struct estimate *d = &c->difference;
	char interval[64] = "-";

	buf_printf(out, "%-*s", CHANGED_COLUMNS, c->metric);
	put_estimate(&c->before, out);
	put_estimate(&c->after, out);
	if (d->known)
		buf_printf(out, "  %+*.4g", VALUE_COLUMNS, d->value);
	else
		buf_printf(out, "  %*s", VALUE_COLUMNS, "-");
	if (d->bounded)
		snprintf(interval, sizeof(interval), "%+.3g .. %+.3g", d->low, d->high);
	buf_printf(out, "  %-*s", INTERVAL_COLUMNS, interval);
	style_put(out, style, color_of(c->verdict), str_from(change_verdict_name(c->verdict)));
	buf_char(out, '\n');
}

static void put_end(const struct change_count *n, struct buf *out)
{
	buf_printf(out, "\n%zu task%s in both, %zu differ%s by more than noise", n->tasks,
	           plural(n->tasks), n->tasks_changed, n->tasks_changed == 1 ? "s" : "");
	if (n->only_before || n->only_after)
		buf_printf(out, "; %zu only before, %zu only after", n->only_before, n->only_after);
	buf_char(out, '\n');
}

/* ---- for programs ---- */

static void put_bounds(struct json_writer *w, const char *const names[3], const struct estimate *e)
{
	jw_put_double(w, names[0], e->known ? e->value : (double)NAN);
	jw_put_double(w, names[1], e->bounded ? e->low : (double)NAN);
	jw_put_double(w, names[2], e->bounded ? e->high : (double)NAN);
}

static void json_change(const struct metric_change *c, bool of_task, struct str task,
                        struct buf *out)
{
	static const char *const before[] = {"before", "before_low", "before_high"};
	static const char *const after[] = {"after", "after_low", "after_high"};
	static const char *const difference[] = {"difference", "low", "high"};
	struct json_writer w;

	jw_line(&w, out, "change");
	jw_pack(&w, "scope:%t,task:%s,metric:%t", of_task ? "task" : "all", task, c->metric);
	put_bounds(&w, before, &c->before);
	jw_put_double(&w, "before_n", c->before_n);
	put_bounds(&w, after, &c->after);
	jw_put_double(&w, "after_n", c->after_n);
	put_bounds(&w, difference, &c->difference);
	jw_put_text(&w, "verdict", change_verdict_name(c->verdict));
	jw_line_end(&w);
}

static void csv_change(const struct metric_change *c, bool of_task, struct str task, bool title,
                       struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);

	json_change(c, of_task, task, &line);
	csv_line(out, buf_view(&line), title);
}

static void json_change_end(const struct change_count *n, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "comparison");
	jw_pack(&w, "tasks:%i,only_before:%i,only_after:%i,tasks_changed:%i", (int64_t)n->tasks,
	        (int64_t)n->only_before, (int64_t)n->only_after, (int64_t)n->tasks_changed);
	for (size_t i = 0; i < CHANGE_VERDICTS; i++)
		jw_put_u64(&w, change_verdict_name((enum change_verdict)i), n->verdicts[i]);
	jw_line_end(&w);
}

/* ---- either ---- */

void report_changes_title(enum change_format format, struct buf *out)
{
	if (format == CHANGES_CSV) {
		csv_change(&(struct metric_change){.before_n = 0}, false, STR_NONE, true, out);
	} else if (format == CHANGES_TABLE) {
		buf_printf(out, "%-*s  %*s  %*s  %*s  %-*s%s\n", CHANGED_COLUMNS, "metric",
		           VALUE_COLUMNS, "before", VALUE_COLUMNS, "after", VALUE_COLUMNS, "change",
		           INTERVAL_COLUMNS, "95% interval", "verdict");
	}
}

void report_changes_task(struct str task, enum change_format format, struct buf *out)
{
	if (format != CHANGES_TABLE)
		return;
	buf_text(out, "\ntask ");
	text_escape_cut(out, task.p ? task : STR("(no task)"), 80);
	buf_char(out, '\n');
}

void report_change(const struct metric_change *c, bool of_task, struct str task,
                   enum change_format format, struct style style, struct buf *out)
{
	if (format == CHANGES_TABLE)
		put_change(c, style, out);
	else if (format == CHANGES_JSON)
		json_change(c, of_task, task, out);
	else
		csv_change(c, of_task, task, false, out);
}

void report_changes_end(const struct change_count *count, enum change_format format,
                        struct buf *out)
{
	if (format == CHANGES_TABLE)
		put_end(count, out);
	else if (format == CHANGES_JSON)
		json_change_end(count, out);
}
