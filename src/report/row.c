/* One step as a row of the table: see row.h. */
#include "report/row.h"

#include "base/text.h"
#include "report/brief.h"

#include <stdio.h>

/* ---- cells ---- */

static size_t cells_left(const struct cells *c)
{
	return c->used < c->columns ? c->columns - c->used : 0;
}

void cells_add(struct cells *c, struct str text, size_t width, const char *color)
{
	size_t left = cells_left(c);

	if (c->color && color)
		buf_printf(c->out, "\x1b[%sm", color);
	c->used += text_escape_cut(c->out, text, at_most(width, left));
	if (c->color && color)
		buf_text(c->out, "\x1b[0m");
}

void cells_pad(struct cells *c, size_t column)
{
	column = at_most(column, c->columns);
	if (column > c->used) {
		buf_printf(c->out, "%*s", (int)(column - c->used), "");
		c->used = column;
	}
}

void cells_right(struct cells *c, struct str text, size_t column)
{
	size_t width = text_cells(text);

	if (column > c->used + width)
		cells_pad(c, column - width);
	cells_add(c, text, column > c->used ? column - c->used : 0, NULL);
}

void cells_end(struct cells *c)
{
	while (c->out->n && c->out->p[c->out->n - 1] == ' ')
		buf_cut(c->out, c->out->n - 1);
	buf_char(c->out, '\n');
	c->used = 0;
}

#define CHANGE_MOST ((size_t)40) /* maximum width that one change may request */

/* ---- the widths of the columns ---- */

#define ONE_LINE      ((size_t)72) /* on a narrower terminal a row takes two lines */
#define CALL_LEAST    ((size_t)12)
#define CALL_SHOWN    ((size_t)22) /* a call no longer than this is never truncated */
#define OUTCOME_LEAST (sizeof("outcome") - 1)
#define STATE_LEAST   (sizeof("unchanged") - 1)
#define REPLY_LEAST   (sizeof("observation") - 1)

static struct layout in_two_lines(size_t columns)
{
	struct layout l = {.columns = columns, .two_lines = true};

	l.call = l.outcome = TURN_COLUMNS + GAP;
	l.reward = columns - REWARD_COLUMNS;
	l.call_end = l.reward - GAP;
	l.state = l.outcome + strlen("ok") + GAP;
	l.state_end = l.outcome + (columns - l.outcome) * 3 / 5;
	l.observation = l.state_end + GAP;
	return l;
}

/* The outcome gets the width it needs, the state up to a third of the rest. The call and the
   observation share the remainder; width that one does not need goes to the other. If even a short
   call would be truncated, a row takes two lines. */
struct layout layout_make(size_t columns, struct widths w)
{
	columns = at_least(columns, LEAST_COLUMNS);
	if (columns < ONE_LINE)
		return in_two_lines(columns);
	struct layout l = {.columns = columns};
	size_t outcome = at_least(w.outcome, OUTCOME_LEAST);
	size_t room = columns - TURN_COLUMNS - outcome - REWARD_COLUMNS - 5 * GAP;
	size_t state = at_most(at_least(w.state, STATE_LEAST), room / 3);
	size_t half = (room - state) / 2;
	size_t spare = w.observation < half ? half - w.observation : 0;
	size_t call = at_least(w.call, CALL_LEAST), shown = at_most(call, CALL_SHOWN);

	if (shown + REPLY_LEAST > room - state)
		return in_two_lines(columns);
	call = at_least(at_most(call, half + spare), shown);
	l.call = TURN_COLUMNS + GAP;
	l.call_end = l.call + call;
	l.outcome = l.call_end + GAP;
	l.state = l.outcome + outcome + GAP;
	l.state_end = l.state + state;
	l.reward = l.state_end + GAP;
	l.observation = l.reward + REWARD_COLUMNS + GAP;
	return l;
}

/* ---- rows ---- */

void row_init(struct row *r)
{
	*r = (struct row){.call = BUF(BUF_MAX_MESSAGE),
	                  .observation = BUF(BUF_MAX_MESSAGE),
	                  .events = BUF(BUF_MAX_MESSAGE)};
}

void row_release(struct row *r)
{
	changes_release(&r->changes);
	BUFS_RELEASE(&r->call, &r->observation, &r->events);
}

/* ---- from a line ---- */

/* The model's message, if it called nothing. */
static void set_said(struct row *r, const struct line *l)
{
	struct str message = {NULL, 0}, content;
	size_t cursor = 0;

	while (json_next(l->value[KEY_MESSAGES], &cursor, &message) &&
	       !json_is(JSON_GET(message, "role"), STR("assistant"))) {
	}
	content = JSON_GET(message, "content");
	if (json_is(JSON_GET(message, "role"), STR("assistant")) &&
	    json_type(content) == JSON_STRING && json_inner(content).n) {
		buf_text(&r->observation, "said: ");
		brief_text(&r->observation, content);
	}
}

void row_set(struct row *r, const struct line *step)
{
	struct str reward = line_has(step, KEY_REWARD) ? step->value[KEY_REWARD] : STR("-");
	struct str observation = step->value[KEY_OBSERVATION];

	r->turn = step->turn;
	r->outcome = step->outcome;
	r->sent = step->step >= 0;
	r->effect = EFFECT_UNKNOWN;
	r->changes.kept = r->changes.count = 0;
	snprintf(r->reward, sizeof(r->reward), "%.*s", STR_ARG(reward));
	buf_clear(&r->call);
	buf_clear(&r->observation);
	buf_clear(&r->events);
	brief_call(&r->call, step);
	if (line_has(step, KEY_TOOL_CALL))
		brief_text(&r->observation, json_is_null(observation)
		                                    ? JSON_GET(step->value[KEY_ERROR], "message")
		                                    : observation);
	else
		set_said(r, step);
}

/* ---- to a table ---- */

static void put_outcome(const struct row *r, struct cells *c)
{
	const char *color = r->outcome == OUTCOME_OK ? COLOR_GREEN : COLOR_RED;
	bool called = r->outcome != OUTCOME_NONE;

	cells_add(c, str_from(called ? outcome_name(r->outcome) : "-"), SIZE_MAX,
	          called ? color : NULL);
}

static void put_effect(const struct row *r, struct cells *c, size_t width)
{
	const char *color = r->effect == EFFECT_UNKNOWN ? COLOR_FAINT : COLOR_YELLOW;

	if (!r->sent) {
		cells_add(c, STR("-"), width, NULL);
	} else if (r->effect == EFFECT_CHANGED) {
		c->used += changes_add(c->out, &r->changes, at_most(width, cells_left(c)));
	} else if (r->changes.count && width > 2) {
		/* what changed is no known effect: counts, echoes */
		cells_add(c, STR("("), width, NULL);
		c->used += changes_add(c->out, &r->changes, at_most(width - 2, cells_left(c) - 1));
		cells_add(c, STR(")"), width, NULL);
	} else {
		cells_add(c, str_from(effect_name(r->effect)), width, color);
	}
}

/* An outcome wider than its column takes cells from the state's; "unchanged" may then extend into
   the space that the reward leaves free. */
static void put_result(const struct row *r, const struct layout *l, struct cells *c)
{
	size_t end = l->state_end;

	if (!l->two_lines && r->effect != EFFECT_CHANGED)
		end = l->observation - GAP - 1 - at_most(strlen(r->reward), REWARD_COLUMNS);
	cells_pad(c, l->outcome);
	put_outcome(r, c);
	cells_pad(c, at_least(l->state, c->used + GAP));
	put_effect(r, c, end > c->used ? end - c->used : 0);
}

static void put_reward(const struct row *r, const struct layout *l, struct cells *c)
{
	cells_pad(c, l->reward);
	cells_right(c, str_from(r->reward), l->reward + REWARD_COLUMNS);
}

void row_print(const struct row *r, const struct layout *l, struct style style, struct buf *out)
{
	struct cells c = {.out = out, .columns = l->columns, .color = style.color};
	char turn[24];

	snprintf(turn, sizeof(turn), "%lld", (long long)r->turn);
	cells_right(&c, str_from(turn), TURN_COLUMNS);
	cells_pad(&c, at_least(l->call, c.used + GAP));
	cells_add(&c, buf_view(&r->call), l->call_end > c.used ? l->call_end - c.used : 0, NULL);
	if (l->two_lines) {
		put_reward(r, l, &c);
		cells_end(&c);
		put_result(r, l, &c);
	} else {
		put_result(r, l, &c);
		put_reward(r, l, &c);
	}
	cells_pad(&c, at_least(l->observation, c.used + GAP));
	cells_add(&c, buf_view(&r->observation), cells_left(&c), NULL);
	cells_end(&c);
	buf_str(out, buf_view(&r->events));
}

void row_widths(const struct row *r, struct widths *w)
{
	size_t outcome = r->outcome == OUTCOME_NONE ? 1 : strlen(outcome_name(r->outcome));
	size_t effect = r->effect == EFFECT_CHANGED || r->changes.count
	                        ? at_most(changes_want(&r->changes), CHANGE_MOST)
	                        : strlen(effect_name(r->effect));

	w->call = at_least(w->call, text_cells(buf_view(&r->call)));
	w->outcome = at_least(w->outcome, outcome);
	w->state = at_least(w->state, effect);
	w->observation = at_least(w->observation, text_cells(buf_view(&r->observation)));
}

void row_print_heading(const struct layout *l, struct buf *out)
{
	const struct {
		struct str name;
		size_t column;
		bool right, ends; /* right: right-aligned; ends: last of its line */
	} names[] = {
		{STR_INIT("turn"), TURN_COLUMNS, true, false},
		{STR_INIT("call"), l->call, false, false},
		{STR_INIT("reward"), l->reward + REWARD_COLUMNS, true, true},
		{STR_INIT("outcome"), l->outcome, false, false},
		{STR_INIT("state"), l->state, false, false},
		{STR_INIT("observation"), l->observation, false, true},
	};
	static const size_t one_line[] = {0, 1, 3, 4, 2, 5}, two_lines[] = {0, 1, 2, 3, 4, 5};
	const size_t *order = l->two_lines ? two_lines : one_line;
	struct cells c = {.out = out, .columns = l->columns};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[order[i]].right) {
			cells_right(&c, names[order[i]].name, names[order[i]].column);
		} else {
			cells_pad(&c, at_least(names[order[i]].column, c.used ? c.used + GAP : 0));
			cells_add(&c, names[order[i]].name, SIZE_MAX, NULL);
		}
		if (names[order[i]].ends && (l->two_lines || i == ARRAY_LEN(names) - 1))
			cells_end(&c);
	}
}
