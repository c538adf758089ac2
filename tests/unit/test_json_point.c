/* JSON Pointer: its vectors, and that the scratch buffer may contain the text itself. */
#include "guard.h"
#include "json/scan.h"
#include "json_cases.h"
#include "tap.h"

static void vectors(void)
{
	struct guard g = guard_new(1 << 12);
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct cases c;

	cases_open(&c, "tests/vectors/json_point.test");
	while (cases_next(&c)) {
		struct str found = json_point(guard_put(&g, c.field[1]), c.field[0], &scratch);

		ok(found.p ? str_eq(found, c.field[2]) : str_is(c.field[2], "-"), "line %d: %.*s",
		   c.number, STR_ARG(c.field[0]));
	}
	cases_close(&c);
	buf_release(&scratch);
	guard_free(&g);
}

int main(void)
{
	struct buf scratch = BUF(BUF_MAX_SMALL), none = BUF(2);

	vectors();
	struct str found =
		json_point(STR("{\"a\":\"{\\\"b\\\":\\\"[[1],2]\\\"}\"}"), STR("/a/b"), &scratch);
	ok(str_is(found, "\"[[1],2]\""), "a string in scratch");
	found = json_point(found, STR("/0"), &scratch);
	ok(str_is(found, "[1]"), "and a member of it");
	found = json_point(found, STR("/0"), &scratch);
	ok(str_is(found, "1"), "and deeper");
	ok(!json_point(STR_NONE, STR("/a"), &scratch).p, "no value in an absent one");
	ok(!json_point(STR_NONE, STR(""), &scratch).p, "an absent value");
	ok(!json_point(STR("{\"a\":\"[1,2,3]\"}"), STR("/a/0"), &none).p,
	   "scratch keeps to its cap");
	buf_release(&scratch);
	buf_release(&none);
	return done();
}
