/* Python literals as JSON, and literals within a text. */
#include "json/python.h"
#include "tap.h"

#include <stdio.h>

struct row {
	const char *python, *json; /* NULL: not a literal */
};

static const struct row rows[] = {
	{"{'position': 0, 'done': False, 'bag': None}",
         "{\"position\":0,\"done\":false,\"bag\":null}"},
	{"{}", "{}"},
	{"[]", "[]"},
	{"()", "[]"},
	{"(1,)", "[1]"},
	{"[1, 2,]", "[1,2]"},
	{"{1, 2}", "[1,2]"},
	{"{'a': {'b': [(1, 2), {'c'}]}}", "{\"a\":{\"b\":[[1,2],[\"c\"]]}}"},
	{"{1: 'a', (2): 'b'}", NULL},
	{"{1: 'a', True: 'b'}", "{\"1\":\"a\",\"true\":\"b\"}"},
	{"-1.5e-05", "-1.5e-05"},
	{"[0., 1.]", "[0.0,1.0]"},
	{"nan", "\"nan\""},
	{"'it\\'s'", "\"it's\""},
	{"\"it's\"", "\"it's\""},
	{"'say \"x\"'", "\"say \\\"x\\\"\""},
	{"'\\n\\t\\\\'", "\"\\n\\t\\\\\""},
	{"'\\x1b[41mS'", "\"\\u001b[41mS\""},
	{"'\\u00e9\\U0001f389'", "\"\\u00e9\\ud83c\\udf89\""},
	{"'\\q\\'\\/'", "\"\\\\q'\\\\/\""},
	{"'\\33[0m\\0'", "\"\\u001b[0m\\u0000\""},
	{"'a\\\nb'", "\"ab\""},
	{"'''it's\n'''", "\"it's\\u000a\""},
	{"\"\"\"a\"b\"\"\"", "\"a\\\"b\""},
	{"''", "\"\""},
	{"'''a''", NULL},
	{"'\xc3\xa9'", "\"\xc3\xa9\""},
	{"'\n'", "\"\\u000a\""},
	{"{'grid': array([[0, 1], [2, 3]], dtype=int8)}", "{\"grid\":[[0,1],[2,3]]}"},
	{"np.float64(0.5)", "0.5"},
	{"[np.int64(3), np.True_]", "[3,true]"},
	{" [ 1 , 2 ] ", "[1,2]"},
	{"{'a' 1}", NULL},
	{"{'a':}", NULL},
	{"{'a': 1, 2}", NULL},
	{"{1, 'a': 2}", NULL},
	{"{1, : 2}", NULL},
	{"{1-2: 3}", NULL},
	{"{01: 2}", NULL},
	{"{'a'", NULL},
	{"['a", NULL},
	{"'\\x4'", NULL},
	{"'\\U00110000'", NULL},
	{"[1 2]", NULL},
	{"[,]", NULL},
	{"(1]", NULL},
	{"<object at 0x7f>", NULL},
	{"datetime.datetime(2026, 1, 1)", NULL},
	{"initial_state", NULL},
	{"", NULL},
};

static void literals(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t used = 0;

		buf_clear(&out);
		buf_text(&out, "<");
		bool is = python_literal(str_from(rows[i].python), &used, &out);
		if (!rows[i].json) {
			ok(!is && str_is(buf_view(&out), "<"), "no literal: %s", rows[i].python);
			continue;
		}
		ok(is && str_is(str_skip(buf_view(&out), 1), rows[i].json), "row %zu: %s", i,
		   rows[i].json);
	}
	buf_release(&out);
	ok(!python_literal(STR("array()"), &(size_t){0}, &out),
	   "a call without arguments, into an empty buffer");
	buf_release(&out);
}

/* Nesting is limited, and parsing does not recurse. */
static void depth(void)
{
	struct buf text = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);
	size_t used;

	for (int i = 0; i < 64; i++)
		buf_char(&text, '[');
	for (int i = 0; i < 64; i++)
		buf_char(&text, ']');
	ok(python_literal(buf_view(&text), &used, &out) && used == 128, "64 levels");
	buf_clear(&text);
	for (int i = 0; i < 10000; i++)
		buf_char(&text, '[');
	ok(!python_literal(buf_view(&text), &used, &out), "10,000 levels are refused");
	buf_release(&text);
	buf_release(&out);
}

static void found(const char *text, const char *json)
{
	struct buf out = BUF(BUF_MAX_SMALL);
	bool is = python_find(str_from(text), &out);

	ok(is == (json != NULL) && (!json || str_is(buf_view(&out), json)), "in: %s", text);
	buf_release(&out);
}

int main(void)
{
	literals();
	depth();
	found("Current state: {'position': 0}. Choose.", "{\"position\":0}");
	found("Use {braces} and [x], then {\"position\": 0}", "{\"position\": 0}");
	found("Current state: initial_state.", NULL);
	return done();
}
