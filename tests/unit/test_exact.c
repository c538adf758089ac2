/* Sums without rounding errors. */
#include "base/exact.h"
#include "base/rng.h"
#include "tap.h"

#include <math.h>

#define NUMBERS 500

static double any(struct rng *rng)
{
	return ldexp(rng_unit(rng) - 0.5, (int)rng_below(rng, 120) - 60);
}

static void test_order(void)
{
	double numbers[NUMBERS], parts[2][EXACT_PARTS];
	struct exact_sum forth = {.count = 0}, back = {.count = 0}, halves[2] = {{.count = 0}};
	struct rng rng;

	rng_seed(&rng, 7, 1);
	for (int i = 0; i < NUMBERS; i++) {
		numbers[i] = any(&rng);
		exact_add(&forth, numbers[i]);
		exact_add(&halves[i % 2], numbers[i]);
	}
	for (int i = NUMBERS; i-- > 0;)
		exact_add(&back, numbers[i]);
	exact_merge(&halves[0], &halves[1]);
	ok(exact_value(&forth) == exact_value(&back), "the order does not matter");
	ok(exact_value(&forth) == exact_value(&halves[0]), "nor does the division");
	int n = exact_parts(&forth, parts[0]);
	is_int(exact_parts(&halves[0], parts[1]), n, "as many parts");
	ok(!memcmp(parts[0], parts[1], (size_t)n * sizeof(double)), "and the same");
	for (int i = 0; i < NUMBERS; i++)
		exact_add(&forth, -numbers[i]);
	ok(exact_value(&forth) == 0 && !signbit(exact_value(&forth)), "and no precision is lost");
}

static void test_rounding(void)
{
	struct exact_sum s = {.count = 0};

	for (int i = 0; i < 10; i++)
		exact_add(&s, 0.1);
	ok(exact_value(&s) == 1.0, "ten tenths are one");
	s = (struct exact_sum){.count = 0};
	exact_add(&s, 1e16);
	exact_add(&s, 1);
	ok(exact_value(&s) == 1e16, "a tie is rounded to even");
	exact_add(&s, 1e-30);
	ok(exact_value(&s) == 1e16 + 2, "but not with a bit on top");
	exact_add(&s, -2e-30);
	ok(exact_value(&s) == 1e16, "nor below");
	exact_add(&s, INFINITY);
	ok(isinf(exact_value(&s)), "infinity stays infinity");
}

static void test_spread(void)
{
	struct exact_sum sum = {.count = 0}, squares = {.count = 0};

	for (int i = 0; i < 7; i++) {
		exact_add(&sum, 1e6 + 0.1);
		exact_add_product(&squares, 1e6 + 0.1, 1e6 + 0.1);
	}
	ok(exact_spread(7, &sum, &squares) == 0, "equal numbers have no spread");
}

int main(void)
{
	test_order();
	test_rounding();
	test_spread();
	return done();
}
