/* Which differences give a mask hint, and which mask. */
#include "compare/mask_hint.h"

#include "tap.h"

/* NULL: no hint. */
static void check_hint(const char *pointer, const char *expected, const char *got, const char *mask)
{
	struct difference d = {.kind = DIFFERENCE_CHANGED,
	                       .pointer = str_from(pointer),
	                       .expected = str_from(expected),
	                       .got = str_from(got)};
	struct buf out = BUF(BUF_MAX_SMALL);
	bool is = mask_hint(&d, &out);

	ok(is == (mask != NULL), "%s: %s -> %s %s", pointer, expected, got,
	   mask ? "suggests a mask" : "does not");
	is_str(buf_cstr(&out), mask ? mask : "", "%s", mask ? mask : "no hint");
	buf_release(&out);
}

static void values(void)
{
	check_hint("/state/x", "\"2026-11-22T04:36:27Z\"", "\"2026-11-22T05:00:00Z\"", "/state/x");
	check_hint("/state/x", "1795349509646", "1795349509674", "/state/x");
	check_hint("/state/x", "\"7d444840-9dc0-11d1-b245-5ffdce74fad2\"",
	           "\"1c0a4840-9dc0-11d1-b245-5ffdce74fad2\"", "/state/x");
	check_hint("/observation", "\"took 12 ms\"", "\"took 9 ms\"", "/observation");
	check_hint("/observation", "\"took 12 ms\"", "\"took 9 s\"", NULL);
	check_hint("/state/position", "4", "8", NULL);
	check_hint("/state/grid", "\"SFFF\"", "\"SFFH\"", NULL);
	check_hint("/outcome", "\"ok\"", "\"tool-error\"", NULL);
	check_hint("/state/x", "null", "12", NULL);
	check_hint("/state/x", "1795349509646", "4", NULL);
	check_hint("", "\"took 12 ms\"", "\"took 9 ms\"", NULL);
}

static void names(void)
{
	check_hint("/state/elapsed_ms", "12", "15", "/state/elapsed_ms");
	check_hint("/state/elapsedSeconds", "12", "15", "/state/elapsedSeconds");
	check_hint("/state/id", "12", "15", "/state/id");
	check_hint("/state/created-at", "12", "15", "/state/created-at");
	check_hint("/state/grid", "12", "15", NULL);
	check_hint("/state/status", "12", "15", NULL);
	check_hint("/time/position", "12", "15", NULL);
	check_hint("/state/time", "12", "\"late\"", NULL);
}

static void masks(void)
{
	check_hint("/observation/items/3/id", "12", "15", "/observation/items/*/id");
	check_hint("/observation/*/id", "12", "15", "/observation/~2/id");
	check_hint("/observation/a~1b/id", "12", "15", "/observation/a~1b/id");
}

int main(void)
{
	values();
	names();
	masks();

	struct difference lone = {.kind = DIFFERENCE_EXTRA_STEP};
	struct buf out = BUF(BUF_MAX_SMALL);
	ok(!mask_hint(&lone, &out), "an additional step is not a change");
	buf_release(&out);
	return done();
}
