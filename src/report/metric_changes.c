/* Prints differences between metrics: see metric_changes.h. */
#include "report/metric_changes.h"

#include "base/text.h"
#include "json/write.h"
#include "report/csv.h"

#include <stdio.h>

#define NAME_COLUMNS     26
#define VALUE_COLUMNS    10
#define INTERVAL_COLUMNS 26

/* ---- for people ---- */

static void put_value(const struct estimate *v, struct buf *out)
{
	if (v->known)
		buf_printf(out, "  %*.4g", VALUE_COLUMNS, v->value);
	else
		buf_printf(out, "  %*s", VALUE_COLUMNS, "-");
}

static const char *color_of(enum change_verdict v)
{
	return v == CHANGE_MORE || v == CHANGE_LESS ? "1" : "2";
}

static void put_row(const struct metric_change *c, struct style style, struct buf *out)
{
	const struct estimate *d = &c->difference;
	char interval[64] = "-";

	buf_printf(out, "%-*s", NAME_COLUMNS, c->metric);
	put_value(&c->before, out);
	put_value(&c->after, out);
	if (d->known)
		buf_printf(out, "  %+*.4g", VALUE_COLUMNS, d->value);
	else
		buf_printf(out, "  %*s", VALUE_COLUMNS, "-");
	if (d->bounded)
		snprintf(interval, sizeof(interval), "%+.3g .. %+.3g", d->low, d->high);
	buf_printf(out, "  %-*s", INTERVAL_COLUMNS, interval);
	if (style.color) {
		buf_printf(out, "\x1b[%sm%s\x1b[0m\n", color_of(c->verdict),
		           change_verdict_name(c->verdict));
	} else {
		buf_printf(out, "%s\n", change_verdict_name(c->verdict));
	}
}

static void put_end(const struct change_count *n, struct buf *out)
{
	buf_printf(out, "\n%zu task%s in both, %zu differ%s by more than noise", n->tasks,
	           n->tasks == 1 ? "" : "s", n->tasks_changed, n->tasks_changed == 1 ? "s" : "");
	if (n->only_before || n->only_after)
		buf_printf(out, "; %zu only before, %zu only after", n->only_before, n->only_after);
	buf_char(out, '\n');
}

/* ---- for programs ---- */

struct column {
	const char *name;
	bool known;
	double value;
};

#define COLUMNS 11

static void columns_of(const struct metric_change *c, struct column out[COLUMNS])
{
	const struct estimate *b = &c->before, *a = &c->after, *d = &c->difference;
	const struct column columns[COLUMNS] = {
		{"before", b->known, b->value},       {"before_low", b->bounded, b->low},
		{"before_high", b->bounded, b->high}, {"before_n", true, c->before_n},
		{"after", a->known, a->value},        {"after_low", a->bounded, a->low},
		{"after_high", a->bounded, a->high},  {"after_n", true, c->after_n},
		{"difference", d->known, d->value},   {"low", d->bounded, d->low},
		{"high", d->bounded, d->high}};

	memcpy(out, columns, sizeof(columns));
}

static void put_json(const struct metric_change *c, bool of_task, struct str task, struct buf *out)
{
	struct column columns[COLUMNS];

	columns_of(c, columns);
	struct json_writer w = jw_begin(out);
	jw_put_text(&w, "type", "change");
	jw_put_text(&w, "scope", of_task ? "task" : "all");
	jw_put_str(&w, "task", task);
	jw_put_text(&w, "metric", c->metric);
	for (size_t i = 0; i < COLUMNS; i++) {
		jw_key(&w, columns[i].name);
		if (columns[i].known)
			jw_double(&w, columns[i].value);
		else
			jw_null(&w);
	}
	jw_put_text(&w, "verdict", change_verdict_name(c->verdict));
	jw_end(&w);
	buf_char(out, '\n');
}

static void put_csv(const struct metric_change *c, bool of_task, struct str task, struct buf *out)
{
	struct column columns[COLUMNS];

	columns_of(c, columns);
	csv_field(out, of_task ? STR("task") : STR("all"));
	csv_field(out, task);
	csv_field(out, str_from(c->metric));
	for (size_t i = 0; i < COLUMNS; i++)
		csv_number(out, columns[i].known, columns[i].value);
	csv_field(out, str_from(change_verdict_name(c->verdict)));
	csv_end(out);
}

static void put_csv_title(struct buf *out)
{
	static const struct metric_change none = {.before_n = 0};
	struct column columns[COLUMNS];

	columns_of(&none, columns);
	csv_field(out, STR("scope"));
	csv_field(out, STR("task"));
	csv_field(out, STR("metric"));
	for (size_t i = 0; i < COLUMNS; i++)
		csv_field(out, str_from(columns[i].name));
	csv_field(out, STR("verdict"));
	csv_end(out);
}

static void put_json_end(const struct change_count *n, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	jw_put_text(&w, "type", "comparison");
	jw_put_u64(&w, "tasks", n->tasks);
	jw_put_u64(&w, "only_before", n->only_before);
	jw_put_u64(&w, "only_after", n->only_after);
	jw_put_u64(&w, "tasks_changed", n->tasks_changed);
	for (size_t i = 0; i < CHANGE_VERDICTS; i++)
		jw_put_u64(&w, change_verdict_name((enum change_verdict)i), n->verdicts[i]);
	jw_end(&w);
	buf_char(out, '\n');
}

/* ---- either ---- */

void report_changes_title(enum change_format format, struct buf *out)
{
	if (format == CHANGES_CSV) {
		put_csv_title(out);
	} else if (format == CHANGES_TABLE) {
		buf_printf(out, "%-*s  %*s  %*s  %*s  %-*s%s\n", NAME_COLUMNS, "metric",
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
		put_row(c, style, out);
	else if (format == CHANGES_JSON)
		put_json(c, of_task, task, out);
	else
		put_csv(c, of_task, task, out);
}

void report_changes_end(const struct change_count *count, enum change_format format,
                        struct buf *out)
{
	if (format == CHANGES_TABLE)
		put_end(count, out);
	else if (format == CHANGES_JSON)
		put_json_end(count, out);
}
