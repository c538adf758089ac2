/* Differences of two values: the vectors, deep values, and a callback that stops the
   comparison. */
#include "json/diff.h"

#include "guard.h"
#include "json_cases.h"
#include "tap.h"

static bool print_difference(void *ctx, const struct json_difference *d)
{
	struct buf *out = ctx;

	buf_text(out, out->n ? "; " : "");
	if (d->before.p && d->after.p) {
		buf_printf(out, "%.*s %.*s -> %.*s", STR_ARG(d->pointer), STR_ARG(d->before),
		           STR_ARG(d->after));
	} else {
		struct str value = d->before.p ? d->before : d->after;

		buf_printf(out, "%c%.*s %.*s", d->before.p ? '-' : '+', STR_ARG(d->pointer),
		           STR_ARG(value));
	}
	return true;
}

static bool count_each(void *ctx, const struct json_difference *d)
{
	size_t *n = ctx;

	(void)d;
	++*n;
	return true;
}

/* With a long value next to them, the ends of containers are stored: the differences are
   the same. */
static size_t count_beside_long(struct str before, struct str after)
{
	struct buf a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);
	size_t n = 0;

	buf_printf(&a, "[\"%8000d\",%.*s]", 1, STR_ARG(before));
	buf_printf(&b, "[\"%8000d\",%.*s]", 1, STR_ARG(after));
	json_diff(buf_view(&a), buf_view(&b), NULL, count_each, &n);
	buf_release(&a);
	buf_release(&b);
	return n;
}

static void vectors(void)
{
	struct guard before = guard_new(1 << 12), after = guard_new(1 << 12);
	struct json_paths *ignored = json_paths_new(false);
	struct buf out = BUF(BUF_MAX_SMALL);
	struct error err;
	struct cases c;

	ok(!json_paths_add(ignored, STR("/ignored"), &err), "a pointer");
	cases_open(&c, "tests/vectors/json_diff.test");
	while (cases_next(&c)) {
		buf_clear(&out);
		json_diff(guard_put(&before, c.field[0]), guard_put(&after, c.field[1]), ignored,
		          print_difference, &out);
		ok(str_eq(buf_view(&out), c.field[2]), "line %d: %s", c.number, buf_cstr(&out));
		size_t n = 0;
		json_diff(c.field[0], c.field[1], NULL, count_each, &n);
		is_int(count_beside_long(c.field[0], c.field[1]), n, "  next to a long value");
	}
	cases_close(&c);
	json_paths_free(ignored);
	buf_release(&out);
	guard_free(&before);
	guard_free(&after);
}

static bool count_two(void *ctx, const struct json_difference *d)
{
	size_t *n = ctx;

	(void)d;
	return ++*n < 2;
}

static void nested(struct buf *out, char core)
{
	for (int i = 0; i < 500; i++)
		buf_char(out, '[');
	buf_char(out, core);
	for (int i = 0; i < 500; i++)
		buf_char(out, ']');
}

int main(void)
{
	struct buf a = BUF(BUF_MAX_SMALL), b = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);
	const struct str absent = {NULL, 0};
	size_t n = 0;

	vectors();
	json_diff(STR("[1,2,3,4]"), STR("[2,3,4,5]"), NULL, count_two, &n);
	is_int(n, 2, "stops when the callback says so");
	json_diff(absent, STR("{}"), NULL, print_difference, &out);
	is_str(buf_cstr(&out), "+ {}", "a value where there was none");
	buf_clear(&out);
	json_diff(absent, absent, NULL, print_difference, &out);
	is_str(buf_cstr(&out), "", "two absent values");
	nested(&a, '1');
	nested(&b, '2');
	json_diff(buf_view(&a), buf_view(&b), NULL, print_difference, &out);
	ok(str_ends(buf_view(&out), STR("/0/0 1 -> 2")), "deep below");
	buf_release(&a);
	buf_release(&b);
	buf_release(&out);
	return done();
}
