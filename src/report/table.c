/* A recording as a table, one row a step. */
#include "base/mem.h"
#include "base/text.h"
#include "report/report.h"

#include <stdlib.h>

#define CALL_COLUMNS    36
#define OUTCOME_COLUMNS 15
#define EFFECT_COLUMNS  9
#define REWARD_COLUMNS  7

struct table {
	struct style style;
	struct buf rollout;    /* whose lines come now */
	struct buf call, seen; /* of the row that waits */
	struct buf hash;       /* its state's hash; empty: unknown */
	struct buf events;     /* what happened after it, to be shown below it */
	bool waiting;
	int64_t turn;
	enum outcome outcome;
	char reward[24];
};

struct table *table_new(struct style style)
{
	struct table *t = mem_new(sizeof(*t));

	t->style = style;
	t->rollout = t->hash = BUF(BUF_MAX_SMALL);
	t->call = t->seen = t->events = BUF(BUF_MAX_MESSAGE);
	return t;
}

void table_free(struct table *t)
{
	if (!t) {
		return;
	}
	buf_release(&t->rollout);
	buf_release(&t->call);
	buf_release(&t->seen);
	buf_release(&t->hash);
	buf_release(&t->events);
	free(t);
}

/* ---- cells ---- */

/* Characters shown, for padding: continuation bytes take no column. */
static size_t width_of(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	}
	return n;
}

static void cell(struct buf *out, struct str text, size_t columns)
{
	size_t start = out->n;

	text_escape_cut(out, text, columns);
	for (size_t n = width_of((struct str){out->p + start, out->n - start});
	     n < columns; n++) {
		buf_char(out, ' ');
	}
	buf_text(out, "  ");
}

static void colored(const struct table *t, struct buf *out, const char *color,
                    struct str text, size_t columns)
{
	if (t->style.color && color) {
		buf_printf(out, "\x1b[%sm", color);
	}
	cell(out, text, columns);
	if (t->style.color && color) {
		buf_text(out, "\x1b[0m");
	}
}

/* ---- rows ---- */

static void heading(const struct table *t, struct buf *out)
{
	buf_printf(out, "%6s  ", "turn");
	cell(out, STR("call"), CALL_COLUMNS);
	cell(out, STR("outcome"), OUTCOME_COLUMNS);
	cell(out, STR("state"), EFFECT_COLUMNS);
	buf_printf(out, "%*s  %s\n", REWARD_COLUMNS, "reward", "observation");
	(void)t;
}

static size_t rest_of_line(const struct table *t)
{
	size_t taken = 6 + 2 + CALL_COLUMNS + 2 + OUTCOME_COLUMNS + 2 + EFFECT_COLUMNS +
	               2 + REWARD_COLUMNS + 2;

	return t->style.columns > taken + 20 ? t->style.columns - taken : 20;
}

static void row(struct table *t, const char *effect, struct buf *out)
{
	bool call = t->outcome != OUTCOME_NONE;
	const char *outcome_color = !call ? NULL : t->outcome == OUTCOME_OK ? "32" : "31";
	const char *effect_color = !strcmp(effect, "unchanged") ? "33" : NULL;

	if (!t->waiting) {
		return;
	}
	t->waiting = false;
	buf_printf(out, "%6lld  ", (long long)t->turn);
	cell(out, buf_view(&t->call), CALL_COLUMNS);
	colored(t, out, outcome_color, str_from(call ? outcome_name(t->outcome) : "-"),
	        OUTCOME_COLUMNS);
	colored(t, out, effect_color, str_from(effect), EFFECT_COLUMNS);
	buf_printf(out, "%*s  ", REWARD_COLUMNS, t->reward);
	text_escape_cut(out, buf_view(&t->seen), rest_of_line(t));
	buf_char(out, '\n');
	buf_str(out, buf_view(&t->events));
	buf_clear(&t->events);
}

static const char *effect_seen(const struct table *t, struct str hash)
{
	if (!t->hash.n || !hash.n) {
		return "unknown";
	}
	return str_eq(hash, buf_view(&t->hash)) ? "unchanged" : "changed";
}

/* Pretty-printed JSON on one line: runs of blanks are one. */
static void add_folded(struct buf *out, struct str json)
{
	for (size_t i = 0; i < json.n; i++) {
		if (json.p[i] != ' ' || (i + 1 < json.n && json.p[i + 1] != ' ')) {
			buf_char(out, json.p[i]);
		}
	}
}

/* What the policy got to see: the observation, or the error when there is none. */
static void keep_seen(struct table *t, const struct line *l)
{
	struct str o = l->value[KEY_OBSERVATION];
	struct str message = JSON_GET(l->value[KEY_ERROR], "message");

	buf_clear(&t->seen);
	if (json_is_null(o)) {
		o = message;
	}
	if (json_type(o) == JSON_STRING) {
		json_decode(o, &t->seen);
	} else {
		add_folded(&t->seen, (struct str){o.p, o.n < 1000 ? o.n : 1000});
	}
}

static void keep_step(struct table *t, const struct line *l)
{
	struct str reward = l->value[KEY_REWARD];

	t->waiting = true;
	t->turn = l->turn;
	t->outcome = l->outcome;
	buf_clear(&t->call);
	buf_str(&t->call,
	        line_has(l, KEY_TOOL_CALL) ? line_tool_name(l) : STR("(no call)"));
	buf_char(&t->call, ' ');
	buf_str(&t->call, line_arguments(l));
	buf_clear(&t->hash);
	buf_str(&t->hash, line_state_hash(l));
	size_t n = line_has(l, KEY_REWARD) && reward.n < sizeof(t->reward) ? reward.n : 0;
	memcpy(t->reward, n ? reward.p : "-", n ? n : 1);
	t->reward[n ? n : 1] = '\0';
	keep_seen(t, l);
}

static void put_pair(struct buf *out, const char *name, struct str value)
{
	if (json_is_null(value)) {
		return;
	}
	buf_printf(out, " · %s", name);
	text_escape_cut(out, json_type(value) == JSON_STRING ? json_inner(value) : value,
	                60);
}

static void title(struct table *t, const struct line *l, struct buf *out)
{
	struct str env = l->value[KEY_ENV], policy = l->value[KEY_POLICY];

	text_escape_cut(out, l->rollout, 80);
	put_pair(out, "", JSON_GET(env, "protocol"));
	put_pair(out, "", JSON_GET(env, "name"));
	put_pair(out, "policy ", JSON_GET(policy, "name"));
	put_pair(out, "seed ", l->value[KEY_SEED]);
	put_pair(out, "state from ", JSON_GET(l->value[KEY_STATE_SOURCE], "kind"));
	buf_char(out, '\n');
	heading(t, out);
}

static void event(const struct table *t, const struct line *l, struct buf *out)
{
	buf_printf(out, "%6s  ", "!");
	text_escape_cut(out, json_inner(l->value[KEY_EVENT]), 40);
	buf_char(out, ' ');
	text_escape_cut(out, l->value[KEY_DETAIL],
	                t->style.columns > 60 ? t->style.columns - 40 : 40);
	buf_char(out, '\n');
}

static void ending(const struct line *l, struct buf *out)
{
	struct str reason = l->value[KEY_REASON];

	text_escape_cut(out, json_inner(l->value[KEY_STATUS]), 20);
	if (json_type(reason) == JSON_STRING && json_inner(reason).n) {
		buf_text(out, ": ");
		struct buf text = BUF(BUF_MAX_MESSAGE);
		json_decode(reason, &text);
		text_escape_cut(out, buf_view(&text), 200);
		buf_release(&text);
	}
	buf_char(out, '\n');
}

void table_line(struct table *t, const struct line *l, struct buf *out)
{
	bool other = !str_eq(l->rollout, buf_view(&t->rollout));

	if (other) {
		row(t, "unknown", out);
		buf_clear(&t->rollout);
		buf_str(&t->rollout, l->rollout);
		if (l->type != LINE_HEADER) {
			text_escape_cut(out, l->rollout, 80);
			buf_text(out, " (continued)\n");
		}
	}
	switch (l->type) {
	case LINE_HEADER:
		title(t, l, out);
		break;
	case LINE_STEP:
		row(t, effect_seen(t, line_state_hash(l)), out);
		keep_step(t, l);
		break;
	case LINE_EVENT:
		event(t, l, t->waiting ? &t->events : out);
		break;
	case LINE_END:
		row(t, effect_seen(t, line_state_hash(l)), out);
		ending(l, out);
		break;
	case LINE_RESET:
	case LINE_TYPES:
	case LINE_UNKNOWN:
		break;
	}
}

void table_finish(struct table *t, struct buf *out)
{
	row(t, "unknown", out);
}
