/* The scanner: which texts are accepted, which members are found, and that a truncated text
   is never taken for a complete one. */
#include "base/buf.h"
#include "json_grammar.h"

#define MEMBERS 8

static void object_of_slices(void)
{
	static const char text[] =
		" { \"type\" : \"step\" ,\"n\":-1.50e2,\"a\\\"b\":[1,{\"x\":\"}\"}],"
		"\"o\":{ },\"t\":true,\"f\":false,\"z\":null} \n{\"next\":1}";
	static const struct {
		const char *key, *value;
		enum json_type type;
	} want[] = {
		{"type", "\"step\"", JSON_STRING},
		{"n", "-1.50e2", JSON_NUMBER},
		{"a\\\"b", "[1,{\"x\":\"}\"}]", JSON_ARRAY},
		{"o", "{ }", JSON_OBJECT},
		{"t", "true", JSON_TRUE},
		{"f", "false", JSON_FALSE},
		{"z", "null", JSON_NULL},
	};
	struct json_member m[MEMBERS];
	struct json_fault fault;
	size_t count = 0, used = 0;

	is_int(json_validate_object(str_from(text), m, MEMBERS, &count, &used, &fault), 0,
	       "an object followed by more text");
	is_int(count, ARRAY_LEN(want), "its members");
	ok(text[used - 1] == '}' && text[used] == ' ', "used up to its brace");
	for (size_t i = 0; i < count && i < ARRAY_LEN(want); i++) {
		ok(str_is(m[i].key, want[i].key) && str_is(m[i].value, want[i].value) &&
		           m[i].type == want[i].type,
		   "member %s", want[i].key);
	}
	is_int(json_validate_object(str_from(text), m, 2, &count, &used, &fault), 0,
	       "more members than room");
	ok(count == 2 && text[used - 1] == '}',
	   "members beyond the limit are validated and omitted");
	is_int(json_validate_object(STR("{\"a\":1,\"b\":02}"), m, 1, &count, &used, &fault), -1,
	       "omitted members are validated");
	is_int(fault.at, 12, "the place in it");
	is_int(json_validate_object(STR(" {} x"), m, 1, &count, &used, &fault), 0,
	       "an empty object");
	ok(count == 0 && used == 3, "has no members");
	is_int(json_validate_object(STR("[1]"), m, 1, &count, &used, &fault), -1,
	       "an array is not an object");
	is_int(json_validate_first(STR("  [1] [2]"), &used, &fault), 0, "the first of two values");
	is_int(used, 5, "and its end");
}

/* Both ways of splitting an accepted object give the same members; no proper prefix is an
   object. */
static void object_case(const struct guard *g, struct str name, struct str text)
{
	struct json_member m[MEMBERS], next;
	struct json_fault fault;
	size_t count, used, cursor = 0, n = 0, same = 0, accepted = 0;
	bool is_object =
		json_validate_object(guard_put(g, text), m, MEMBERS, &count, &used, &fault) == 0;

	if (!is_object)
		return;
	struct str whole = text;
	while (whole.p[0] != '{')
		whole = str_skip(whole, 1);
	for (; json_next_member(whole, &cursor, &next); n++) {
		same += n < MEMBERS && str_eq(next.key, m[n].key) &&
		        str_eq(next.value, m[n].value) && next.type == m[n].type &&
		        json_type(next.value) == next.type;
	}
	ok(same == n && n == count && json_count(whole) == n, "%.*s: members by iteration",
	   STR_ARG(name));
	for (size_t i = 0; i < used; i++) {
		accepted += json_validate_object(guard_put(g, (struct str){text.p, i}), m, MEMBERS,
		                                 &count, &used, &fault) == 0;
	}
	is_int(accepted, 0, "%.*s: no prefix is an object", STR_ARG(name));
}

static void objects(void)
{
	struct guard g = guard_new(1 << 12);
	struct cases c;

	cases_open(&c, "tests/vectors/json_grammar.test");
	while (cases_next(&c))
		if (str_is(c.field[1], "+"))
			object_case(&g, c.field[0], c.field[2]);
	cases_close(&c);
	guard_free(&g);
}

/* The offset of the error in a text truncated at every byte: its end, or an incomplete
   character. */
static void cuts(void)
{
	static const char text[] = "{\"key\":[1.5e+3,\"caf\xc3\xa9\\u00e9\\n\",true,false,null,-0],"
				   "\"longer than sixteen bytes\":{\"a\":{}}}";
	struct guard g = guard_new(sizeof(text));
	size_t good = 0;

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		bool half = i > 0 && text[i - 1] == '\xc3';

		good += grammar_fault(guard_put(&g, (struct str){text, i})) ==
		        (long)(half ? i - 1 : i);
	}
	is_int(good, sizeof(text) - 1, "cut at every byte");
	is_int(grammar_fault(str_from(text)), -1, "not cut");
	guard_free(&g);
}

static void depth_of(const char *opener, const char *inside, const char *closer)
{
	struct buf b = BUF(BUF_MAX_SMALL);

	for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
		buf_clear(&b);
		for (size_t i = 0; i < depth; i++)
			buf_text(&b, opener);
		buf_text(&b, inside);
		for (size_t i = 0; i < depth; i++)
			buf_text(&b, closer);
		bool fits = depth == JSON_DEPTH_MAX;
		long want = fits ? -1 : (long)(JSON_DEPTH_MAX * strlen(opener));
		is_int(grammar_fault(buf_view(&b)), want, "%zu times %s", depth, opener);

		struct json_member m;
		struct json_fault fault;
		size_t count, used;
		if (*opener == '{') {
			is_int(json_validate_object(buf_view(&b), &m, 1, &count, &used, &fault), 0,
			       "%zu objects by members, as a line has them", depth);
		}
	}
	buf_release(&b);
}

static void depth(void)
{
	depth_of("[", "1", "]");
	depth_of("{\"a\":", "1", "}");
	depth_of("[", "", "]");
	struct buf b = BUF(1 << 22);
	for (int i = 0; i < 1 << 20; i++)
		buf_char(&b, '[');
	is_int(grammar_fault(buf_view(&b)), JSON_DEPTH_MAX, "a million brackets");
	buf_release(&b);
}

static void iteration(void)
{
	static const char array[] = "[ 1 ,\"]\\\"\", [2,[3]] ,{\"a\":\"[\"}, null ]";
	static const char *const want[] = {"1", "\"]\\\"\"", "[2,[3]]", "{\"a\":\"[\"}", "null"};
	struct str e;
	size_t cursor = 0, n = 0;
	struct json_member m;

	while (json_next(str_from(array), &cursor, &e)) {
		ok(n < ARRAY_LEN(want) && str_is(e, want[n]), "element %zu", n);
		n++;
	}
	is_int(n, ARRAY_LEN(want), "elements");
	ok(!json_next(str_from(array), &cursor, &e), "the end stays the end");
	is_int(json_count(str_from(array)), 5, "count of an array");
	cursor = 0;
	ok(!json_next(STR("{\"a\":1}"), &cursor, &e) && !json_next(STR("1"), &cursor, &e) &&
	           !json_next(STR_NONE, &cursor, &e),
	   "no elements but in arrays");
	struct str strings = STR("{\"k\" : [\"a\\\"b\", {\"x\":\"c\"}, 1], \"l\":\"\"}"), each;
	const char *const wanted[] = {"\"a\\\"b\"", "\"c\"", "\"\""};
	size_t at = 0, count = 0;
	while (json_next_string(strings, &at, &each) && count < ARRAY_LEN(wanted)) {
		ok(str_is(each, wanted[count]), "a string inside: %.*s", STR_ARG(each));
		count++;
	}
	ok(count == 3 && !json_next_string(strings, &at, &each), "keys are none");
	ok(!json_next_member(STR("[1]"), &cursor, &m) && !json_next_member(STR_NONE, &cursor, &m),
	   "no members but in objects");
	is_int(json_count(STR("\"x\"")) + json_count(STR_NONE) + json_count(STR("[ ]")), 0,
	       "empty values");
}

static void look_up(void)
{
	struct str o = STR("{\"a\":1,\"b\":{\"a\":2},\"\\u0063\":3,\"d\\n\":4,\"a\":5,\"\":6,"
	                   "\"\\ud83d\\ude00\":7,\"n\\u0000\":8}");

	ok(str_is(JSON_GET(o, "a"), "5"), "the last of the same key");
	ok(str_is(JSON_GET(o, "b"), "{\"a\":2}"), "not the key inside");
	ok(str_is(JSON_GET(o, "c"), "3"), "an escaped key");
	ok(str_is(JSON_GET(o, "d\n"), "4"), "a key with a line feed");
	ok(str_is(JSON_GET(o, ""), "6"), "the empty key");
	ok(str_is(JSON_GET(o, "\xf0\x9f\x98\x80"), "7"), "a key beyond 16 bits");
	ok(str_is(JSON_GET(o, "n\0"), "8"), "a key with NUL");
	ok(!JSON_GET(o, "A").p && !JSON_GET(o, "n").p && !JSON_GET(o, "d").p, "keys are exact");
	ok(!JSON_GET(STR("[1]"), "0").p && !json_get(STR_NONE, STR("a")).p, "no object");
	static const struct str keys[] = {STR_INIT("c"), STR_INIT("a"), STR_INIT("no")};
	struct str values[3] = {STR("old"), STR("old"), STR("old")};
	json_pick(o, keys, 3, values);
	ok(str_is(values[0], "3") && str_is(values[1], "5") && !values[2].p,
	   "several keys at once give the same as one by one");
	json_pick(STR_NONE, keys, 3, values);
	ok(!values[0].p && !values[1].p && !values[2].p, "several keys of an absent value");
}

static void strings(void)
{
	static const struct {
		const char *string;
		struct str text;
		bool whole;
	} rows[] = {
		{"\"\"", STR_INIT(""), true},
		{"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR_INIT("a\"\\/\b\f\n\r\t"), true},
		{"\"\\u00e9\\u20aC\\uFFFF\"", STR_INIT("\xc3\xa9\xe2\x82\xac\xef\xbf\xbf"), true},
		{"\"\\ud83d\\ude00\\uDBFF\\uDFFF\"", STR_INIT("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"),
	         true},
		{"\"x\\u0000y\"", STR_INIT("x\0y"), true},
		{"\"\\uD800\"", STR_INIT("\\ud800"), false},
		{"\"\\udc00x\\ud800\\n\"", STR_INIT("\\udc00x\\ud800\n"), false},
		{"\"\\ud800\\ud800\\udc00\"", STR_INIT("\\ud800\xf0\x90\x80\x80"), false},
	};
	struct buf b = BUF(BUF_MAX_SMALL);
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str s = str_from(rows[i].string);

		buf_clear(&b);
		ok(json_decode(s, &b) == rows[i].whole && str_eq(buf_view(&b), rows[i].text),
		   "decode %s", rows[i].string);
		ok(json_is(s, rows[i].text), "is %s", rows[i].string);
		ok(!json_is(s, STR("other")), "does not equal %s", rows[i].string);
		ok(str_eq(json_text(&a, s), rows[i].text), "the same in an arena: %s",
		   rows[i].string);
		ok(json_key_is(json_inner(s), rows[i].text), "and as a key: %s", rows[i].string);
		ok(json_has_escape(s) == (i > 0), "escapes of %s", rows[i].string);
	}
	buf_release(&b);
	ok(!json_text(&a, STR("1")).p && !json_text(&a, STR_NONE).p, "no string has no text");
	arena_release(&a);
	ok(json_same_text(STR("\"a\\u0062\""), STR("\"\\u0061b\"")) &&
	           json_same_text(STR("\"\""), STR("\"\"")),
	   "the same text, spelled in two ways");
	ok(!json_same_text(STR("\"a\""), STR("\"\\u0062\"")) &&
	           !json_same_text(STR("1"), STR("1")) && !json_same_text(STR_NONE, STR_NONE),
	   "different texts, and values that are not strings");
	ok(!json_is(STR("\"ab\""), STR("a")) && !json_is(STR("\"a\\n\""), STR("a")) &&
	           !json_is(STR("\"\\n\""), STR("\nx")) && !json_is(STR("a"), STR("a")) &&
	           !json_is(STR_NONE, STR("")),
	   "strings that differ");
	ok(str_is(json_inner(STR("\"a\\n\"")), "a\\n"), "between the quotes");
	ok(!json_inner(STR("1")).p && !json_inner(STR_NONE).p, "only strings have quotes");
	struct buf small = BUF(2);
	ok(!json_decode(STR("\"abc\""), &small) && small.full, "decoding keeps to the cap");
	buf_release(&small);
}

static void types(void)
{
	bool b = false;

	ok(json_bool(STR("true"), &b) && b && json_bool(STR("false"), &b) && !b, "booleans");
	ok(!json_bool(STR("1"), &b) && !json_bool(STR_NONE, &b), "no booleans");
	ok(json_is_null(STR("null")) && json_is_null(STR_NONE), "null and absent");
	ok(!json_is_null(STR("0")) && !json_is_null(STR("\"\"")), "not null");
	is_str(json_type_name(json_type(STR("{}"))), "object", "name of a type");
	is_str(json_type_name(json_type(STR_NONE)), "absent", "the type of an absent value");
}

int main(void)
{
	grammar_cases();
	object_of_slices();
	objects();
	cuts();
	depth();
	iteration();
	look_up();
	strings();
	types();
	return done();
}
