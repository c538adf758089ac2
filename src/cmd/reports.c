/* The reports of a command: see reports.h. */
#include "cmd/reports.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/new_file.h"
#include "cmd/options/setting_options.h"

#include <stdlib.h>

#define FLUSH_AT ((size_t)64 << 10)
#define ROWS     report
#include "cmd/options/rows.h"
const struct option_group report_group = {report_opts, ARRAY_LEN(report_opts), "report options"};

struct open_report {
	const struct report_row *row;
	struct report report;
	struct buf own; /* text not written yet; unused if the report goes to the console */
	struct new_file file;
	bool console;
};

struct reports {
	struct report_conf conf;
	struct buf *console;
	struct open_report items[OPT_LIST_MAX + 1];
	size_t count;
	const struct report_row
		*on_console; /* the report that is printed to standard output; NULL: none */
	bool table, closed;
	struct report_totals totals;
};

/* ---- what was asked for ---- */

static const struct report_row *find_row(struct str name, struct error *err)
{
	const char *names[OPT_LIST_MAX];

	for (size_t i = 0; i < report_row_count; i++) {
		if (str_is(name, report_rows[i].name))
			return &report_rows[i];
		names[i] = report_rows[i].name;
	}
	error_set(err, FAIL_USAGE, "--report: unknown kind '%.*s'", STR_ARG(name));
	names_suggest(err, name, names, report_row_count);
	return NULL;
}

static int claim_console(struct reports *r, const struct report_row *row, const char *taken,
                         struct error *err)
{
	if (!taken && !r->on_console) {
		r->on_console = row;
		return 0;
	}
	return error_set(err, FAIL_USAGE, "%s%s and --report %s both write to standard output",
	                 taken ? taken : "--report ", taken ? "" : r->on_console->name, row->name);
}

static bool is_console(const char *file)
{
	return !file || !strcmp(file, "-") || !strcmp(file, "/dev/stdout");
}

static int check_file(const struct reports *r, const struct report_row *row, const char *file,
                      struct error *err)
{
	if (!file && row->target == REPORT_FILE) {
		return error_set(
			err, FAIL_USAGE,
			"--report %s needs a file: --report %s:FILE (- is standard output)",
			row->name, row->name);
	}
	if (file && (row->target == REPORT_CONSOLE || !*file)) {
		return error_set(err, FAIL_USAGE,
		                 *file ? "--report %s is printed to standard output: it takes no "
		                         "file"
		                       : "--report %s: needs a file after the ':'",
		                 row->name);
	}
	for (size_t i = 0; file && i < r->count; i++) {
		if (r->items[i].file.path && !strcmp(r->items[i].file.path, file)) {
			return error_set(err, FAIL_USAGE,
			                 "--report %s and --report %s are the same file: %s",
			                 r->items[i].row->name, row->name, file);
		}
	}
	return 0;
}

static int add_report(struct reports *r, const struct report_row *row, const char *file,
                      const char *taken, struct error *err)
{
	struct open_report *o = &r->items[r->count];

	if (check_file(r, row, file, err) ||
	    (is_console(file) && claim_console(r, row, taken, err)))
		return -1;
	*o = (struct open_report){.row = row, .own = BUF(SIZE_MAX / 2)};
	o->console = is_console(file);
	o->report = (struct report){.kind = row->kind,
	                            .conf = &r->conf,
	                            .head = BUF(BUF_MAX_SMALL),
	                            .state = mem_new(row->kind->state_size + 1)};
	o->report.out = o->console && !row->kind->head_last ? r->console : &o->own;
	r->table = r->table || row->target == REPORT_CONSOLE;
	r->count++;
	struct new_file_conf conf = {file, .kind = &row->kind->file};
	return o->console ? 0 : new_file_open(&o->file, &conf, err);
}

static int add_spec(struct reports *r, const char *spec, const char *taken, struct error *err)
{
	size_t n = strcspn(spec, ":");
	const struct report_row *row = find_row((struct str){spec, n}, err);
	const char *file = spec[n] ? spec + n + 1 : NULL;

	return row ? add_report(r, row, file, taken, err) : -1;
}

static int add_all(struct reports *r, const struct report_options *o, const char *taken,
                   struct error *err)
{
	const struct report_row *json = find_row(STR("json"), err);

	if (o->json && add_report(r, json, NULL, taken, err))
		return -1;
	for (size_t i = 0; i < o->kinds.count; i++)
		if (add_spec(r, o->kinds.item[i], taken, err))
			return -1;
	r->table = r->table || !r->on_console;
	return 0;
}

int reports_open(const struct report_options *o, const struct context *c, struct buf *console,
                 const char *taken, struct reports **out, struct error *err)
{
	struct reports *r = mem_new(sizeof(*r));

	r->conf = (struct report_conf){
		.command = c->command->name, .version = ROLLDBG_VERSION, .put_text = settings_put};
	r->console = console;
	if (add_all(r, o, taken, err)) {
		reports_free(r);
		return -1;
	}
	for (size_t i = 0; i < r->count; i++) {
		struct report *one = &r->items[i].report;

		if (one->kind->begin)
			one->kind->begin(one);
	}
	*out = r;
	return 0;
}

bool reports_have_json(const struct report_options *o)
{
	bool json = o->json;

	for (size_t i = 0; i < o->kinds.count; i++)
		json = json || !strcmp(o->kinds.item[i], "json");
	return json;
}

bool reports_have_table(const struct reports *r)
{
	return r->table;
}

/* ---- cases ---- */

void reports_difference(struct reports *r, const struct difference_printer *at,
                        const struct difference *d)
{
	for (size_t i = 0; i < r->count; i++)
		report_add_difference(&r->items[i].report, at, d);
}

void reports_case(struct reports *r, const struct report_case *c)
{
	r->totals.cases++;
	r->totals.took_ms += c->took_ms;
	r->totals.rollouts += c->rollout.p != NULL;
	r->totals.failed += c->result == CASE_FAILED;
	r->totals.errors += c->result == CASE_ERROR;
	for (size_t i = 0; i < r->count; i++) {
		struct open_report *o = &r->items[i];

		report_add_case(&o->report, c);
		if (!o->console && !o->row->kind->head_last && o->own.n > FLUSH_AT) {
			new_file_write(&o->file, buf_view(&o->own));
			buf_clear(&o->own);
		}
	}
}

void reports_problem(struct reports *r, const char *file, const struct error *why)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	settings_put(&text, why->text);
	reports_case(r, &(struct report_case){
				.result = CASE_ERROR, .file = file, .problem = buf_cstr(&text)});
}

/* ---- the end ---- */

static int finish(struct reports *r, struct open_report *o, struct error *err)
{
	if (o->row->kind->end)
		o->row->kind->end(&o->report, &r->totals);
	if (!o->console) {
		new_file_write(&o->file, buf_view(&o->report.head));
		new_file_write(&o->file, buf_view(&o->own));
		return new_file_publish(&o->file, err);
	}
	if (o->report.out != r->console) {
		buf_str(r->console, buf_view(&o->report.head));
		buf_str(r->console, buf_view(&o->own));
	}
	return 0;
}

int reports_close(struct reports *r, const struct judge *judge,
                  const struct compare_count *compared, struct error *err)
{
	int failed = 0;

	r->closed = true;
	r->totals.judge = judge;
	r->totals.compared = compared;
	for (size_t i = 0; i < r->count; i++)
		if (finish(r, &r->items[i], failed ? ERROR_IGNORED : err))
			failed = -1;
	return failed;
}

void reports_give_up(struct reports *r, const char *file, const struct judge *judge,
                     const struct error *why)
{
	if (r && !r->closed && why->kind != FAIL_USAGE) {
		reports_problem(r, file, why);
		/* `why` is reported instead */
		(void)!reports_close(r, judge, NULL, ERROR_IGNORED);
	}
}

void reports_free(struct reports *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++) {
		struct open_report *o = &r->items[i];

		report_release(&o->report);
		buf_release(&o->own);
		new_file_release(&o->file);
	}
	free(r);
}
