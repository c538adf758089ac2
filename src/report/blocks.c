/* Recordings as text for line diffs: see blocks.h. */
#include "report/blocks.h"

#include "base/text.h"
#include "json/diff.h"
#include "report/outline.h"

/* Every member on a line of its own, whatever the width of the terminal is. */
static const struct style narrow = {.columns = 0};

/* Of the title, numbers that the next lines would differ in, and what follows from other values. */
static bool is_left_out(enum key k)
{
	static const enum key keys[] = {
		KEY_TYPE,       KEY_ROLLOUT,   KEY_FORMAT, KEY_VERSION, KEY_TURN,
		KEY_STEP,       KEY_ENV_STEPS, KEY_TURNS,  KEY_STEPS,   KEY_STATE,
		KEY_STATE_HASH, KEY_TOOL_CALL, KEY_LINES,  KEY_META,
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (k == keys[i])
			return true;
	return false;
}

static void put_title(const struct line *l, struct buf *out)
{
	buf_text(out, line_type_name(l->type));
	if (l->type == LINE_HEADER) {
		buf_text(out, " of rollout ");
		text_escape(out, l->rollout);
	} else if (line_has(l, KEY_TOOL_CALL)) {
		buf_char(out, ' ');
		text_escape(out, line_tool_name(l));
	}
	buf_char(out, '\n');
	if (line_has(l, KEY_TOOL_CALL))
		outline_add(out, "arguments", line_arguments(l), narrow);
}

static void put_values(const struct line *l, struct buf *out)
{
	size_t rows;
	const struct line_key *row = line_rows(l->type, &rows);

	for (const struct line_key *end = row + rows; row < end; row++) {
		struct str value = l->value[row->key];
		bool empty = json_is_null(value) || str_is(value, "[]") || str_is(value, "false");

		if (!empty && !is_left_out(row->key))
			outline_add(out, row->name, value, narrow);
	}
}

#define SHORT_BYTES ((size_t)60) /* a longer old value is not repeated */

static bool put_change(void *ctx, const struct json_difference *d)
{
	struct buf *out = ctx;
	bool old = d->before.p && d->before.n <= SHORT_BYTES && d->after.p;

	buf_text(out, "  ");
	text_escape(out, d->pointer);
	buf_text(out, !d->before.p ? " added " : !d->after.p ? " removed" : " ");
	text_escape(out, old ? d->before : STR_NONE);
	buf_text(out, d->before.p && d->after.p ? &" -> "[old ? 0 : 1] : "");
	text_escape_line(out, d->after);
	return true;
}

/* What changed belongs to the block before this line's. */
static void put_changes(const struct blocks *b, const struct line *l, struct buf *out)
{
	struct str now = l->value[KEY_STATE];

	if (!b->state.n || !now.p || json_equal(buf_view(&b->state), now))
		return;
	outline_text(out, "changed", json_is_null(now) ? "unknown" : "", narrow);
	if (!json_is_null(now))
		json_diff(buf_view(&b->state), now, NULL, put_change, out);
}

void blocks_line(struct blocks *b, const struct line *l, struct buf *out)
{
	b->rollout.max = b->state.max = SIZE_MAX / 2;
	if (l->type == LINE_HEADER || !str_eq(buf_view(&b->rollout), l->rollout)) {
		buf_clear(&b->rollout);
		buf_str(&b->rollout, l->rollout);
		buf_clear(&b->state);
	}
	put_changes(b, l, out);
	buf_text(out, b->any ? "\n" : "");
	b->any = true;
	put_title(l, out);
	put_values(l, out);
	if (!b->state.n && line_has(l, KEY_STATE))
		outline_add(out, "state", l->value[KEY_STATE], narrow);
	if (l->value[KEY_STATE].p) {
		buf_clear(&b->state);
		buf_str(&b->state,
		        json_is_null(l->value[KEY_STATE]) ? STR("") : l->value[KEY_STATE]);
	}
}

void blocks_release(struct blocks *b)
{
	buf_release(&b->rollout);
	buf_release(&b->state);
}
