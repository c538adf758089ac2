/* Ranks the differences of two states and formats them on one line: see changes.h. */
#include "report/changes.h"

#include "base/text.h"
#include "json/diff.h"
#include "report/brief.h"

#define SHORT_BYTES   ((size_t)48) /* longer values are omitted */
#define DIGEST_DIGITS 16
#define WORD          (sizeof("changed") - 1)
/* minimum width for showing the start of a value, including its sign */
#define VALUE_LEAST ((size_t)8)

/* ---- ranks ---- */

/* Names of members that change or end with every step: rarely informative. */
static bool is_bookkeeping(struct str name)
{
	static const char *const words[] = {
		"step",    "steps", "turn", "turns",     "move",    "moves",    "tick", "ticks",
		"time",    "clock", "now",  "timestamp", "elapsed", "count",    "seq",  "version",
		"updated", "hash",  "done", "id",        "uuid",    "metadata",
	};

	while (name.n) {
		size_t n = 0;

		while (n < name.n && name.p[n] != '_' && name.p[n] != '-' && name.p[n] != '/')
			n++;
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (str_is((struct str){name.p, n}, words[i]))
				return true;
		name = str_skip(name, n + 1);
	}
	return false;
}

static bool is_number_or_text(struct str value)
{
	enum json_type t = json_type(value);

	return t == JSON_NUMBER || t == JSON_STRING;
}

static int rank_of(const struct change *c, const struct json_difference *d)
{
	int rank = is_bookkeeping(c->name) ? 8 : 0;

	if (c->whole)
		return rank + 3;
	if (!d->before.p || !d->after.p)
		return rank + 2;
	return rank + !(is_number_or_text(d->before) && is_number_or_text(d->after));
}

/* ---- finding ---- */

static struct str keep_brief(struct changes *c, struct str value)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	struct str kept = {NULL, 0};

	if (value.p) {
		brief_value(&text, value);
		kept = arena_str(&c->arena, buf_view(&text));
	}
	return kept;
}

/* A long run of hex digits: its value is not informative. */
static bool is_digest(struct str value)
{
	size_t digits = 0;

	for (size_t i = 0; i < value.n; i++)
		digits += value.p[i] && strchr("0123456789abcdef", value.p[i]);
	return json_type(value) == JSON_STRING && digits >= DIGEST_DIGITS && digits + 4 > value.n;
}

static bool is_long(struct str value)
{
	enum json_type t = json_type(value);

	return t == JSON_OBJECT || t == JSON_ARRAY || value.n > SHORT_BYTES || is_digest(value);
}

static struct change change_of(const struct json_difference *d)
{
	struct change c = {.name = str_skip(d->pointer, 1)};

	c.whole = d->before.p && d->after.p && (is_long(d->before) || is_long(d->after));
	c.rank = rank_of(&c, d);
	return c;
}

static bool put_change(void *ctx, const struct json_difference *d)
{
	struct changes *c = ctx;
	struct change new = change_of(d);
	size_t at = c->kept;

	c->count++;
	while (at > 0 && c->top[at - 1].rank > new.rank)
		at--;
	if (at == CHANGES_KEPT)
		return true;
	new.name = arena_str(&c->arena, new.name);
	new.before = new.whole ? (struct str){"", 0} : keep_brief(c, d->before);
	new.after = new.whole ? (struct str){"", 0} : keep_brief(c, d->after);
	c->kept += c->kept < CHANGES_KEPT;
	for (size_t i = c->kept - 1; i > at; i--)
		c->top[i] = c->top[i - 1];
	c->top[at] = new;
	return true;
}

void changes_find(struct changes *c, struct str before, struct str after,
                  const struct json_paths *ignored)
{
	c->kept = c->count = 0;
	arena_reset(&c->arena);
	if (!json_is_null(before) && !json_is_null(after))
		json_diff(before, after, ignored, put_change, c);
}

void changes_release(struct changes *c)
{
	arena_release(&c->arena);
}

/* ---- saying ---- */

/* "position 4 -> 8", "+inbox/2 {..}", "-inbox/2 {..}", "grid changed". */
static void spell(struct buf *out, const struct change *c, struct str name)
{
	if (!c->before.p || !c->after.p) {
		struct str value = c->before.p ? c->before : c->after;

		buf_char(out, c->before.p ? '-' : '+');
		buf_str(out, name);
		buf_text(out, value.n ? " " : "");
		buf_str(out, value);
		return;
	}
	buf_str(out, name);
	buf_text(out, name.n ? " " : "");
	if (c->whole) {
		buf_text(out, "changed");
		return;
	}
	buf_str(out, c->before);
	buf_text(out, " -> ");
	buf_str(out, c->after);
}

static size_t cells_of(const struct change *c, struct str name)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	spell(&text, c, name);
	return text_cells(buf_view(&text));
}

static struct str last_token(struct str name)
{
	size_t n = name.n;

	while (n > 0 && name.p[n - 1] != '/')
		n--;
	return str_skip(name, n);
}

/* Shortens a pointer at its start, with an ellipsis, to leave room for the rest of the change;
   keeps at least its last token. */
static void shorten_name(struct buf *out, const struct change *c, size_t columns)
{
	struct str name = c->name, least = last_token(name);

	while (name.n > least.n && 1 + cells_of(c, name) > columns) {
		do {
			name = str_skip(name, 1);
		} while (name.n > least.n && ((unsigned char)name.p[0] & 0xc0) == 0x80);
	}
	buf_text(out, name.n < c->name.n ? "\u2026" : "");
	buf_str(out, name);
}

static bool is_added_or_removed(const struct change *c)
{
	return !c->before.p || !c->after.p;
}

/* Replaces the content of `out` by a shorter form. An added or removed value may be truncated or
   omitted. */
static void spell_within(struct buf *out, const struct change *c, size_t columns)
{
	struct change least = *c;
	AUTO_BUF name = BUF(BUF_MAX_SMALL);

	if (is_added_or_removed(c))
		*(c->before.p ? &least.before : &least.after) = STR("");
	shorten_name(&name, &least, columns);
	buf_clear(out);
	if (text_cells(buf_view(&name)) + VALUE_LEAST <= columns)
		least = *c;
	spell(out, &least, buf_view(&name));
}

/* As much as fits: the values, "NAME changed", or "changed" alone. */
static size_t add_first(struct buf *out, const struct change *c, size_t columns)
{
	struct change less = *c;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	spell_within(&text, c, columns);
	if (!is_added_or_removed(c) && text_cells(buf_view(&text)) > columns) {
		less.whole = true;
		spell_within(&text, &less, columns);
		if (text_cells(buf_view(&text)) > columns) {
			buf_clear(&text);
			buf_text(&text, "changed");
		}
	}
	return text_escape_cut(out, buf_view(&text), columns);
}

/* The number of remaining differences: ", +3 more", or " +3" if there is little space. */
static size_t spell_more(struct buf *out, size_t left, bool brief)
{
	buf_clear(out);
	if (left)
		buf_printf(out, brief ? " +%zu" : ", +%zu more", left);
	return out->n;
}

/* Adds further changes while they fit completely. */
static size_t add_others(struct buf *out, const struct changes *c, size_t columns, size_t *shown)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	size_t cells = 0;

	for (; *shown < c->kept; ++*shown) {
		const struct change *next = &c->top[*shown];
		size_t wanted = 2 + cells_of(next, next->name);

		if (cells + wanted + spell_more(&text, c->count - *shown - 1, false) > columns)
			break;
		buf_clear(&text);
		buf_text(&text, ", ");
		spell(&text, next, next->name);
		cells += text_escape_cut(out, buf_view(&text), wanted);
	}
	return cells;
}

size_t changes_want(const struct changes *c)
{
	AUTO_BUF rest = BUF(BUF_MAX_SMALL);
	size_t more = c->kept ? spell_more(&rest, c->count - 1, false) : 0;

	return c->kept ? cells_of(&c->top[0], c->top[0].name) + more : 0;
}

size_t changes_add(struct buf *out, const struct changes *c, size_t columns)
{
	AUTO_BUF rest = BUF(BUF_MAX_SMALL);
	size_t shown = 1;

	if (!c->kept)
		return text_escape_cut(out, STR("changed"), columns);
	size_t first = cells_of(&c->top[0], c->top[0].name);
	bool brief = first + spell_more(&rest, c->count - 1, false) > columns;
	size_t taken = spell_more(&rest, c->count - 1, brief);
	size_t cells =
		add_first(out, &c->top[0], columns >= taken + WORD ? columns - taken : columns);

	if (!brief)
		cells += add_others(out, c, columns - cells, &shown);
	spell_more(&rest, c->count - shown, brief);
	cells += text_escape_cut(out, buf_view(&rest), columns - cells);
	return cells;
}

/* ---- a line each ---- */

struct change_list {
	struct buf *out;
	size_t left, count;
};

static bool list(void *ctx, const struct json_difference *d)
{
	struct change_list *l = ctx;
	struct change c = change_of(d);
	AUTO_BUF before = BUF(BUF_MAX_SMALL), after = BUF(BUF_MAX_SMALL),
		 text = BUF(BUF_MAX_MESSAGE);

	if (l->count++ >= l->left)
		return true;
	if (d->before.p) {
		brief_value(&before, d->before);
		c.before = buf_view(&before);
	}
	if (d->after.p) {
		brief_value(&after, d->after);
		c.after = buf_view(&after);
	}
	spell(&text, &c, c.name);
	buf_text(l->out, "  ");
	text_escape_line(l->out, buf_view(&text));
	return true;
}

void changes_list(struct buf *out, struct str before, struct str after,
                  const struct json_paths *ignored, size_t most)
{
	struct change_list l = {.out = out, .left = most};

	json_diff(before, after, ignored, list, &l);
	if (l.count > most)
		buf_printf(out, "  +%zu more\n", l.count - most);
}

struct json_paths *changes_ignored(const struct line *header)
{
	struct str ignored = JSON_GET(header->value[KEY_STATE_SOURCE], "ignore"), one;
	struct json_paths *paths = json_paths_new(false);
	AUTO_BUF pointer = BUF(BUF_MAX_SMALL);

	for (size_t cursor = 0; json_next(ignored, &cursor, &one);) {
		buf_clear(&pointer);
		json_decode(one, &pointer);
		/* invalid pointers are reported by the judge */
		(void)!json_paths_add(paths, buf_view(&pointer), ERROR_IGNORED);
	}
	return paths;
}
