/* The canonical form: its vectors, idempotence, size, depth, hash. */
#include "guard.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json_cases.h"
#include "tap.h"

/* "mask /a /b": the operation and its pointers. */
struct operation {
	struct json_paths *paths;
	enum json_edit edit;
};

static struct operation operation_new(struct str text)
{
	struct operation o = {.edit = str_starts(text, STR("drop")) ? JSON_EDIT_DROP
	                                                            : JSON_EDIT_MASK};
	struct error err = {0};
	const char *space = memchr(text.p, ' ', text.n);

	o.paths = json_paths_new(!str_starts(text, STR("mask-literal")));
	while (space) {
		struct str rest = str_skip(text, (size_t)(space - text.p) + 1);

		space = memchr(rest.p, ' ', rest.n);
		struct str pointer = {rest.p, space ? (size_t)(space - rest.p) : rest.n};
		if (json_paths_add(o.paths, pointer, &err) != 0)
			tap_note("pointer", err.text);
		text = rest;
	}
	return o;
}

static void vectors(void)
{
	struct guard g = guard_new(1 << 12);
	struct buf out = BUF(BUF_MAX_SMALL);
	struct cases c;

	cases_open(&c, "tests/vectors/json_canon.test");
	while (cases_next(&c)) {
		struct operation o = operation_new(c.field[0]);

		buf_clear(&out);
		json_canon(guard_put(&g, c.field[1]), o.paths, o.edit, &out);
		is_str(buf_cstr(&out), buf_cstr(&c.bytes[2]), "line %d: %.*s", c.number,
		       STR_ARG(c.field[0]));
		json_paths_free(o.paths);
	}
	cases_close(&c);
	buf_release(&out);
	guard_free(&g);
}

/* Canonical bytes are valid, unchanged by canonicalization, and never longer than the
   input. */
static void repeated(void)
{
	struct buf once = BUF(BUF_MAX_SMALL), twice = BUF(BUF_MAX_SMALL);
	struct json_fault fault;
	struct cases c;

	cases_open(&c, "tests/vectors/json_grammar.test");
	while (cases_next(&c)) {
		if (!str_is(c.field[1], "+"))
			continue;
		buf_clear(&once);
		buf_clear(&twice);
		json_canon(c.field[2], NULL, JSON_EDIT_DROP, &once);
		json_canon(buf_view(&once), NULL, JSON_EDIT_DROP, &twice);
		is_str(buf_cstr(&twice), buf_cstr(&once), "repeated: %.*s", STR_ARG(c.field[0]));
		ok(json_validate(buf_view(&once), &fault) == 0 && once.n <= c.field[2].n,
		   "valid: %.*s", STR_ARG(c.field[0]));
	}
	cases_close(&c);
	buf_release(&once);
	buf_release(&twice);
}

#define MANY 100000

/* Keys in neither ascending nor descending order, and the expected form. */
static void many_members(void)
{
	struct buf in = BUF(BUF_MAX_MESSAGE), want = BUF(BUF_MAX_MESSAGE),
		   out = BUF(BUF_MAX_MESSAGE);

	for (unsigned i = 0; i < MANY; i++) {
		/* 77777 and MANY have no common factor */
		unsigned key = (unsigned)((uint64_t)i * 77777 % MANY);

		buf_printf(&in, "%s\"%05u\": %u", i ? ", " : "{", key, key);
		buf_printf(&want, "%s\"%05u\":%u", i ? "," : "{", i, i);
	}
	buf_char(&in, '}');
	buf_char(&want, '}');
	json_canon(buf_view(&in), NULL, JSON_EDIT_DROP, &out);
	ok(str_eq(buf_view(&out), buf_view(&want)), "%d members in order", MANY);
	buf_release(&in);
	buf_release(&want);
	buf_release(&out);
}

static void same_keys(void)
{
	struct buf in = BUF(BUF_MAX_SMALL), want = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 40; i++) {
			buf_printf(&in, "%s\"%c\":%d", in.n ? "," : "{", round ? 'a' : 'b', i);
			buf_printf(&want, "%s\"%c\":%d", want.n ? "," : "{", round ? 'b' : 'a', i);
		}
	}
	buf_char(&in, '}');
	buf_char(&want, '}');
	json_canon(buf_view(&in), NULL, JSON_EDIT_DROP, &out);
	is_str(buf_cstr(&out), buf_cstr(&want), "the same key 40 times keeps its order");
	buf_release(&in);
	buf_release(&want);
	buf_release(&out);
}

/* The deepest valid text, with unsorted members on every level and a recursive pattern. */
static void deep(void)
{
	struct buf in = BUF(BUF_MAX_SMALL), want = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);
	struct operation o = operation_new(STR("mask /**/z"));

	for (int i = 0; i < JSON_DEPTH_MAX; i++) {
		buf_text(&in, "{\"b\":");
		buf_text(&want, "{\"a\":1,\"b\":");
	}
	buf_text(&in, "0");
	buf_text(&want, "0");
	for (int i = 0; i < JSON_DEPTH_MAX; i++) {
		buf_text(&in, ",\"a\":1}");
		buf_char(&want, '}');
	}
	json_canon(buf_view(&in), o.paths, o.edit, &out);
	is_str(buf_cstr(&out), buf_cstr(&want), "as deep as allowed");
	json_paths_free(o.paths);
	buf_release(&in);
	buf_release(&want);
	buf_release(&out);
}

static void caps(void)
{
	static const char text[] = "{\"b\":\"{\\\"x\\\":[1,2,3]}\",\"a\":[1,{\"d\":1,\"c\":2}]}";
	struct operation o = operation_new(STR("mask /b/x/0"));
	int full = 0, held = 0;

	for (size_t max = 0; max < 40; max++) {
		struct buf out = BUF(max);

		json_canon(str_from(text), o.paths, o.edit, &out);
		full += out.full;
		held += out.n <= max;
		buf_release(&out);
	}
	ok(full == 40 && held == 40, "a buffer that is too small is full");
	struct buf exact = BUF(7);
	json_canon(STR(" [ 1 , 2 , 3 ] "), NULL, JSON_EDIT_DROP, &exact);
	ok(!exact.full && str_is(buf_view(&exact), "[1,2,3]"),
	   "one that is just large enough is not");
	buf_release(&exact);
	json_paths_free(o.paths);
}

static void pointers(void)
{
	static const char *const bad[] = {"a", "a/b", "/~", "/a~", "/~3", "/x/~2~", "#/a", "**"};
	struct error err = {0};
	struct json_paths *p = json_paths_new(true);

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ok(json_paths_add(p, str_from(bad[i]), &err) == -1 && err.kind == FAIL_INPUT &&
		           strstr(err.text, bad[i]),
		   "no pointer: %s", bad[i]);
	}
	ok(json_paths_add(p, STR("/a"), &err) == 0 && json_paths_add(p, STR(""), &err) == 0,
	   "pointers");
	json_paths_free(p);
	p = json_paths_new(false);
	is_int(json_paths_add(p, STR("/~2"), &err), -1, "~2 is for wildcards only");
	json_paths_free(p);
	json_paths_free(NULL);
}

static void hashes(void)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct operation o = operation_new(STR("drop /t"));
	char a[HASH_HEX + 1], b[HASH_HEX + 1];

	/* printf '{"a":1}' | sha256sum */
	json_hash(STR("{ \"a\" : 1 }"), NULL, &scratch, a);
	is_str(a, "015abd7f5cc57a2dd94b7590f04ad808", "hash of a state");
	json_hash(STR("{\"t\":5,\"a\":1}"), o.paths, &scratch, b);
	is_str(b, a, "without the ignored members");
	json_hash(STR("{\"a\":1.0}"), NULL, &scratch, b);
	ok(strcmp(a, b) != 0, "1.0 is not 1");
	json_paths_free(o.paths);
	buf_release(&scratch);
}

static void minified(void)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{"{\"a\": 1}", "{\"a\": 1}"},
		{"{\n  \"a\": 1,\r\n  \"b\": \"\\n\"\n}\n", "{  \"a\": 1,  \"b\": \"\\n\"}"},
		{"\n\r\n[\r]\r", "[]"},
		{"", ""},
	};
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		json_minify(str_from(rows[i].in), &out);
		is_str(buf_cstr(&out), rows[i].want, "without line breaks: %s", rows[i].want);
	}
	buf_clear(&out);
	json_canon(STR_NONE, NULL, JSON_EDIT_DROP, &out);
	is_str(buf_cstr(&out), "null", "an absent value is null");
	buf_release(&out);
}

int main(void)
{
	vectors();
	repeated();
	many_members();
	same_keys();
	deep();
	caps();
	pointers();
	hashes();
	minified();
	return done();
}
