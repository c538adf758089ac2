/* Rows for data tools: see tables.h. */
#include "report/tables.h"

#include "base/mem.h"
#include "evidence/evidence.h"
#include "json/diff.h"
#include "json/write.h"
#include "recording/rollout_copy.h"
#include "report/csv.h"

#include <stdio.h>
#include <stdlib.h>

/* CELL_JSON: its JSON as text, also that of a string */
enum cell_type { CELL_TEXT, CELL_JSON, CELL_WHOLE, CELL_NUMBER, CELL_BOOL };

struct table_column {
	const char *name;
	enum cell_type type;
};

/* In the order in which put_step and put_rollout write them. */
static const struct table_column step_columns[] = {
	{"file", CELL_TEXT},        {"rollout", CELL_TEXT},     {"task", CELL_TEXT},
	{"sample", CELL_WHOLE},     {"turn", CELL_WHOLE},       {"step", CELL_WHOLE},
	{"tool", CELL_TEXT},        {"arguments", CELL_JSON},   {"state", CELL_JSON},
	{"state_hash", CELL_TEXT},  {"outcome", CELL_TEXT},     {"error_class", CELL_TEXT},
	{"observation", CELL_TEXT}, {"reward", CELL_NUMBER},    {"terminated", CELL_BOOL},
	{"truncated", CELL_BOOL},   {"env_steps", CELL_WHOLE},  {"failed", CELL_BOOL},
	{"effect", CELL_TEXT},      {"explanation", CELL_TEXT}, {"member", CELL_TEXT},
	{"changes", CELL_JSON},
};
static const struct table_column rollout_columns[] = {
	{"file", CELL_TEXT},
	{"rollout", CELL_TEXT},
	{"task", CELL_TEXT},
	{"sample", CELL_WHOLE},
	{"group_size", CELL_WHOLE},
	{"seed", CELL_WHOLE},
	{"env", CELL_TEXT},
	{"protocol", CELL_TEXT},
	{"policy", CELL_JSON},
	{"status", CELL_TEXT},
	{"reason", CELL_TEXT},
	{"turns", CELL_WHOLE},
	{"steps", CELL_WHOLE},
	{"effective", CELL_WHOLE},
	{"unknown", CELL_WHOLE},
	{"failed", CELL_WHOLE},
	{"longest_failed_run", CELL_WHOLE},
	{"reward", CELL_NUMBER},
};

struct tables {
	const struct table_column *columns;
	size_t count, rows;
	bool steps;
	enum table_form form;
	struct buf *out;
	const char *file;
	struct evidence *facts;
	struct buf row;     /* the values of a row, a JSON array */
	struct buf text;    /* of a value */
	struct buf changes; /* of a step */
};

static void release(void *user)
{
	rollout_copy_release(user);
}

/* ---- cells ---- */

/* A string's text, or another value as JSON. */
static void put_cell(struct tables *t, struct json_writer *w, enum cell_type type, struct str value)
{
	buf_clear(&t->text);
	if (type == CELL_JSON)
		buf_str(&t->text, value);
	else
		json_text_or_json(value, &t->text);
	if (t->form == TABLE_CSV)
		csv_field(t->out, json_is_null(value) ? STR_NONE : buf_view(&t->text));
	else if (t->form == TABLE_VALUES || type > CELL_JSON || json_is_null(value))
		jw_raw(w, value);
	else
		jw_str(w, buf_view(&t->text));
}

static void put_row(struct tables *t)
{
	struct json_writer w;
	struct str value;
	size_t cursor = 0;

	jw_init(&w, t->out);
	if (t->form != TABLE_CSV)
		jw_object(&w);
	if (t->form == TABLE_VALUES)
		jw_put_text(&w, "type", t->steps ? "step" : "rollout");
	for (size_t i = 0; json_next(buf_view(&t->row), &cursor, &value); i++) {
		if (t->form != TABLE_CSV)
			jw_key(&w, t->columns[i].name);
		put_cell(t, &w, t->columns[i].type, value);
	}
	if (t->form != TABLE_CSV)
		jw_end(&w);
	buf_char(t->out, '\n');
	buf_clear(&t->row);
	t->rows++;
}

/* What is no double, such as 1e400, is absent. Always with a point or an exponent: readers that infer types
   from the first rows must not take the column for whole numbers. */
static struct str number_of(struct tables *t, struct str value)
{
	double n;

	if (!json_double(value, &n))
		return STR_NONE;
	buf_clear(&t->text);
	json_pack(&t->text, "%f", n);
	buf_text(&t->text, strpbrk(buf_cstr(&t->text), ".e") ? "" : ".0");
	return buf_view(&t->text);
}

/* ---- steps ---- */

static const char *const explanations[] = {"unexplained", "volatile", "bookkeeping",
                                           "count",       "echo",     "effect"};

/* The trial of a call; NULL: its state before or after is not known. */
static const struct call_trial *trial_of(const struct series *s, const struct completed_step *p)
{
	bool known = p && p->trial >= 0 && (size_t)p->trial < s->trial_count &&
	             s->trials[p->trial].known;

	return known ? &s->trials[p->trial] : NULL;
}

/* True if one of the pointers is the other, or below it. */
static bool is_related(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	return !memcmp(a.p, b.p, n) && (a.n == b.n || (a.n > b.n ? a.p[n] == '/' : b.p[n] == '/'));
}

/* The member that says most among those that the call changed at the pointer; NULL: there is none. */
static const struct member *strongest(const struct series *s, const struct call_trial *trial,
                                      struct str pointer)
{
	const struct member *best = NULL;

	for (size_t i = trial->first; i < trial->first + trial->count; i++) {
		const struct member *m = s->changed[i];
		bool more = !best || m->explanation > best->explanation;

		best = more && is_related(m->pointer, pointer) ? m : best;
	}
	return best;
}

struct listing_changes {
	struct json_writer w;
	const struct series *series;
	const struct call_trial *trial;
};

static bool put_change(void *ctx, const struct json_difference *d)
{
	struct listing_changes *c = ctx;
	const struct member *m = strongest(c->series, c->trial, d->pointer);

	jw_pack(&c->w, "{pointer:%s,before:%?r,after:%?r,explanation:%t}", d->pointer, d->before,
	        d->after, m ? explanations[m->explanation] : "ignored");
	return true;
}

/* How the state differs after the call, as a JSON array; absent if either state is unknown. */
static struct str changes_of(struct tables *t, const struct rollout_facts *r,
                             const struct call_trial *trial, struct str before, struct str after)
{
	struct listing_changes c = {.series = r->series, .trial = trial};

	if (!trial || json_is_null(before) || json_is_null(after))
		return STR_NONE;
	buf_clear(&t->changes);
	c.w = jw_form(&t->changes, "[");
	json_diff(before, after, NULL, put_change, &c);
	jw_end(&c.w);
	return buf_view(&t->changes);
}

/* after: the state that followed; absent: unknown */
static void put_step(struct tables *t, const struct rollout_facts *r, struct str id,
                     const struct line *l, const struct completed_step *p, struct str after)
{
	const struct call_trial *trial = trial_of(r->series, p);
	const struct member *member = trial ? strongest(r->series, trial, STR("")) : NULL;
	const char *why = !p       ? NULL
	                  : !trial ? "no-state"
	                  : member ? explanations[member->explanation]
	                           : "no-difference";

	struct json_writer w = jw_form(&t->row, "[%t,%s,%s,%c,%c,%c", t->file, id, r->task,
	                               r->sample, l->turn, l->step);
	jw_pack(&w, "%r,%r,%r,%r,%r,%r,%r", JSON_GET(l->value[KEY_TOOL_CALL], "name"),
	        line_arguments(l), l->value[KEY_STATE], l->value[KEY_STATE_HASH],
	        l->value[KEY_OUTCOME], JSON_GET(l->value[KEY_ERROR], "class"),
	        l->value[KEY_OBSERVATION]);
	jw_pack(&w, "%r,%r,%r,%c", number_of(t, l->value[KEY_REWARD]), json_flag(l->terminated),
	        json_flag(l->truncated),
	        line_has(l, KEY_ENV_STEPS) ? line_count(l->value[KEY_ENV_STEPS]) : -1);
	jw_pack(&w, "%r,%t,%t,%s,%r]", json_flag(p ? p->failed : -1),
	        p ? effect_name(p->effect) : NULL, why, member ? member->pointer : STR_NONE,
	        changes_of(t, r, trial, l->value[KEY_STATE], after));
	put_row(t);
}

static void put_steps(struct tables *t, const struct rollout_copy *kept,
                      const struct evidence_update *u)
{
	const struct rollout_facts *r = u->rollout;
	int64_t next = 0;

	for (size_t i = 0; i < kept->count; i++) {
		const struct line *following =
			i + 1 < kept->count ? &kept->steps[i + 1] : &kept->end;
		int64_t position = (int64_t)i + 1;

		while (next < r->steps && r->completed[next].position < position)
			next++;
		bool is_call = next < r->steps && r->completed[next].position == position;
		put_step(t, r, u->end->id, &kept->steps[i], is_call ? &r->completed[next] : NULL,
		         following->value[KEY_STATE]);
	}
}

/* ---- rollouts ---- */

static void put_rollout(struct tables *t, const struct line *h, const struct evidence_update *u)
{
	const struct rollout_facts *r = u->rollout;
	const struct rollout_end *e = u->end;
	const struct counters *c = &e->counters;
	char seed[24] = "null";

	if (r->has_seed)
		snprintf(seed, sizeof(seed), "%lld", (long long)r->seed);
	struct json_writer w =
		jw_form(&t->row, "[%t,%s,%s,%c,%c,%r", t->file, e->id, r->task, r->sample,
	                r->group_size > 0 ? r->group_size : -1, str_from(seed));
	jw_pack(&w, "%r,%r,%r,%t,%s", JSON_GET(h->value[KEY_ENV], "name"),
	        JSON_GET(h->value[KEY_ENV], "protocol"), h->value[KEY_POLICY],
	        end_status_name(e->status), e->reason);
	jw_pack(&w, "%c,%c,%c,%c,%c,%c,%r]", c->turns, c->steps, c->effective, c->unknown,
	        c->failed, c->longest_failed_run, number_of(t, str_from(c->reward)));
	put_row(t);
}

/* ---- lines ---- */

static void keep(struct tables *t, const struct evidence_update *u, const struct line *l)
{
	struct rollout_copy *kept = u->user;
	bool first = l && l->type == LINE_HEADER && !kept->header.text.p;

	if (first || (l && l->type != LINE_HEADER && l->type != LINE_EVENT && t->steps)) {
		/* the line was parsed before */
		(void)!rollout_copy_keep(kept, l->text, l->number, ERROR_IGNORED);
	}
	if (u->end && t->steps)
		put_steps(t, kept, u);
	else if (u->end)
		put_rollout(t, &kept->header, u);
}

void tables_columns(enum table_kind kind, struct buf *out)
{
	static const char *const types[] = {"string", "string", "int64", "float64", "bool_"};
	const struct table_column *c = kind == TABLE_STEPS ? step_columns : rollout_columns;
	size_t n = kind == TABLE_STEPS ? ARRAY_LEN(step_columns) : ARRAY_LEN(rollout_columns);

	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s[\"%s\",\"%s\"]", i ? "," : "[", c[i].name, types[c[i].type]);
	buf_char(out, ']');
}

struct tables *tables_new(enum table_kind kind, enum table_form form, struct buf *out)
{
	const struct evidence_conf conf = {
		.user_size = sizeof(struct rollout_copy), .user_release = release, .lenient = true};
	struct tables *t = mem_new(sizeof(*t));

	t->steps = kind == TABLE_STEPS;
	t->columns = t->steps ? step_columns : rollout_columns;
	t->count = t->steps ? ARRAY_LEN(step_columns) : ARRAY_LEN(rollout_columns);
	t->form = form;
	t->out = out;
	t->row = t->text = t->changes = BUF(SIZE_MAX / 2);
	t->facts = evidence_new(&conf);
	for (size_t i = 0; form == TABLE_CSV && i < t->count; i++)
		csv_field(out, str_from(t->columns[i].name));
	buf_text(out, form == TABLE_CSV ? "\n" : "");
	return t;
}

void tables_free(struct tables *t)
{
	if (t) {
		evidence_free(t->facts);
		BUFS_RELEASE(&t->row, &t->text, &t->changes);
		free(t);
	}
}

void tables_file(struct tables *t, const char *path)
{
	t->file = path;
}

int tables_line(struct tables *t, const struct line *l, const struct reader_note *note,
                struct error *err)
{
	struct evidence_update u;

	if (evidence_end_unfinished(t->facts, l, &u))
		keep(t, &u, NULL);
	if (evidence_line(t->facts, l, note, &u, err))
		return -1;
	if (u.rollout)
		keep(t, &u, l);
	return 0;
}

void tables_file_end(struct tables *t)
{
	struct evidence_update u;

	while (evidence_end_next(t->facts, &u))
		keep(t, &u, NULL);
	evidence_new_file(t->facts);
}

size_t tables_count(const struct tables *t)
{
	return t->rows;
}
