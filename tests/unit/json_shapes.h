/* Objects whose shape is known give the same as others: json_canon_shaped against
   json_canon_members, for the same objects one after the other. */
#ifndef TESTS_JSON_SHAPES_H
#define TESTS_JSON_SHAPES_H

#include "guard.h"
#include "json/canon_shape.h"
#include "tap.h"

#define GUARDED ((size_t)64 << 10)

static const struct str ordered_names[] = {STR_INIT("call"), STR_INIT("meta")};
static const struct json_lead known_leads[] = {JSON_LEAD("type"), JSON_LEAD("n"),
                                               JSON_LEAD("call")};
static const struct json_canon_keys shape_keys = {
	ordered_names, ARRAY_LEN(ordered_names), {known_leads, ARRAY_LEN(known_leads)}};

/* What one kind of line looks like; %s are scalars. */
#define STEP_LINE                                                                                  \
	"{\"type\":\"step\",\"n\":%s,\"call\":{\"name\":\"move\",\"id\":%s,\"args\":{\"y\":1,"     \
	"\"x\":%s}},\"b\":[{\"role\":\"tool\",\"content\":%s}],\"a_name_of_more_than_32_bytes_in_" \
	"all\":[],\"twice\":1,\"twice\":%s,\"meta\":{}}"

struct shapes_test {
	struct guard guard;
	struct json_shapes *shapes;
	size_t objects, known, wrong;
};

static bool same_member(const struct json_member *a, const struct json_member *b)
{
	return str_eq(a->key, b->key) && str_eq(a->value, b->value) && a->type == b->type &&
	       a->lead == b->lead;
}

static bool same_object(const struct json_canon_object *a, const struct json_canon_object *b)
{
	size_t parts = 0;
	bool same = a->count == b->count && a->used == b->used;

	for (size_t i = 0; same && i < a->count; i++) {
		same = same_member(&a->members[i], &b->members[i]) &&
		       a->inner[i].count == b->inner[i].count &&
		       (!a->inner[i].count || a->inner[i].first == b->inner[i].first);
		parts += a->inner[i].count;
	}
	for (size_t i = 0; same && i < parts; i++) {
		same = same_member(&a->parts[i], &b->parts[i]);
	}
	return same;
}

static void compare_object(struct shapes_test *t, struct str object)
{
	struct json_canon_object of_unknown;
	struct buf a = BUF(GUARDED), b = BUF(GUARDED);
	struct str text = guard_put(&t->guard, object);
	struct json_canon_object plain;
	const bool valid = json_canon_members(text, &shape_keys, &plain, &a);
	const struct json_canon_object *shaped =
		json_canon_shaped(t->shapes, text, &shape_keys, &of_unknown, &b);

	t->objects++;
	t->known += shaped && shaped != &of_unknown;
	if (valid != (shaped != NULL) || (valid && !same_object(&plain, shaped)) ||
	    !str_eq(buf_view(&a), buf_view(&b))) {
		tap_note("object", object.p);
		tap_note("one way", valid ? buf_cstr(&a) : "not valid");
		tap_note("the other", shaped ? buf_cstr(&b) : "not valid");
		t->wrong++;
	}
	buf_release(&a);
	buf_release(&b);
}

static void compare_text(struct shapes_test *t, const char *text)
{
	compare_object(t, str_from(text));
}

static void step_line(struct buf *out, const char *scalar, size_t place)
{
	const char *s[] = {"1", "\"c0\"", "-2.5", "\"text\"", "null"};

	s[place] = scalar;
	buf_clear(out);
	buf_printf(out, STEP_LINE, s[0], s[1], s[2], s[3], s[4]);
}

static struct shapes_test shapes_begin(void)
{
	return (struct shapes_test){.guard = guard_new(GUARDED), .shapes = json_canon_shapes_new()};
}

static void shapes_end(struct shapes_test *t, size_t known, const char *what)
{
	ok(t->wrong == 0, "%s: %zu objects give the same", what, t->objects);
	ok(t->known >= known, "%s: of %zu of them the shape was known", what, t->known);
	json_shapes_free(t->shapes);
	guard_free(&t->guard);
}

static void scalars(void)
{
	static const char *const list[] = {
		"0",
		"-0",
		"1e5",
		"1.50",
		"01",
		"1.",
		"-",
		"true",
		"false",
		"nul",
		"[]",
		"[1,\"a\",null]",
		"[1,2,]",
		"[1 ]",
		"[1,{}]",
		"[[]]",
		"{}",
		"{\"b\":1,\"a\":2}",
		" 1",
		"1 ",
		"",
		"\"\"",
		"\"a\\/b\"",
		"\"\\u00e9\"",
		"\"\\u001F\"",
		"\"\\ud800\"",
		"\"\\x\"",
		"\"caf\xc3\xa9 in a text of more than 64 bytes, with \\\"escapes\\\" and \\n more\"",
		"\"\xff\"",
		"\"a tab\t\"",
		"\"a line feed\n\"",
		"\"open",
	};
	struct shapes_test t = shapes_begin();
	struct buf line = BUF(GUARDED);

	for (size_t place = 0; place < 5; place++) {
		for (size_t i = 0; i < ARRAY_LEN(list); i++) {
			step_line(&line, list[i], place);
			compare_object(&t, buf_view(&line));
			step_line(&line, "7", place);
			compare_object(&t, buf_view(&line));
		}
	}
	buf_release(&line);
	shapes_end(&t, 150, "scalars of all kinds");
}

static void lengths(void)
{
	static const char x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	struct shapes_test t = shapes_begin();
	struct buf line = BUF(GUARDED), string = BUF(GUARDED);

	for (size_t place = 0; place < 5; place++) {
		for (int n = 0; n < 200; n++) {
			int first = n < 64 ? n : 64, more = n < 128 ? n - first : 64;

			buf_clear(&string);
			buf_printf(&string, "\"%.*s%.*s%.*s\"", first, x, more, x, n - first - more,
			           x);
			step_line(&line, buf_cstr(&string), place);
			compare_object(&t, buf_view(&line));
		}
	}
	buf_release(&line);
	buf_release(&string);
	shapes_end(&t, 990, "strings of all lengths");
}

/* Every byte is replaced, and every beginning ends the text. */
static void changed_bytes(void)
{
	static const char bytes[] = " \n\r\"\\{}[],:x1\x80\x01";
	struct shapes_test t = shapes_begin();
	struct buf line = BUF(GUARDED);

	step_line(&line, "3", 0);
	const struct str whole = buf_view(&line);
	for (size_t i = 0; i < whole.n; i++) {
		const char was = line.p[i];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			line.p[i] = bytes[k];
			compare_object(&t, whole);
			line.p[i] = was;
			compare_object(&t, whole);
		}
		compare_object(&t, (struct str){whole.p, i});
	}
	buf_str(&line, STR(" \n{\"type\":1}\n"));
	compare_object(&t, buf_view(&line));
	buf_release(&line);
	shapes_end(&t, 2000, "bytes replaced");
}

/* Shapes that begin alike and differ later, in turn. */
static void many_shapes(size_t count, size_t rounds, size_t known, const char *what)
{
	struct shapes_test t = shapes_begin();
	struct buf line = BUF(GUARDED);

	for (size_t round = 0; round < rounds; round++) {
		for (size_t n = 0; n < count; n++) {
			buf_clear(&line);
			buf_printf(&line, "{\"type\":\"%zu\",\"n\":{\"z\":%zu", round, n);
			for (size_t i = 0; i < n; i++) {
				buf_printf(&line, ",\"%c\":{\"k\":\"%zu\"}", 'y' - (char)i, i);
			}
			buf_text(&line, n % 2 ? "}}" : "},\"end\":{\"b\":[],\"a\":1}}");
			compare_object(&t, buf_view(&line));
		}
	}
	buf_release(&line);
	shapes_end(&t, known, what);
}

/* More than is learned. */
static void large_shapes(void)
{
	struct shapes_test t = shapes_begin();
	struct buf line = BUF(GUARDED);

	for (size_t i = 0; i < 100; i++) {
		buf_clear(&line);
		buf_text(&line, "{\"n\":[{}");
		for (size_t k = 0; k < 120 + i / 5; k++) {
			buf_printf(&line, ",%zu", k);
		}
		buf_text(&line, "]}");
		compare_object(&t, buf_view(&line));
		buf_clear(&line);
		buf_printf(&line, "{\"type\":{\"%*d\":{\"b\":1,\"a\":%zu}}}", (int)(8000 + i), 1,
		           i);
		compare_object(&t, buf_view(&line));
	}
	buf_release(&line);
	shapes_end(&t, 1, "shapes of many bytes or scalars");
}

static void no_scalars(void)
{
	static const char *const list[] = {"{}",         "{\"n\":{}}",           "{\"meta\":{}}",
	                                   "{\"n\":[]}", "{\"n\":[{}]}",         "{",
	                                   "",           "{\"meta\":{\"b\":{}}", "[1]"};
	struct shapes_test t = shapes_begin();

	for (size_t i = 0; i < 3 * ARRAY_LEN(list); i++) {
		compare_text(&t, list[i % ARRAY_LEN(list)]);
	}
	shapes_end(&t, 2, "hardly any scalars");
}

static inline int shapes_main(void)
{
	scalars();
	lengths();
	changed_bytes();
	many_shapes(16, 10, 120, "as many shapes as are kept");
	many_shapes(24, 50, 1, "more shapes than are kept");
	large_shapes();
	no_scalars();
	return done();
}

#endif
