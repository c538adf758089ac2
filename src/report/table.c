/* A recording as a table, one row per step: see report.h. Rows are held back until the column
   widths are known, and until a later line determines their effect. */
#include "base/mem.h"
#include "base/text.h"
#include "report/event_text.h"
#include "report/row.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS           32 /* maximum number of rows held back */
#define EVENTS_SHOWN   3  /* consecutive events with the same name that are shown */
#define FORESEEN_CELLS 3  /* reserved for later rows that are wider than the first */
#define STATE_FORESEEN 9  /* the same, for changes, if the first row has none */
#define CALL_FORESEEN  24

struct table {
	struct style style;
	bool live;   /* effects are not final before the end */
	size_t wait; /* rows to wait for before the layout is chosen */
	struct layout layout;
	bool timed_out;        /* the last step was not answered in time */
	bool headed;           /* this rollout's heading was printed */
	struct buf rollout;    /* id of the current rollout */
	struct row rows[ROWS]; /* not printed yet */
	size_t count;
	bool open;                  /* the last row's effect is not known yet */
	struct buf state;           /* the state before the last row; empty: unknown */
	struct json_paths *ignored; /* ignored pointers of this rollout's states */
	struct buf event;           /* name of the previous line, if it was an event */
	uint64_t repeated;          /* number of consecutive events with that name */
	uint64_t noise;             /* of this rollout: many servers log each request */
};

struct table *table_new(struct style style, bool live)
{
	struct table *t = mem_new(sizeof(*t));

	t->style = style;
	t->style.columns = style.columns > LEAST_COLUMNS ? style.columns : LEAST_COLUMNS;
	t->live = live;
	t->wait = live ? 1 : ROWS;
	t->rollout = t->event = BUF(BUF_MAX_SMALL);
	t->state = BUF(BUF_MAX_MESSAGE);
	for (size_t i = 0; i < ROWS; i++)
		row_init(&t->rows[i]);
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < ROWS; i++)
		row_release(&t->rows[i]);
	json_paths_free(t->ignored);
	BUFS_RELEASE(&t->rollout, &t->state, &t->event);
	free(t);
}

/* ---- rows ---- */

/* A live table is laid out after its first row, with space for later, wider rows. */
static void lay_out(struct table *t, size_t n)
{
	struct widths w = {.state = 0};

	for (size_t i = 0; i < n; i++)
		row_widths(&t->rows[i], &w);
	if (t->wait == 1) {
		w.call += w.call < CALL_FORESEEN ? CALL_FORESEEN - w.call : FORESEEN_CELLS;
		for (enum outcome o = OUTCOME_NONE + 1; o < outcome_count; o++)
			w.outcome = at_least(w.outcome, strlen(outcome_name(o)));
		w.state += t->rows[0].effect == EFFECT_CHANGED ? FORESEEN_CELLS : STATE_FORESEEN;
		w.observation = SIZE_MAX;
	}
	t->layout = layout_make(t->style.columns, w);
}

/* Prints all rows except one whose effect is not known yet. */
static void print_rows(struct table *t, struct buf *out)
{
	size_t n = t->count - t->open;

	if (n && !t->headed) {
		lay_out(t, n);
		row_print_heading(&t->layout, out);
		t->headed = true;
	}
	for (size_t i = 0; i < n; i++)
		row_print(&t->rows[i], &t->layout, t->style, out);
	if (n &&
	    t->open) { /* swap: the open row becomes the first one, and both keep their memory */
		struct row first = t->rows[0];

		t->rows[0] = t->rows[n];
		t->rows[n] = first;
	}
	t->count -= n;
}

/* Called when the effect of the newest row is known or can no longer become known. */
static void close_row(struct table *t, const struct evidence_update *u, struct buf *out)
{
	const struct line *l = u->derived.line;
	struct str before = buf_view(&t->state);

	if (!t->open)
		return;
	struct row *r = &t->rows[t->count - 1];
	t->open = false;
	r->effect = u->completed ? u->completed->effect : EFFECT_UNKNOWN;
	if (r->effect != EFFECT_UNCHANGED && before.n && l && line_has(l, KEY_STATE))
		changes_find(&r->changes, before, l->value[KEY_STATE], t->ignored);
	if (t->headed || t->count >= t->wait)
		print_rows(t, out);
}

static void add_row(struct table *t, const struct line *l, struct buf *out)
{
	if (t->count == ROWS)
		print_rows(t, out);
	row_set(&t->rows[t->count++], l);
	t->open = true;
	buf_set(&t->state, line_has(l, KEY_STATE) ? l->value[KEY_STATE] : STR_NONE);
}

/* The buffer for lines that are not rows: they go below the rows held back. */
static struct buf *below_rows(struct table *t, struct buf *out)
{
	return t->count ? &t->rows[t->count - 1].events : out;
}

/* ---- lines that are not rows ---- */

static void put_pair(struct buf *out, const char *name, struct str value)
{
	if (json_is_null(value))
		return;
	buf_printf(out, " · %s", name);
	text_escape_cut(out, json_type(value) == JSON_STRING ? json_inner(value) : value, 60);
}

static void put_title(struct table *t, const struct line *l, struct buf *out)
{
	struct str env = l->value[KEY_ENV], policy = l->value[KEY_POLICY];
	struct str era = JSON_GET(JSON_GET(l->value[KEY_META], "mcp"), "era");
	struct str source = JSON_GET(l->value[KEY_STATE_SOURCE], "kind");
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	text_escape_cut(&text, l->rollout, 80);
	put_pair(&text, "", JSON_GET(env, "protocol"));
	if (json_is(era, STR("modern")))
		put_pair(&text, "era ", era); /* environment without sessions */
	if (!str_starts(l->rollout, json_inner(JSON_GET(env, "name"))))
		put_pair(&text, "", JSON_GET(env, "name")); /* otherwise the id contains it */
	put_pair(&text, "policy ", JSON_GET(policy, "name"));
	put_pair(&text, "seed ", l->value[KEY_SEED]);
	if (json_is(source, STR("none")))
		buf_text(&text, " · no state source");
	else
		put_pair(&text, "state from ", source);
	style_wrap(out, t->style, buf_view(&text), 0);
}

/* Appends ": " and a string's text; nothing if there is none. */
static void put_sentence(struct buf *out, struct str string)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (json_type(string) == JSON_STRING && json_decode(string, &text) && text.n) {
		buf_text(out, ": ");
		buf_str(out, buf_view(&text));
	}
}

static void put_event(struct table *t, struct buf *text, struct buf *out)
{
	struct cells c = {.out = out, .columns = t->style.columns, .color = t->style.color};

	cells_right(&c, STR("!"), TURN_COLUMNS);
	cells_pad(&c, TURN_COLUMNS + GAP);
	cells_add(&c, buf_view(text), SIZE_MAX, COLOR_YELLOW);
	cells_end(&c);
}

/* Says how many events were omitted. */
static void put_omitted(struct table *t, uint64_t count, struct buf *out)
{
	if (count > EVENTS_SHOWN) {
		buf_printf(&t->event, ": %" PRIu64 " more like this", count - EVENTS_SHOWN);
		put_event(t, &t->event, out);
	}
	buf_clear(&t->event);
}

static void end_events(struct table *t, struct buf *out)
{
	put_omitted(t, t->repeated, below_rows(t, out));
	t->repeated = 0;
}

static void event(struct table *t, const struct line *l, struct buf *out)
{
	struct str name = json_inner(l->value[KEY_EVENT]);
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (l->event == EVENT_NOISE && ++t->noise > EVENTS_SHOWN)
		return;
	if (!str_eq(name, buf_view(&t->event))) {
		end_events(t, out);
		buf_str(&t->event, name);
	}
	if (++t->repeated > EVENTS_SHOWN)
		return;
	event_text(&text, l);
	put_event(t, &text, below_rows(t, out));
}

static void ending(struct table *t, const struct line *l, struct buf *out)
{
	AUTO_BUF sentence = BUF(BUF_MAX_MESSAGE), text = BUF(BUF_MAX_MESSAGE);

	if (l->status == END_UNREACHABLE && t->timed_out)
		buf_text(&sentence, "timed out"); /* it was reached before */
	else
		buf_str(&sentence, json_inner(l->value[KEY_STATUS]));
	if (!str_eq(l->value[KEY_REASON], l->value[KEY_STATUS])) /* "interrupted" is both */
		put_sentence(&sentence, l->value[KEY_REASON]);
	text_escape_cut(&text, buf_view(&sentence), 240);
	style_wrap(out, t->style, buf_view(&text), 0);
}

/* The rows of a live table say what changed; what it was is known now. */
static void put_revised(const struct rollout_facts *r, struct buf *out)
{
	int64_t n = r->verdict.revised;

	if (n > 0) {
		buf_printf(out,
		           "revised: what %" PRId64
		           " step%s changed only counts the calls or repeats their words\n",
		           n, plural(n));
	}
}

static void put_incomplete(const struct line *l, int64_t lines, struct buf *out)
{
	int64_t counted;

	if (!l) {
		buf_text(out, "incomplete: no end line\n");
	} else if (json_i64(l->value[KEY_LINES], &counted) && counted != lines) {
		buf_printf(out,
		           "incomplete: the end line counts %" PRId64
		           " lines, but the rollout has %" PRId64 "\n",
		           counted, lines);
	}
}

/* ---- lines ---- */

static void begin_rollout(struct table *t, const struct line *l, struct buf *out)
{
	buf_set(&t->rollout, l->rollout);
	if (l->type != LINE_HEADER) {
		text_escape_cut(out, l->rollout, 80);
		buf_text(out, " (continued)\n");
	}
}

void table_line(struct table *t, const struct evidence_update *u, struct buf *out)
{
	const struct line *l = u->derived.line;
	enum line_type type = l ? l->type : LINE_END;

	if (type != LINE_EVENT)
		end_events(t, out);
	if (l && !str_eq(l->rollout, buf_view(&t->rollout)))
		begin_rollout(t, l, out);
	switch (type) {
	case LINE_HEADER:
		close_row(t, u, out);
		print_rows(t, out);
		json_paths_free(t->ignored);
		t->ignored = changes_ignored(l);
		put_title(t, l, out);
		t->headed = t->timed_out = false;
		t->noise = 0;
		break;
	case LINE_STEP:
		close_row(t, u, out);
		add_row(t, l, out);
		t->timed_out = l->outcome == OUTCOME_TIMEOUT;
		break;
	case LINE_EVENT:
		event(t, l, out);
		break;
	case LINE_RESET:
		close_row(t, u, out);
		break;
	case LINE_END:
		close_row(t, u, out);
		print_rows(t, out);
		buf_text(&t->event, event_kind_name(EVENT_NOISE));
		put_omitted(t, t->noise, out);
		t->noise = 0;
		if (l)
			ending(t, l, out);
		if (t->live)
			put_revised(u->rollout, out);
		put_incomplete(l, u->rollout->lines, out);
		break;
	case LINE_TYPES:
	case LINE_UNKNOWN:
		break;
	}
}
