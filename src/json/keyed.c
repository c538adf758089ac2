/* Reads objects by a table of their keys: see keyed.h. */
#include "json/keyed.h"

#include "base/names.h"
#include "base/text.h"
#include "json/lex.h"

#include <stdio.h>

#define SHOWN 60 /* maximum columns of a value in a message */

/* ---- errors ---- */

static void place_of(const struct keyed *k, const char *at, size_t *line, size_t *column)
{
	*line = k->line ? k->line : 1;
	*column = 1;
	for (const char *p = k->text.p; p < at && p < k->text.p + k->text.n; p++) {
		*column = *p == '\n' ? 1 : *column + 1;
		*line += *p == '\n';
	}
}

size_t keyed_line(const struct keyed *k)
{
	size_t line, column;

	place_of(k, k->value.p, &line, &column);
	return line;
}

int keyed_fail(struct keyed *k, const char *fmt, ...)
{
	char what[sizeof(k->err->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return error_set(k->err, FAIL_INPUT, "%s%s:%zu: %s%s%s", k->what, k->name, keyed_line(k),
	                 k->place, *k->place ? ": " : "", what);
}

int keyed_expected(struct keyed *k, const char *wanted)
{
	AUTO_BUF got = BUF(BUF_MAX_SMALL);
	enum json_type type = json_type(k->value);

	if (type == JSON_OBJECT || type == JSON_ARRAY) {
		buf_printf(&got, ", not %s", json_type_phrase(type));
	} else if (k->value.p) {
		buf_text(&got, ", not ");
		text_escape_cut(&got, k->value, SHOWN);
	}
	return keyed_fail(k, "\"%s\" must be %s%s", k->key, wanted, buf_cstr(&got));
}

static int unknown_key(struct keyed *k, struct str key, const struct keyed_table *t)
{
	const char *names[KEYED_ROWS_MAX];

	for (size_t i = 0; i < t->count; i++)
		names[i] = t->rows[i].key;
	keyed_fail(k, "unknown key \"%.*s\"", STR_ARG(text_utf8_cut(key, SHOWN)));
	return names_suggest(k->err, key, names, t->count);
}

int keyed_fail_at(struct keyed *k, size_t at, const char *why)
{
	size_t line, column;

	place_of(k, k->text.p + at, &line, &column);
	return error_set(k->err, FAIL_INPUT, "%s%s:%zu:%zu: %s", k->what, k->name, line, column,
	                 why);
}

int keyed_parse(struct keyed *k)
{
	struct json_fault fault;

	return json_validate(k->text, &fault) == 0 ? 0 : keyed_fail_at(k, fault.at, fault.why);
}

/* ---- values ---- */

static int take_chars(struct keyed *k, bool empty, const char **to)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	int failed = 0;

	if (!json_decode(k->value, &text) || memchr(buf_cstr(&text), 0, text.n))
		failed = keyed_expected(k, "a string without a NUL or lone surrogate");
	else if (!text.n && !empty)
		failed = keyed_expected(k, "a non-empty string");
	else
		*to = arena_str(k->arena, (struct str){buf_cstr(&text), text.n}).p;
	return failed;
}

int keyed_name(struct keyed *k, const char **to)
{
	return json_type(k->value) == JSON_STRING ? take_chars(k, false, to)
	                                          : keyed_expected(k, "a string");
}

static int take_choice(struct keyed *k, const char *const *words, int *to)
{
	struct str word = json_text(k->arena, k->value);
	size_t count = 0;

	for (; words[count]; count++) {
		if (str_is(word, words[count])) {
			*to = (int)count;
			return 0;
		}
	}
	keyed_fail(k, "\"%s\" does not accept \"%.*s\"", k->key,
	           STR_ARG(text_utf8_cut(word, SHOWN)));
	return names_suggest(k->err, word, words, count);
}

static int take_number(struct keyed *k, struct keyed_number *to)
{
	to->given = json_i64(k->value, &to->value) && to->value >= 0;
	return to->given ? 0 : keyed_expected(k, "a non-negative integer");
}

/* NOLINTBEGIN(misc-no-recursion): no deeper than tables are nested in each other */

static int take_inner(struct keyed *k, const struct keyed_row *row, void *to)
{
	char around[sizeof(k->place)];
	int n = snprintf(around, sizeof(around), "%s", k->place);

	snprintf(k->place + n, sizeof(k->place) - (size_t)n, "%s%s", n ? "." : "", row->key);
	int failed = keyed_read(k, k->value, row->inner, to);
	memcpy(k->place, around, sizeof(around));
	return failed;
}

/* The expected type of a string row, for messages; NULL if the row takes any type, or another
   one. */
static const char *wanted_of(enum keyed_type type, enum json_type *json)
{
	*json = JSON_STRING;
	switch (type) {
	case KEYED_IGNORED:
	case KEYED_STRING:
	case KEYED_TEXT:
	case KEYED_WORDS:
	case KEYED_NAME:
	case KEYED_CHOICE:
		return "a string";
	case KEYED_DURATION:
		return "a duration with a unit, such as \"500ms\" or \"5m\", of at most 1000h";
	case KEYED_SIZE:
		return "a size with a unit, such as \"25MiB\"";
	case KEYED_ARRAY:
		*json = JSON_ARRAY;
		return "an array";
	case KEYED_OBJECT:
	case KEYED_INNER:
		*json = JSON_OBJECT;
		return "an object";
	case KEYED_ANY:
	case KEYED_COUNT:
	case KEYED_SET:
	case KEYED_BY:
		break;
	}
	return NULL;
}

static int take_value(struct keyed *k, const struct keyed_row *row, void *object)
{
	void *to = (char *)object + row->at;
	enum json_type type;
	const char *wanted = wanted_of(row->type, &type);

	if (row->type != KEYED_ANY && json_is_null(k->value))
		return 0;
	if (wanted && json_type(k->value) != type)
		return keyed_expected(k, wanted);
	switch (row->type) {
	case KEYED_IGNORED:
		return 0;
	case KEYED_ANY:
	case KEYED_STRING:
	case KEYED_ARRAY:
	case KEYED_OBJECT:
		*(struct str *)to = json_compact(k->arena, k->value);
		return 0;
	case KEYED_TEXT:
		*(struct str *)to = json_text(k->arena, k->value);
		return 0;
	case KEYED_WORDS:
	case KEYED_NAME:
		return take_chars(k, row->type == KEYED_WORDS, to);
	case KEYED_CHOICE:
		return take_choice(k, row->words, to);
	case KEYED_COUNT:
		return take_number(k, to);
	case KEYED_SET:
		return json_bool(k->value, to) ? 0 : keyed_expected(k, "true or false");
	case KEYED_DURATION:
		return text_duration_ms(json_text(k->arena, k->value), to)
		               ? 0
		               : keyed_expected(k, wanted);
	case KEYED_SIZE:
		return text_size(json_text(k->arena, k->value), to) ? 0 : keyed_expected(k, wanted);
	case KEYED_INNER:
		return take_inner(k, row, to);
	case KEYED_BY:
		break;
	}
	return row->read(k, k->value, object);
}

/* ---- objects ---- */

static int take_member(struct keyed *k, const struct json_member *m, const struct keyed_table *t,
                       uint32_t *seen, void *to)
{
	size_t i = 0;

	while (i < t->count && !json_key_is(m->key, str_from(t->rows[i].key)))
		i++;
	k->value = m->value;
	if (i == t->count)
		return unknown_key(k, m->key, t);
	k->key = t->rows[i].key;
	if (*seen & (uint32_t)1 << i)
		return keyed_fail(k, "duplicate key \"%s\"", k->key);
	*seen |= (uint32_t)(m->type != JSON_NULL) << i;
	return take_value(k, &t->rows[i], to);
}

int keyed_is_object(struct keyed *k, struct str value)
{
	k->value = value;
	return json_type(value) == JSON_OBJECT ? 0
	                                       : keyed_fail(k, "must be an object, not %s",
	                                                    json_type_phrase(json_type(value)));
}

int keyed_read(struct keyed *k, struct str object, const struct keyed_table *t, void *to)
{
	struct json_member m;
	uint32_t seen = 0;

	if (keyed_is_object(k, object))
		return -1;
	for (size_t cursor = 0; json_next_member(object, &cursor, &m);)
		if (take_member(k, &m, t, &seen, to))
			return -1;
	k->value = object;
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].required && !(seen >> i & 1))
			return keyed_fail(k, "\"%s\" is missing", t->rows[i].key);
	return 0;
}
/* NOLINTEND(misc-no-recursion) */
