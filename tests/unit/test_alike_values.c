/* Values that differ only in bytes: generated ids in texts, different spellings of numbers
   and lists; and rollouts that begin where the previous one ended. */
#include "evidence/fresh_ids.h"
#include "evidence/respelled.h"
#include "evidence/succession.h"
#include "tap.h"

struct pair {
	const char *a, *b;
	bool same;
};

static const struct pair texts[] = {
	{"\"request 8f3a12bc failed\"", "\"request 17e0c9d4 failed\"", true},
	{"\"<input value=3QxJ9a0PfLmT2vWz>\"", "\"<input value=kD81mzQ0nRb7TyU4>\"", true},
	{"\"[15:28:30,123] WARN pool\"", "\"[15:28:30,975] WARN pool\"", true},
	{"\"2026-11-22 15:28:30,123 idle\"", "\"2026-11-22 15:28:31,007 idle\"", true},
	{"\"2f5d1c60-3c5e-4d7b-9a11-0f6a1b2c3d4e\"", "\"9b0c7e11-5a42-4f00-8d21-77aa0b1c2d3e\"",
         true},
	{"\"22 Nov 2026 15:28:30 idle\"", "\"22 Nov 2026 15:28:31 idle\"", true},
	{"\"22/Nov/2026:15:28:30 +0000\"", "\"22/Nov/2026:15:28:31 +0000\"", true},
	{"\"12 Mar 1920 10:00:00\"", "\"12 Mar 1920 11:00:00\"", false},
	{"\"floor 3\"", "\"floor 4\"", false},
	{"\"It is 10:00:00.\"", "\"It is 11:00:00.\"", false},
	{"\"8/8/8/K7/8/8/8/k7 w - - 0 1\"", "\"8/8/8/1K6/8/8/8/k7 w - - 0 1\"", false},
	{"\"8/8/8/1K6/8/8/8/k7 w - - 0 1\"", "\"8/8/8/2K5/8/8/8/k7 w - - 0 1\"", false},
	{"\"corridor-north-west\"", "\"basement-south-east\"", false},
	{"\"GatewayTimeouts\"", "\"ServiceOverload\"", false},
	{"\"eJxjZGQcBaNgFIwCegAA\"", "\"eJxjYmIcBaNgFIwCegAB\"", false},
	{"1763825310", "1763825311", false},
	{"\"ten\"", "10", false},
};

static const struct pair numbers[] = {
	{"0.0", "-0.0", true},
	{"1", "1.0", true},
	{"0.3", "0.30000000000000004", true},
	{"1e3", "1000", true},
	{"0.1", "0.100000001", false},
	{"1152921504606846976", "1152921504606846977", false},
	{"0", "1", false},
	{"0.0", "1e-12", false},
	{"\"0\"", "0", false},
};

static const struct pair lists[] = {
	{"[\"a\",\"b\",\"c\"]", "[\"c\",\"a\",\"b\"]", true},
	{"[1,1,2]", "[1,2,1]", true},
	{"[1,1,2]", "[1,2,2]", false},
	{"[1,2]", "[1,2,2]", false},
	{"[]", "{}", false},
};

static void test_fresh(void)
{
	struct fresh_ids f = {0};

	ok(fresh_ids_take(&f, STR("a"), STR("b")), "a new value");
	ok(fresh_ids_take(&f, STR("b"), STR("c")), "a new id");
	ok(!fresh_ids_take(&f, STR("c"), STR("b")), "an id that was used before");
	ok(!fresh_ids_take(&f, STR("b"), STR("a")), "the first one");
}

static void run(struct succession *s, const char *from, const char *to, int64_t want)
{
	is_int(succession_begin(s, str_from(from), true), want, "from %s to %s", from, to);
	succession_end(s, str_from(to), 1);
}

static void test_succession(void)
{
	struct succession s = {0}, back = {0}, joined = {0};

	run(&s, "a", "b", 0);
	run(&s, "b", "c", 1);
	run(&s, "c", "d", 2);
	run(&s, "d", "d", 3);
	run(&s, "d", "e", 0);
	run(&s, "e", "f", 0);

	run(&back, "a", "b", 0);
	run(&back, "b", "a", 1);
	run(&back, "a", "b", 0);

	run(&joined, "a", "b", 0);
	is_int(succession_begin(&joined, STR("b"), false), 0, "others were open");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const struct pair *p = &texts[i];
		ok(fresh_ids_differ_only(str_from(p->a), str_from(p->b)) == p->same, "%s %s", p->a,
		   p->b);
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const struct pair *p = &numbers[i];
		ok(respelled_number(str_from(p->a), str_from(p->b)) == p->same, "%s %s", p->a,
		   p->b);
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct pair *p = &lists[i];
		ok(respelled_order(str_from(p->a), str_from(p->b)) == p->same, "%s %s", p->a, p->b);
	}
	test_fresh();
	test_succession();
	return done();
}
