/* One turn in full, as text: see report.h. */
#include "base/mem.h"
#include "base/text.h"
#include "report/changes.h"
#include "report/outline.h"

#include <stdlib.h>

#define CHANGES_LISTED 100

struct turn_view {
	int64_t turn;
	struct style style;
	struct json_paths *ignored; /* ignored in states */
	struct buf step;            /* the line of a step, until its effect is known */
	struct buf events;          /* the events after it, in full */
	bool found;
};

/* One step and its result. */
struct step_view {
	const struct line *line;
	enum effect effect;
	struct str after; /* absent: unknown */
	const struct json_paths *ignored;
};

static void put_title(const struct line *l, const char *what, struct style style, struct buf *out)
{
	style_begin(out, style, COLOR_BOLD);
	buf_printf(out, "turn %lld", (long long)l->turn);
	if (l->step >= 0)
		buf_printf(out, " · step %lld", (long long)l->step);
	buf_printf(out, "%s of rollout ", what);
	text_escape(out, l->rollout);
	style_end(out, style);
	buf_char(out, '\n');
}

static void put_call(const struct line *l, struct style style, struct buf *out)
{
	struct str arguments = line_arguments(l), id = JSON_GET(l->value[KEY_TOOL_CALL], "id");

	if (!line_has(l, KEY_TOOL_CALL)) {
		outline_text(out, "call", "none: the policy called no tool", style);
		return;
	}
	outline_add(out, "call", JSON_GET(l->value[KEY_TOOL_CALL], "name"), style);
	outline_add(out, "arguments", arguments, style);
	if (!json_is_null(id))
		outline_add(out, "call id", id, style);
}

/* "tool-error (class arguments, reported by layer mcp)", then the message. */
static void put_outcome(const struct line *l, struct style style, struct buf *out)
{
	struct str error = l->value[KEY_ERROR], class = JSON_GET(error, "class"),
		   layer = JSON_GET(error, "layer");
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	struct json_member m;

	if (l->outcome == OUTCOME_NONE)
		return;
	buf_text(&text, outcome_name(l->outcome));
	if (!json_is_null(error)) {
		buf_printf(&text, " (class %.*s, reported by layer %.*s)",
		           STR_ARG(json_is_null(class) ? STR("unknown") : json_inner(class)),
		           STR_ARG(json_is_null(layer) ? STR("unknown") : json_inner(layer)));
	}
	outline_text(out, "outcome", buf_cstr(&text), style);
	for (size_t cursor = 0; json_next_member(error, &cursor, &m);) {
		bool printed = str_is(m.key, "class") || str_is(m.key, "layer");

		if (!printed && !json_is_null(m.value)) {
			buf_clear(&text);
			buf_printf(&text, "error %.*s", STR_ARG(m.key));
			outline_add(out,
			            str_is(m.key, "message")     ? "error"
			            : str_is(m.key, "disagrees") ? "ok by layer"
			                                         : buf_cstr(&text),
			            m.value, style);
		}
	}
}

static void put_after(const struct step_view *s, struct style style, struct buf *out)
{
	if (s->line->step < 0)
		return; /* nothing was sent */
	if (json_is_null(s->after))
		outline_text(out, "state after", "unknown", style);
	else if (s->effect == EFFECT_UNCHANGED)
		outline_text(out, "state after", "unchanged", style);
	else
		outline_add(out, "state after", s->after, style);
	if (s->effect != EFFECT_UNCHANGED && !json_is_null(s->after) &&
	    line_has(s->line, KEY_STATE) && !json_equal(s->line->value[KEY_STATE], s->after)) {
		outline_text(out,
		             s->effect == EFFECT_CHANGED ? "changed" : "changed (no known effect)",
		             "", style);
		changes_list(out, s->line->value[KEY_STATE], s->after, s->ignored, CHANGES_LISTED);
	} else if (s->effect == EFFECT_UNKNOWN) {
		outline_text(out, "changed", "unknown", style);
	}
}

static void put_messages(const struct line *l, struct style style, struct buf *out)
{
	struct str message;

	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);) {
		buf_text(out, "message from ");
		report_message(message, style, out);
	}
}

/* The values of these keys, labeled with their names. */
static void put_keys(const struct line *l, const enum key *keys, size_t count, struct style style,
                     struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (l->value[keys[i]].p)
			outline_add(out, line_key_name(keys[i]), l->value[keys[i]], style);
}

/* In chronological order. */
static void put_step(const struct step_view *s, struct style style, struct buf *out)
{
	static const enum key answer[] = {
		KEY_OBSERVATION, KEY_STRUCTURED, KEY_RAW,       KEY_RAW_BASE64,
		KEY_REWARD,      KEY_TERMINATED, KEY_TRUNCATED, KEY_ENV_STEPS,
	};
	static const enum key rest[] = {KEY_LLM, KEY_META};

	put_title(s->line, "", style, out);
	if (line_has(s->line, KEY_STATE))
		outline_add(out, "state before", s->line->value[KEY_STATE], style);
	else
		outline_text(out, "state before", "unknown", style);
	put_call(s->line, style, out);
	put_outcome(s->line, style, out);
	put_keys(s->line, answer, ARRAY_LEN(answer), style, out);
	put_after(s, style, out);
	put_messages(s->line, style, out);
	put_keys(s->line, rest, ARRAY_LEN(rest), style, out);
}

static void put_event(const struct line *l, struct style style, struct buf *out)
{
	static const enum key keys[] = {KEY_EVENT, KEY_DETAIL, KEY_META};

	put_title(l, " · event", style, out);
	put_keys(l, keys, ARRAY_LEN(keys), style, out);
}

/* ---- from the lines of a rollout ---- */

struct turn_view *turn_view_new(int64_t turn, struct style style)
{
	struct turn_view *v = mem_new(sizeof(*v));

	v->turn = turn;
	v->style = style;
	v->step = v->events = BUF(BUF_MAX_MESSAGE);
	return v;
}

void turn_view_free(struct turn_view *v)
{
	if (!v)
		return;
	json_paths_free(v->ignored);
	BUFS_RELEASE(&v->step, &v->events);
	free(v);
}

bool turn_view_found(const struct turn_view *v)
{
	return v->found;
}

/* Prints the pending step; its effect is known or can no longer become known. */
static void close_step(struct turn_view *v, const struct evidence_update *u, struct buf *out)
{
	const struct line *next = u->derived.line;
	AUTO_BUF scratch = BUF(BUF_MAX_SMALL);
	struct line step;

	/* the line was parsed before */
	if (v->step.n && !line_parse(buf_view(&v->step), &scratch, &step, NULL, ERROR_IGNORED)) {
		struct step_view view = {
			.line = &step, .effect = EFFECT_UNKNOWN, .ignored = v->ignored};

		if (u->completed)
			view.effect = u->completed->effect;
		if (next && line_has(next, KEY_STATE))
			view.after = next->value[KEY_STATE];
		buf_text(out, out->n ? "\n" : "");
		put_step(&view, v->style, out);
		buf_str(out, buf_view(&v->events));
	}
	buf_clear(&v->step);
	buf_clear(&v->events);
}

void turn_view_line(struct turn_view *v, const struct evidence_update *u, struct buf *out)
{
	const struct line *l = u->derived.line;
	bool here = l && l->turn == v->turn;

	if (here && l->type == LINE_EVENT) {
		struct buf *where = v->step.n ? &v->events : out;

		buf_text(where, v->step.n || out->n ? "\n" : "");
		put_event(l, v->style, where);
		v->found = true;
	}
	if (l && l->type == LINE_EVENT)
		return;
	close_step(v, u, out);
	if (l && l->type == LINE_HEADER) {
		json_paths_free(v->ignored);
		v->ignored = changes_ignored(l);
	}
	if (here && l->type == LINE_STEP) {
		buf_str(&v->step, l->text);
		v->found = true;
	}
}
