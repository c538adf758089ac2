/* Values printed one member per line: see outline.h. */
#include "report/outline.h"

#include "base/text.h"
#include "report/brief.h"

#define INDENT ((size_t)2)
#define NAMES  ((size_t)14) /* width of a label and the spaces after it */
#define LEVELS 8            /* deeper values are printed on one line */

struct outline_level {
	struct str container;
	size_t cursor, index;
};

/* A string's text line by line, indented. */
static void outline_lines(struct buf *out, struct str string, size_t indent)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), marked = BUF(BUF_MAX_MESSAGE);
	struct str rest;

	json_decode(string, &text);
	marks_add(&marked, buf_view(&text));
	rest = buf_view(&marked);
	do {
		struct str line = str_cut(&rest, '\n');

		buf_printf(out, "%*s", line.n ? (int)indent : 0, "");
		text_escape_line(out, line);
	} while (rest.n);
}

/* True if it fits on the label's line. */
static bool is_short(struct str value, size_t room)
{
	bool lines = find_in(value, STR("\\n")) || find_in(value, STR("\\u001b"));

	if (json_type(value) == JSON_STRING)
		return !lines;
	return json_count(value) == 0 || (value.n <= room && !lines);
}

static void add_label(struct buf *out, struct str label, size_t indent, bool bold)
{
	size_t cells = text_cells(label) + indent;

	buf_printf(out, "%*s%s", (int)indent, "", bold ? "\x1b[1m" : "");
	text_escape(out, label);
	buf_text(out, bold ? "\x1b[0m" : "");
	buf_printf(out, "%*s", cells + 2 < NAMES ? (int)(NAMES - cells) : 2, "");
}

static void end_label(struct buf *out)
{
	while (out->n && out->p[out->n - 1] == ' ')
		buf_cut(out, out->n - 1);
	buf_char(out, '\n');
}

/* Adds a value after its label; returns true if its members have to follow. */
static bool add_value(struct buf *out, struct str value, size_t depth, size_t columns)
{
	enum json_type type = json_type(value);
	size_t indent = depth * INDENT;
	bool container = type == JSON_OBJECT || type == JSON_ARRAY;
	AUTO_ARENA arena = {.last = NULL};

	if (container)
		value = json_compact(&arena, value);
	if (!container && !is_short(value, 0)) {
		end_label(out);
		outline_lines(out, value, indent + INDENT);
		return false;
	}
	if (container && depth < LEVELS &&
	    !is_short(value, columns > NAMES + indent ? columns - NAMES - indent : 0)) {
		end_label(out);
		return true;
	}
	text_escape_line(out, value.p ? value : STR("null"));
	return false;
}

/* Reads the next member or element of a container, and its name. */
static bool next(struct outline_level *l, struct buf *name, struct str *value)
{
	struct json_member m;

	buf_clear(name);
	if (json_type(l->container) == JSON_ARRAY) {
		buf_printf(name, "[%zu]", l->index++);
		return json_next(l->container, &l->cursor, value);
	}
	if (!json_next_member(l->container, &l->cursor, &m))
		return false;
	buf_str(name, m.key);
	*value = m.value;
	return true;
}

static void add_tree(struct buf *out, struct str value, size_t depth, size_t columns)
{
	struct outline_level levels[LEVELS + 1];
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);
	size_t open = 0;

	if (add_value(out, value, depth, columns))
		levels[open++] = (struct outline_level){.container = value};
	while (open) {
		size_t below = depth + open;

		if (!next(&levels[open - 1], &name, &value)) {
			open--;
			continue;
		}
		add_label(out, buf_view(&name), below * INDENT, false);
		if (add_value(out, value, below, columns))
			levels[open++] = (struct outline_level){.container = value};
	}
}

void outline_add(struct buf *out, const char *label, struct str value, struct style style)
{
	add_label(out, str_from(label), 0, style.color);
	add_tree(out, value, 0, style.columns);
}

void outline_text(struct buf *out, const char *label, const char *text, struct style style)
{
	add_label(out, str_from(label), 0, style.color);
	text_escape(out, str_from(text));
	end_label(out);
}

/* ---- a message of a conversation with a model ---- */

bool prompt_next(const struct line *l, int64_t turn, size_t *cursor, struct str *message)
{
	bool own = l->type == LINE_STEP && l->turn == turn;
	bool before = l->type == LINE_RESET || (l->type == LINE_STEP && l->turn < turn);

	return (own || before) && json_next(l->value[KEY_MESSAGES], cursor, message) &&
	       (before || !json_is(JSON_GET(*message, "role"), STR("assistant")));
}

void report_message(struct str message, struct style style, struct buf *out)
{
	struct json_member m;

	style_begin(out, style, COLOR_BOLD);
	text_escape(out, json_inner(JSON_GET(message, "role")));
	style_end(out, style);
	buf_char(out, '\n');
	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		if (str_is(m.key, "role"))
			continue;
		if (str_is(m.key, "content") && json_type(m.value) == JSON_STRING) {
			outline_lines(out, m.value, 4);
			continue;
		}
		add_label(out, m.key, INDENT, false);
		add_tree(out, m.value, 1, style.columns);
	}
}
