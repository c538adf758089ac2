/* A recording as a table, one row a step. */
#include "base/mem.h"
#include "base/text.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#define TURN_COLUMNS    5
#define OUTCOME_COLUMNS 15
#define EFFECT_COLUMNS  9
#define REWARD_COLUMNS  6
#define BETWEEN         2
/* The call and the observation share the rest; a narrow terminal has no room for the
   latter. */
#define FIXED_COLUMNS                                                                    \
	(TURN_COLUMNS + OUTCOME_COLUMNS + EFFECT_COLUMNS + REWARD_COLUMNS + 4 * BETWEEN)
#define CALL_LEAST   20
#define CALL_GOOD    28
#define SEEN_LEAST   18
#define EVENTS_SHOWN 3              /* of one name in a row */
#define SEEN_BYTES   ((size_t)1000) /* more than a terminal is wide */

struct table {
	struct style style;
	size_t call_columns, seen_columns;
	bool headed;           /* the heading of this rollout stands */
	struct buf rollout;    /* whose lines come now */
	struct buf call, seen; /* of the row that waits */
	struct buf hash;       /* its state's hash; empty: unknown */
	struct buf events;     /* what happened after it, to be shown below it */
	struct buf event;      /* name of the line before, if that was an event */
	uint64_t alike;        /* events of that name in a row */
	bool waiting;
	int64_t turn;
	enum outcome outcome;
	char reward[24];
};

static void share_columns(struct table *t)
{
	size_t columns = t->style.columns;
	size_t room = columns > FIXED_COLUMNS + CALL_LEAST ? columns - FIXED_COLUMNS
	                                                   : CALL_LEAST;

	t->call_columns = room;
	if (room >= CALL_GOOD + BETWEEN + SEEN_LEAST) {
		t->call_columns = room * 2 / 5 > CALL_GOOD ? room * 2 / 5 : CALL_GOOD;
		t->seen_columns = room - t->call_columns - BETWEEN;
	}
}

struct table *table_new(struct style style)
{
	struct table *t = mem_new(sizeof(*t));

	t->style = style;
	share_columns(t);
	t->rollout = t->hash = BUF(BUF_MAX_SMALL);
	t->call = t->seen = t->events = BUF(BUF_MAX_MESSAGE);
	t->event = BUF(BUF_MAX_SMALL);
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
	buf_release(&t->event);
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
	static const struct str blanks = STR_INIT("                                ");
	size_t start = out->n;

	text_escape_cut(out, text, columns);
	size_t width = width_of((struct str){out->p + start, out->n - start});
	size_t left = (width < columns ? columns - width : 0) + BETWEEN;
	for (size_t n; left; left -= n) {
		n = left < blanks.n ? left : blanks.n;
		buf_add(out, blanks.p, n);
	}
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
	buf_printf(out, "%*s  ", TURN_COLUMNS, "turn");
	cell(out, STR("call"), t->call_columns);
	cell(out, STR("outcome"), OUTCOME_COLUMNS);
	cell(out, STR("state"), EFFECT_COLUMNS);
	buf_printf(out, "%*s%s\n", REWARD_COLUMNS, "reward",
	           t->seen_columns ? "  observation" : "");
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
	if (!t->headed) {
		heading(t, out);
		t->headed = true;
	}
	buf_printf(out, "%*lld  ", TURN_COLUMNS, (long long)t->turn);
	cell(out, buf_view(&t->call), t->call_columns);
	colored(t, out, outcome_color, str_from(call ? outcome_name(t->outcome) : "-"),
	        OUTCOME_COLUMNS);
	colored(t, out, effect_color, str_from(effect), EFFECT_COLUMNS);
	buf_printf(out, "%*s", REWARD_COLUMNS, t->reward);
	if (t->seen_columns && t->seen.n) {
		buf_text(out, "  ");
		text_escape_cut(out, buf_view(&t->seen), t->seen_columns);
	}
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

/* Pretty-printed JSON, as calls are shown: no blanks outside of strings. */
static void add_folded(struct buf *out, struct str json)
{
	bool inside = false;

	for (size_t i = 0; i < json.n; i++) {
		inside ^= json.p[i] == '"';
		if (inside || json.p[i] != ' ') {
			buf_char(out, json.p[i]);
		}
		if (inside && json.p[i] == '\\' && i + 1 < json.n) {
			buf_char(out, json.p[++i]);
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
		add_folded(&t->seen,
		           (struct str){o.p, o.n < SEEN_BYTES ? o.n : SEEN_BYTES});
	}
}

/* What a model said instead of a call. */
static void keep_said(struct table *t, const struct line *l)
{
	struct str message = {NULL, 0}, content;
	size_t cursor = 0;

	json_next(l->value[KEY_MESSAGES], &cursor, &message);
	content = JSON_GET(message, "content");
	buf_clear(&t->seen);
	if (json_is(JSON_GET(message, "role"), STR("assistant")) &&
	    json_type(content) == JSON_STRING && json_inner(content).n) {
		buf_text(&t->seen, "said: ");
		json_decode(content, &t->seen);
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
	if (line_has(l, KEY_TOOL_CALL)) {
		keep_seen(t, l);
	} else {
		keep_said(t, l);
	}
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
	struct str era = JSON_GET(JSON_GET(l->value[KEY_META], "mcp"), "era");
	if (json_is(era, STR("modern"))) {
		put_pair(out, "era ", era); /* then there are no sessions to speak of */
	}
	if (!str_starts(l->rollout, json_inner(JSON_GET(env, "name")))) {
		put_pair(out, "", JSON_GET(env, "name")); /* else the id says it */
	}
	put_pair(out, "policy ", JSON_GET(policy, "name"));
	put_pair(out, "seed ", l->value[KEY_SEED]);
	put_pair(out, "state from ", JSON_GET(l->value[KEY_STATE_SOURCE], "kind"));
	buf_char(out, '\n');
	t->headed = false;
}

/* ": " and the string, decoded; nothing when there is none. */
static void put_sentence(struct buf *out, struct str string, size_t columns)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (json_type(string) == JSON_STRING && json_decode(string, &text) && text.n) {
		buf_text(out, ": ");
		text_escape_cut(out, buf_view(&text), columns);
	}
	buf_release(&text);
}

/* A server may chatter: how many lines were left out. */
static void end_events(struct table *t, struct buf *out)
{
	if (t->alike > EVENTS_SHOWN) {
		buf_printf(out, "%*s  ", TURN_COLUMNS, "!");
		text_escape_cut(out, buf_view(&t->event), 40);
		buf_printf(out, ": %" PRIu64 " more of these\n", t->alike - EVENTS_SHOWN);
	}
	t->alike = 0;
	buf_clear(&t->event);
}

static void event(struct table *t, const struct line *l, struct buf *out)
{
	struct str name = json_inner(l->value[KEY_EVENT]), detail = l->value[KEY_DETAIL];

	if (!str_eq(name, buf_view(&t->event))) {
		end_events(t, out);
		buf_str(&t->event, name);
	}
	if (++t->alike > EVENTS_SHOWN) {
		return;
	}
	size_t taken = TURN_COLUMNS + BETWEEN + 2 + name.n;
	size_t room = t->style.columns > taken + 40 ? t->style.columns - taken : 40;

	buf_printf(out, "%*s  ", TURN_COLUMNS, "!");
	text_escape_cut(out, name, 40);
	if (json_type(JSON_GET(detail, "why")) == JSON_STRING) {
		put_sentence(out, JSON_GET(detail, "why"), room);
	} else {
		buf_text(out, ": ");
		text_escape_cut(out, detail, room);
	}
	buf_char(out, '\n');
}

static void ending(const struct line *l, struct buf *out)
{
	text_escape_cut(out, json_inner(l->value[KEY_STATUS]), 20);
	put_sentence(out, l->value[KEY_REASON], 200);
	buf_char(out, '\n');
}

void table_line(struct table *t, const struct line *l, struct buf *out)
{
	bool other = !str_eq(l->rollout, buf_view(&t->rollout));

	if (other || l->type != LINE_EVENT) {
		end_events(t, t->waiting ? &t->events : out);
	}
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
	end_events(t, t->waiting ? &t->events : out);
	row(t, "unknown", out);
}
