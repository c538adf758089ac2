/* Block operations of the scanner: skipping containers and long strings, and strings
   that repeat, at any position in the text. */
#include "base/buf.h"
#include "guard.h"
#include "json/scan.h"
#include "tap.h"

#define LONGEST 150 /* more than two blocks */

/* Inside a string; outside of one, each would open or close something. */
static const char *const specials[] = {"\\\\", "\\\"", "\\\\\\\"", "]",           "}",
                                       "{",    "[",    "\\u005d",  "caf\xc3\xa9", "x"};

/* An object with a string of n bytes before and n bytes after the special ones. */
static void put_object(struct buf *out, size_t n, const char *special)
{
	buf_text(out, "{\"k\":\"");
	for (size_t i = 0; i < n; i++)
		buf_char(out, 'a');
	buf_text(out, special);
	for (size_t i = 0; i < n; i++)
		buf_char(out, 'b');
	buf_text(out, "\",\"l\":[[1, 2],{},\"\"]}");
}

/* Counts the correct results for [OBJECT, 7]. */
static int count_correct(struct str array, struct str object)
{
	static const struct str keys[] = {STR_INIT("l"), STR_INIT("k"), STR_INIT("no")};
	struct json_fault fault;
	struct str element, values[ARRAY_LEN(keys)];
	size_t cursor = 0;
	int right = json_validate(array, &fault) == 0;

	right += json_next(array, &cursor, &element) && str_eq(element, object);
	right += json_next(array, &cursor, &element) && str_is(element, "7");
	right += !json_next(array, &cursor, &element);
	cursor = 0;
	right += json_next_picked(array, &cursor, keys, ARRAY_LEN(keys), values) &&
	         str_eq(values[0], JSON_GET(object, "l")) &&
	         str_eq(values[1], JSON_GET(object, "k")) && !values[2].p;
	right += json_next_picked(array, &cursor, keys, ARRAY_LEN(keys), values) && !values[0].p;
	right += !json_next_picked(array, &cursor, keys, ARRAY_LEN(keys), values);
	return right + (json_count(array) == 2 && json_count(JSON_GET(object, "l")) == 3);
}

static void containers(void)
{
	struct guard g = guard_new(1 << 12);
	struct buf object = BUF(BUF_MAX_SMALL), array = BUF(BUF_MAX_SMALL);

	for (size_t s = 0; s < ARRAY_LEN(specials); s++) {
		int right = 0;

		for (size_t n = 0; n < LONGEST; n++) {
			buf_clear(&object);
			buf_clear(&array);
			put_object(&object, n, specials[s]);
			buf_printf(&array, "[%s, 7]", buf_cstr(&object));
			right += count_correct(guard_put(&g, buf_view(&array)), buf_view(&object));
		}
		is_int(right, 8 * LONGEST, "objects with strings with %s", specials[s]);
	}
	buf_release(&object);
	buf_release(&array);
	guard_free(&g);
}

/* ["S" TAIL, where S is n bytes long */
static bool is_valid_after(const struct guard *g, size_t n, const char *before_end, const char *end)
{
	struct json_fault fault;
	struct buf b = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < 2; i++) {
		buf_text(&b, i == 0 ? "[\"" : ",\"");
		for (size_t k = 0; k < n; k++)
			buf_char(&b, 'a');
		buf_text(&b, i == 0 ? "\\\"b\"" : before_end);
	}
	buf_text(&b, end);
	bool valid = json_validate(guard_put(g, buf_view(&b)), &fault) == 0;
	buf_release(&b);
	return valid;
}

static void repeated_strings(void)
{
	struct guard g = guard_new(1 << 12);
	int equal = 0, other = 0, bad = 0;

	for (size_t n = 0; n < LONGEST; n++) {
		equal += is_valid_after(&g, n, "\\\"b\"", "]");
		other += is_valid_after(&g, n, "\\\"bc\"", "]") + is_valid_after(&g, n, "\"", "]");
		bad += !is_valid_after(&g, n, "\\\"b\x01\"", "]") +
		       !is_valid_after(&g, n, "\\\"b", "") + !is_valid_after(&g, n, "\\\"b\"", "");
	}
	is_int(equal, LONGEST, "a string twice");
	is_int(other, 2 * LONGEST, "a string that begins like another");
	is_int(bad, 3 * LONGEST, "a string that begins like another, but is invalid");
	guard_free(&g);
}

int main(void)
{
	containers();
	repeated_strings();
	return done();
}
