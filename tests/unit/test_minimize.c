/* Delta debugging: the result passes, none of its elements can be removed, and the search
   does not depend on the number of parallel tests. */
#include "compare/minimize.h"

#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>

#define LONGEST 40
#define ASKED   4000

/* A list passes if it has all needed elements, and an even number of the paired ones, which
   can only be removed two at a time. */
struct puzzle {
	bool needed[LONGEST], paired[LONGEST];
	size_t calls;
	uint64_t failed[ASKED]; /* lists as sets of bits */
	size_t failed_count;
	bool asked_again;
	size_t fail_at; /* the call that fails; 0: none */
};

static bool holds(const struct puzzle *p, const struct sublist *l)
{
	size_t paired = 0, needed = 0, wanted = 0;

	for (size_t i = 0; i < l->count; i++) {
		needed += p->needed[l->index[i]];
		paired += p->paired[l->index[i]];
	}
	for (size_t i = 0; i < LONGEST; i++)
		wanted += p->needed[i];
	return needed == wanted && paired % 2 == 0;
}

static uint64_t bits(const struct sublist *l)
{
	uint64_t set = 0;

	for (size_t i = 0; i < l->count; i++)
		set |= UINT64_C(1) << l->index[i];
	return set;
}

static int test(void *ctx, const struct sublist *lists, size_t count, bool *passes,
                struct error *err)
{
	struct puzzle *p = ctx;

	if (p->fail_at && ++p->calls == p->fail_at)
		return error_set(err, FAIL_SYSTEM, "no more");
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < p->failed_count; k++)
			p->asked_again |= p->failed[k] == bits(&lists[i]);
		passes[i] = holds(p, &lists[i]);
		if (!passes[i] && p->failed_count < ASKED)
			p->failed[p->failed_count++] = bits(&lists[i]);
	}
	return 0;
}

static struct minimized solve(struct puzzle *p, size_t count, size_t at_once, size_t max_tests,
                              int *result)
{
	struct minimize_conf conf = {
		.count = count, .at_once = at_once, .max_tests = max_tests, .test = test, .ctx = p};
	struct minimized out;
	struct error err = {0};

	p->failed_count = 0;
	*result = minimize(&conf, &out, &err);
	return out;
}

static bool is_one_minimal(const struct puzzle *p, const struct minimized *m)
{
	size_t rest[LONGEST];

	for (size_t without = 0; without < m->count; without++) {
		struct sublist l = {rest, 0};

		for (size_t i = 0; i < m->count; i++)
			if (i != without)
				rest[l.count++] = m->index[i];
		if (holds(p, &l))
			return false;
	}
	return true;
}

/* The size of the smallest list that passes. */
static size_t least(const struct puzzle *p)
{
	size_t needed = 0, paired = 0;

	for (size_t i = 0; i < LONGEST; i++) {
		needed += p->needed[i];
		paired += p->needed[i] && p->paired[i];
	}
	return needed + paired % 2;
}

static bool same(const struct minimized *a, const struct minimized *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->index, b->index, a->count * sizeof(*a->index)) == 0);
}

static void check_puzzles(void)
{
	struct rng rng;
	int wrong = 0, again = 0, uneven = 0, short_ones = 0, too_long = 0, result;

	rng_seed(&rng, 5, 0);
	for (int round = 0; round < 500; round++) {
		struct puzzle p = {.calls = 0};
		size_t count = rng_below(&rng, LONGEST) + 1, paired = 0;

		for (size_t i = 0; i < count; i++) {
			p.needed[i] = rng_below(&rng, 8) == 0;
			p.paired[i] = rng_below(&rng, 4) == 0;
			paired += p.paired[i];
		}
		for (size_t i = 0; i < count && paired % 2; i++) {
			paired -= p.paired[i];
			p.paired[i] = false;
		}
		struct minimized one = solve(&p, count, 1, ASKED, &result);
		struct minimized many = solve(&p, count, 7, ASKED, &result);
		struct sublist left = {one.index, one.count};

		wrong += result != 0 || !one.is_minimal || !holds(&p, &left) ||
		         !is_one_minimal(&p, &one);
		uneven += !same(&one, &many);
		short_ones += one.count <= 16;
		too_long += one.count <= 16 && one.count > least(&p);
		again += p.asked_again;
		free(one.index);
		free(many.index);
	}
	is_int(wrong, 0, "500 puzzles: the result passes, and no element can be spared");
	ok(short_ones > 400, "most of them are short in the end");
	is_int(too_long, 0, "then no pair can be spared either");
	is_int(uneven, 0, "seven parallel tests find the same");
	is_int(again, 0, "no list that failed is tested again");
}

static void check_ends(void)
{
	struct puzzle p = {.needed = {[3] = true, [20] = true, [39] = true}};
	int result;
	struct minimized m = solve(&p, LONGEST, 1, ASKED, &result);

	ok(m.count == 3 && m.index[0] == 3 && m.index[1] == 20 && m.index[2] == 39,
	   "three that are far apart");
	ok(m.tests < 80, "in few tests");
	free(m.index);
	m = solve(&p, LONGEST, 4, 6, &result);
	ok(result == 0 && !m.is_minimal && m.count > 3 && m.tests <= 6,
	   "a limit ends the search, and it is not called minimal");
	free(m.index);
	p = (struct puzzle){.calls = 0};
	m = solve(&p, LONGEST, 1, ASKED, &result);
	ok(m.count == 0 && m.is_minimal, "if nothing is needed, the result is empty");
	free(m.index);
	m = solve(&p, 0, 1, ASKED, &result);
	ok(m.count == 0 && m.tests == 0, "an empty list needs no tests");
	free(m.index);
	p.fail_at = 2;
	m = solve(&p, LONGEST, 1, ASKED, &result);
	ok(result == -1 && m.index != NULL, "a test that cannot be made ends it");
	free(m.index);
}

int main(void)
{
	check_puzzles();
	check_ends();
	return done();
}
