/* Prints metrics: see metrics.h. */
#include "report/metrics.h"

#include "base/text.h"
#include "json/write.h"
#include "report/csv.h"

#include <math.h>

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
} columns[] = {
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
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		buf_printf(out, "  %*s", columns[i].columns, columns[i].title);
	buf_char(out, '\n');
}

void report_metrics_row(struct str task, const struct metrics *m, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	size_t wide = text_escape_cut(&text, task.p ? task : STR("(no task)"), TASK_COLUMNS);

	buf_str(out, buf_view(&text));
	buf_printf(out, "%*s", wide < TASK_COLUMNS ? (int)(TASK_COLUMNS - wide) : 0, "");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		buf_clear(&text);
		put_value(row_of(columns[i].metric), m, &text);
		buf_printf(out, "  %*s", columns[i].columns, buf_cstr(&text));
	}
	buf_char(out, '\n');
	buf_release(&text);
}

void report_checklist(const struct checklist_line lines[CHECKLIST], struct style style,
                      struct buf *out)
{
	static const char *const colors[CHECK_STATUSES] = {"32", "31", "33"};

	for (size_t i = 0; i < CHECKLIST; i++) {
		const char *status = check_status_name(lines[i].status);

		if (style.color)
			buf_printf(out, "\x1b[%sm%-7s\x1b[0m", colors[lines[i].status], status);
		else
			buf_printf(out, "%-7s", status);
		buf_printf(out, "  %-10s  %s\n", lines[i].name, lines[i].value);
	}
}

/* ---- for programs ---- */

void report_csv_metrics_title(enum metric_names names, struct buf *out)
{
	csv_field(out, STR("scope"));
	csv_field(out, STR("task"));
	for (size_t i = 0; i < metric_count; i++)
		csv_field(out, str_from(metric_name(&metric_table[i], names)));
	buf_char(out, '\n');
}

void report_csv_metrics(bool of_task, struct str task, const struct metrics *m, struct buf *out)
{
	csv_field(out, of_task ? STR("task") : STR("all"));
	csv_field(out, task);
	for (size_t i = 0; i < metric_count; i++) {
		double v = 0;
		bool known = metric_value(&metric_table[i], m, &v);

		csv_number(out, known, v);
	}
	buf_char(out, '\n');
}

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
