/* Suggestions for pointers: see nearest.h. */
#include "debug/nearest.h"

#include "base/names.h"

/* Adds the pointers one level below a value, with that prefix. */
static void add_members(struct str value, struct str prefix, struct names *names)
{
	struct buf pointer = BUF(BUF_MAX_SMALL);
	struct json_member m;
	struct str element;
	size_t cursor = 0, index = 0;
	bool array = json_type(value) == JSON_ARRAY;

	while (array ? json_next(value, &cursor, &element) : json_next_member(value, &cursor, &m)) {
		buf_set(&pointer, prefix);
		if (array) {
			buf_printf(&pointer, "/%zu", index++);
		} else {
			buf_char(&pointer, '/');
			buf_str(&pointer, m.key);
		}
		names_add(names, buf_view(&pointer));
	}
	buf_release(&pointer);
}

/* JSON inside a string has members as well. */
static struct str unfold(struct str value, struct buf *text)
{
	struct buf inner = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;

	while (json_type(value) == JSON_STRING) {
		buf_clear(&inner);
		json_decode(value, &inner);
		if (json_validate(buf_view(&inner), &fault)) {
			break;
		}
		buf_set(text, buf_view(&inner));
		value = buf_view(text);
	}
	buf_release(&inner);
	return value;
}

int nearest_pointer(const struct path *p, const struct known *k, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct path part = *p;
	struct names names = {.count = 0};
	struct str value = STR_NONE;
	const char *fact = named_facts[p->fact].name;

	if (json_is_null(fact_value(p->fact, k))) {
		return error_set(err, FAIL_USAGE, "%s is %s here", fact,
		                 fact_value(p->fact, k).p ? "null" : "unknown");
	}
	while (!value.p && part.pointer.n) { /* the longest prefix with a value */
		while (part.pointer.n && part.pointer.p[--part.pointer.n] != '/') {
		}
		value = path_value(&part, k, &scratch);
	}
	value = unfold(value, &scratch);
	add_members(value, part.pointer, &names);
	error_set(err, FAIL_USAGE, "%s has no member %.*s here", fact, STR_ARG(p->pointer));
	if (names.count) {
		names_suggest(err, p->pointer, names.text, names.count);
	}
	names_release(&names);
	buf_release(&scratch);
	return -1;
}
