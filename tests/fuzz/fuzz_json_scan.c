/* The strict scanner: both builds agree, a fault has a position and a reason, and the parts
   of an accepted value are accepted by themselves. */
#include "base/buf.h"
#include "json_portable.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMBERS 16

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_value(struct str value)
{
	struct json_fault fault;
	struct buf text = BUF(value.n);
	int64_t whole;
	double number;

	must(json_validate(value, &fault) == 0 && json_type(value) != JSON_ABSENT);
	if (json_type(value) == JSON_STRING) {
		json_decode(value, &text);
		must(!text.full && json_is(value, buf_view(&text)));
	}
	if (json_i64(value, &whole))
		must(json_double(value, &number) && number == (double)whole);
	buf_release(&text);
}

/* The children of an accepted value; an object's in the other way, too. */
static void check_children(struct str value)
{
	struct json_member m[MEMBERS], next;
	struct json_fault fault;
	struct str e;
	size_t count = 0, used = 0, n = 0, cursor = 0;
	bool is_object = json_type(value) == JSON_OBJECT;

	must((json_validate_object(value, m, MEMBERS, &count, &used, &fault) == 0) == is_object);
	must(!is_object || used == value.n);
	for (; json_next(value, &cursor, &e); n++)
		check_value(e);
	for (cursor = 0; json_next_member(value, &cursor, &next); n++) {
		check_value(next.value);
		must(n >= MEMBERS ||
		     (str_eq(m[n].key, next.key) && str_eq(m[n].value, next.value)));
	}
	must(n == json_count(value) && (!is_object || count == (n < MEMBERS ? n : MEMBERS)));
}

/* A truncated stream is never taken for the whole object. */
static void check_prefixes(struct str object)
{
	struct json_member m;
	struct json_fault fault;
	size_t count, used;

	for (size_t n = object.n > 200 ? object.n - 200 : 0; n < object.n; n++) {
		must(json_validate_object((struct str){object.p, n}, &m, 1, &count, &used,
		                          &fault) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct json_fault fault;
	int accepted = json_validate(text, &fault);
	size_t used = 0;

	must(portable_agrees(text));
	if (accepted != 0)
		must(fault.at <= size && fault.why);
	if (json_validate_first(text, &used, &fault) != 0) {
		must(accepted != 0);
		return 0;
	}
	const unsigned char *begin = lex_blanks(data, data + size);
	struct str value = lex_slice(begin, data + used);
	must(used <= size && lex_value(begin, data + used) == data + used);
	check_value(value);
	check_children(value);
	if (json_type(value) == JSON_OBJECT)
		check_prefixes(value);
	return 0;
}
