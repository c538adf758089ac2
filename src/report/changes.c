/* Ranks the differences of two states and formats them on one line: see changes.h. */
#include "report/changes.h"

#include "base/text.h"
#include "evidence/explain.h"
#include "json/diff.h"
#include "report/brief.h"

#define SHORT_BYTES   ((size_t)48) /* longer values are omitted */
#define DIGEST_DIGITS 16
#define WORD          (sizeof("changed") - 1)
#define VALUE_LEAST   ((size_t)8) /* the start of a value and its sign: fewer cells say nothing */

/* ---- ranks ---- */

static bool is_number_or_text(struct str value)
{
	enum json_type t = json_type(value);

	return t == JSON_NUMBER || t == JSON_STRING;
}

static int rank_of(const struct change *c, const struct json_difference *d)
{
	int rank = is_bookkeeping_name(d->pointer) ? 8 : 0; /* rarely informative */

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

/* "position 4 -> 8", "+inbox/2 {..}", "-inbox/2 {..}", "grid changed". name: the pointer, or its last
   tokens. */
static void spell(struct buf *out, const struct change *c, struct str name, bool values)
{
	bool both = c->before.p && c->after.p;

	values = values && !(both && c->whole);
	buf_clear(out);
	buf_text(out, both ? "" : c->before.p ? "-" : "+");
	buf_text(out, name.n < c->name.n ? "\u2026" : "");
	buf_str(out, name);
	buf_text(out, name.n && (both || (values && (c->before.n || c->after.n))) ? " " : "");
	if (both && !values)
		buf_text(out, "changed");
	if (values) {
		buf_str(out, c->before);
		buf_text(out, both ? " -> " : "");
		buf_str(out, c->after);
	}
}

/* The number of remaining differences: ", +3 more", or " +3" if there is little space. */
static size_t spell_more(struct buf *out, size_t left, bool brief)
{
	buf_clear(out);
	if (left)
		buf_printf(out, brief ? " +%zu" : ", +%zu more", left);
	return out->n;
}

size_t changes_want(const struct changes *c)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), rest = BUF(BUF_MAX_SMALL);

	if (!c->kept)
		return 0;
	spell(&text, &c->top[0], c->top[0].name, true);
	return text_cells(buf_view(&text)) + spell_more(&rest, c->count - 1, false);
}

/* Drops the first token of a pointer that has several. */
static bool drop_token(struct str *name)
{
	size_t at = find_at(*name, STR("/"));
	bool several = at < name->n;

	*name = str_skip(*name, several ? at + 1 : 0);
	return several;
}

/* As much of the first change as fits in so many cells: fewer tokens, or no values; the value of a member
   that was added or removed may be truncated. */
static size_t add_first(struct buf *out, const struct change *c, size_t columns)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	bool both = c->before.p && c->after.p;
	size_t cells = SIZE_MAX;

	for (int values = 1; values >= 0 && cells > columns; values--) {
		struct str name = c->name;

		do {
			spell(&text, c, name, values);
			cells = text_cells(buf_view(&text));
		} while (cells > columns && drop_token(&name));
		if (!values && !both && cells + VALUE_LEAST <= columns)
			spell(&text, c, name, true);
	}
	if (cells > columns && both)
		buf_set(&text, STR("changed"));
	return text_escape_cut(out, buf_view(&text), columns);
}

/* Adds further changes while they fit completely, and the number of those left. */
static size_t add_others(struct buf *out, const struct changes *c, size_t columns)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), more = BUF(BUF_MAX_SMALL);
	size_t cells = 0, shown = 1;

	for (; shown < c->kept; shown++) {
		spell(&text, &c->top[shown], c->top[shown].name, true);
		size_t wanted = strlen(", ") + text_cells(buf_view(&text));

		if (cells + wanted + spell_more(&more, c->count - shown - 1, false) > columns)
			break;
		buf_text(out, ", ");
		text_escape_cut(out, buf_view(&text), wanted);
		cells += wanted;
	}
	spell_more(&more, c->count - shown,
	           cells + spell_more(&more, c->count - shown, false) > columns);
	return cells + text_escape_cut(out, buf_view(&more), columns - cells);
}

size_t changes_add(struct buf *out, const struct changes *c, size_t columns)
{
	AUTO_BUF rest = BUF(BUF_MAX_SMALL);

	if (!c->kept)
		return text_escape_cut(out, STR("changed"), columns);
	size_t taken = spell_more(&rest, c->count - 1, changes_want(c) > columns);
	size_t cells =
		add_first(out, &c->top[0], columns >= taken + WORD ? columns - taken : columns);

	return cells + add_others(out, c, columns - cells);
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
	spell(&text, &c, c.name, true);
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
