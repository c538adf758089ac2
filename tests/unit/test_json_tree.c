/* Trees: what people write by hand, and where it is wrong. */
#include "json/tree.h"
#include "json_cases.h"
#include "tap.h"

static void reading(void)
{
	static const char text[] =
		" {\"s\":\"a\\u00e9\\n\",\"n\":9007199254740993,\"x\":1.50,\"t\":true,"
		"\"f\":false,"
		"\"z\":null,\"a\":[1,[],{}],\"A\":2,\"\\u0064\":3,\"d\":4} \n";
	struct json_tree *t = NULL;
	struct error err = {0};
	int64_t v = 0;
	bool b = false;

	is_int(json_tree_parse(str_from(text), "policy.json", &t, &err), 0, "an object");
	if (!t) {
		return;
	}
	const struct json_tree_node *root = json_tree_root(t);
	is_int(json_tree_type(root), JSON_OBJECT, "its type");
	is_str(json_tree_string(json_tree_get(root, "s")), "a\xc3\xa9\n", "a string");
	ok(json_tree_i64(json_tree_get(root, "n"), &v) && v == INT64_C(9007199254740993),
	   "an integer beyond doubles");
	ok(!json_tree_i64(json_tree_get(root, "x"), &v), "no integer");
	ok(json_tree_bool(json_tree_get(root, "t"), &b) && b, "true");
	ok(json_tree_bool(json_tree_get(root, "f"), &b) && !b, "false");
	ok(!json_tree_bool(json_tree_get(root, "z"), &b), "null is no boolean");
	is_int(json_tree_type(json_tree_get(root, "z")), JSON_NULL, "null");
	ok(json_tree_i64(json_tree_get(root, "A"), &v) && v == 2, "keys are exact");
	ok(json_tree_i64(json_tree_get(root, "d"), &v) && v == 4,
	   "the last of the same key");
	is_int(json_tree_type(json_tree_get(root, "q")), JSON_ABSENT, "not there");
	const struct json_tree_node *a = json_tree_get(root, "a"),
				    *e = json_tree_first(a);
	ok(json_tree_type(e) == JSON_NUMBER && !json_tree_key(e),
	   "an element has no key");
	ok(json_tree_type(e = json_tree_next(e)) == JSON_ARRAY && !json_tree_first(e),
	   "empty array");
	ok(json_tree_type(e = json_tree_next(e)) == JSON_OBJECT && !json_tree_next(e),
	   "the last");
	is_str(json_tree_key(json_tree_first(root)), "s", "the first key");
	ok(!json_tree_get(a, "s") && !json_tree_string(a) && !json_tree_first(NULL),
	   "no such thing");
	json_tree_free(t);
	json_tree_free(NULL);
}

static void writing(void)
{
	static const char *const rows[] = {
		"{\"a\":[1.0,1e400,-0,9007199254740993,0.30000000000000004,{\"b\":[[],{}]"
		"}],\"\":\"\\n/\"}",
		"123456789012345678901234567890123456789012345678901234567890123456789012"
		"345678901234567890",
		"[[[[[\"x\"]]]],null,true,false]",
		"\"\"",
	};
	struct buf out = BUF(BUF_MAX_SMALL);
	struct error err = {0};
	struct json_tree *t = NULL;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		if (json_tree_parse(str_from(rows[i]), "p", &t, &err) == 0) {
			json_tree_write(t, json_tree_root(t), &out);
			json_tree_free(t);
		}
		is_str(buf_cstr(&out), rows[i], "written as read: %.20s", rows[i]);
	}
	buf_clear(&out);
	if (json_tree_parse(STR(" { \"a\" : [ 1 , 2 ] , \"b\" : 3 } "), "p", &t, &err) ==
	    0) {
		json_tree_write(t, json_tree_get(json_tree_root(t), "a"), &out);
		json_tree_free(t);
	}
	is_str(buf_cstr(&out), "[1,2]", "a part, without blanks");
	buf_release(&out);
}

static void deepest(void)
{
	struct buf in = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);
	struct error err = {0};
	struct json_tree *t = NULL;

	for (int i = 0; i < JSON_DEPTH_MAX; i++) {
		buf_text(&in, i % 2 ? "[" : "{\"a\":");
	}
	buf_char(&in, '1');
	for (int i = JSON_DEPTH_MAX; i-- > 0;) {
		buf_char(&in, i % 2 ? ']' : '}');
	}
	if (json_tree_parse(buf_view(&in), "p", &t, &err) == 0) {
		json_tree_write(t, json_tree_root(t), &out);
		json_tree_free(t);
	}
	is_str(buf_cstr(&out), buf_cstr(&in), "as deep as allowed");
	buf_release(&in);
	buf_release(&out);
}

static void places(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "p.json:1:1: unexpected end of the text"},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", "p.json:3:3: expected ',' or '}'"},
		{"{\"\xc3\xa9\xe2\x82\xac\": x}", "p.json:1:8: expected a value"},
		{"[NaN]", "p.json:1:2: NaN and Infinity are not JSON"},
		{"['a']", "p.json:1:2: expected a value; strings stand in double quotes"},
		{"[1,\n\"a\\u0000\"]", "p.json:2:3: \\u0000 is not allowed here"},
		{"{\"\\u0000\":1}", "p.json:1:3: \\u0000 is not allowed here"},
		{"\"\\\\u0000 \\ud800x\"", "p.json:1:10: half of a surrogate pair"},
		{"\xef\xbb\xbf{}",
	         "p.json:1:1: expected a value, found a byte order mark"},
		{"{} {}", "p.json:1:4: expected nothing behind the value"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = {0};
		struct json_tree *t = NULL;

		is_int(json_tree_parse(str_from(rows[i].text), "p.json", &t, &err), -1,
		       "refused");
		is_str(err.text, rows[i].want, "%s", rows[i].want);
		is_int(err.kind, FAIL_INPUT, "as bad input");
	}
}

/* Whatever the scanner accepts is read, but for what terminated text cannot hold. */
static void grammar(void)
{
	struct cases c;

	cases_open(&c, "tests/vectors/json_grammar.test");
	while (cases_next(&c)) {
		struct error err = {0};
		struct json_tree *t = NULL;
		bool good = json_tree_parse(c.field[2], "p", &t, &err) == 0;
		bool unreadable = strstr(err.text, "not allowed here") ||
		                  strstr(err.text, "half of");

		ok(good == (str_is(c.field[1], "+") && !unreadable), "%.*s",
		   STR_ARG(c.field[0]));
		json_tree_free(t);
	}
	cases_close(&c);
}

int main(void)
{
	reading();
	writing();
	deepest();
	places();
	grammar();
	return done();
}
