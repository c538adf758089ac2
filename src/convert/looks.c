/* Guesses the type of files that are not recordings: see looks.h. */
#include "convert/looks.h"

#include "convert/convert.h"
#include "trajectory/line.h"

#include <string.h>

struct look {
	const char *what;
	bool (*is)(struct str begin);
};

static bool starts_with_mark(struct str s, const char *const *marks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (str_starts(s, str_from(marks[i]))) {
			return true;
		}
	}
	return false;
}

static bool is_sqlite(struct str s)
{
	return str_starts(s, STR("SQLite format 3"));
}

static bool is_parquet(struct str s)
{
	return str_starts(s, STR("PAR1"));
}

static bool is_html(struct str s)
{
	static const char *const marks[] = {"<!DOCTYPE", "<!doctype", "<html", "<HTML"};

	return starts_with_mark(s, marks, ARRAY_LEN(marks));
}

static bool is_xml(struct str s)
{
	return str_starts(s, STR("<?xml"));
}

static bool is_yaml(struct str s)
{
	const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	size_t key = colon ? (size_t)(colon - s.p) : 0;

	if (str_starts(s, STR("---")) || str_starts(s, STR("%YAML"))) {
		return true;
	}
	for (size_t i = 0; i < key; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz_-ABCDEFGHIJKLMNOPQRSTUVWXYZ", s.p[i])) {
			return false;
		}
	}
	return key && (key + 1 == s.n || s.p[key + 1] == ' ');
}

/* True if the first line has three or more names separated by commas. */
static bool is_csv(struct str s)
{
	size_t commas = 0;

	for (size_t i = 0; i < s.n; i++) {
		commas += s.p[i] == ',';
		if (strchr("{}[]()", s.p[i])) {
			return false;
		}
	}
	return commas >= 2;
}

static bool is_python(struct str s)
{
	return str_starts(s, STR("{'")) || str_starts(s, STR("[{'"));
}

static bool is_json(struct str s)
{
	struct json_fault fault;
	size_t used;

	return json_validate_first(s, &used, &fault) == 0;
}

static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t' && s.p[i] != '\r') {
			return false;
		}
	}
	return s.n && s.p[0] != '{' && s.p[0] != '[';
}

/* A damaged line of JSON is not: it begins with a bracket or brace. */
static bool is_binary(struct str s)
{
	return s.n && s.p[0] != '{' && s.p[0] != '[' && !is_text(s);
}

static const struct look looks[] = {
	{"looks like an SQLite database", is_sqlite},
	{"looks like Parquet: write its rows as JSON Lines first", is_parquet},
	{"looks like HTML", is_html},
	{"looks like XML", is_xml},
	{"looks like text that Python printed, not JSON", is_python},
	{"is JSON, but of no known format", is_json},
	{"looks like YAML", is_yaml},
	{"looks like CSV", is_csv},
	{"looks like text", is_text},
	{"looks like binary data", is_binary},
};

/* True if it is a line of a recording, possibly damaged. */
static bool is_ours(struct str begin)
{
	if (!begin.n || begin.p[0] == '\0') {
		return true;
	}
	if (!is_json(begin)) {
		return str_starts(begin, STR("{\"type\":"));
	}
	for (enum line_type t = 0; t < LINE_TYPES; t++) {
		if (json_is(JSON_GET(begin, "type"), str_from(line_type_name(t)))) {
			return true;
		}
	}
	return JSON_GET(begin, "rollout").p;
}

bool looks_describe(struct str begin, struct error *err)
{
	struct buf list = BUF(BUF_MAX_SMALL);
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(looks) && !found && !is_ours(begin); i++) {
		found = looks[i].is(begin);
		if (found) {
			formats_list(&list, false);
			error_set(err, FAIL_INPUT,
			          "not a recording: it %s; readable formats: " RECORD_FORMAT ", %s",
			          looks[i].what, buf_cstr(&list));
		}
	}
	buf_release(&list);
	return found;
}
