/* Sums without rounding errors, and intervals, compared with published values. */
#include "base/exact.h"
#include "base/rng.h"
#include "stats/compare_metrics.h"
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

static void near(double got, double want, double by, const char *what)
{
	ok(fabs(got - want) <= by, "%s: %.8g, expected %.8g", what, got, want);
}

static void test_intervals(void)
{
	/* tables of the normal and of Student's distribution */
	near(interval_normal(0.95), 1.959963985, 1e-8, "normal");
	near(interval_student(0.95, 9), 2.262157163, 1e-8, "t, 9 degrees");
	near(interval_student(0.95, 1), 12.70620474, 1e-6, "t, 1 degree");
	near(interval_student(0.999, 3), 12.92397864, 1e-6, "t, 3 degrees");
	near(interval_student(0.95, 1e5), 1.95998771, 1e-6, "t, many degrees");
	/* 81 of 263: Newcombe, Statistics in Medicine 17 (1998), page 857, table I */
	struct estimate e = interval_of_rate(&(struct samples){263, 81, 81}, 0.95);
	near(e.low, 0.2553, 5e-5, "Wilson, below");
	near(e.high, 0.3662, 5e-5, "Wilson, above");
	e = interval_of_rate(&(struct samples){29, 0, 0}, 0.95);
	near(e.low, 0, 0, "Wilson, none of 29");
	near(e.high, 0.1170, 5e-5, "Wilson, none of 29, above");
	/* 56/70 and 48/80: the same volume, page 873, table II, method 10 */
	e = interval_of_rates(&(struct samples){80, 48, 48}, &(struct samples){70, 56, 56}, 0.95);
	near(e.low, 0.0524, 5e-5, "difference of rates, below");
	near(e.high, 0.3339, 5e-5, "difference of rates, above");
}

/* Student's sleep data: t.test(extra ~ group) of R. */
static void test_means(void)
{
	static const double first[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2};
	static const double second[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	struct samples a = {10, 0, 0}, b = {10, 0, 0};

	for (int i = 0; i < 10; i++) {
		a.sum += first[i];
		a.squares += first[i] * first[i];
		b.sum += second[i];
		b.squares += second[i] * second[i];
	}
	struct estimate e = interval_of_means(&a, &b, 0.95);
	near(e.value, 1.58, 1e-12, "difference of means");
	near(e.low, -0.2054832, 1e-7, "Welch, below");
	near(e.high, 3.3654832, 1e-7, "Welch, above");
	e = interval_of_mean(&(struct samples){1, 3, 9}, 0.95);
	ok(e.known && !e.bounded && e.value == 3, "one sample has no interval");
	e = interval_of_means(&(struct samples){2, 0, 0}, &(struct samples){2, 2, 2}, 0.95);
	ok(e.known && !e.bounded, "two equal samples give no bounds for the variance");
	e = interval_of_means(&(struct samples){5, 0, 0}, &(struct samples){5, 5, 5}, 0.95);
	ok(e.bounded && e.low == 1 && e.high == 1, "five do");
	ok(!interval_of_rate(&(struct samples){0, 0, 0}, 0.95).known, "no samples: unknown");
}

static void test_verdicts(void)
{
	struct metrics before = {.known = {false}}, after = {.known = {false}};

	before.sum[SUM_REWARDS] = before.sum[SUM_ROLLOUTS] = 40;
	after.sum[SUM_REWARDS] = after.sum[SUM_ROLLOUTS] = 40;
	before.sum[SUM_REWARD] = before.sum[SUM_REWARD_SQUARES] = 10;
	after.sum[SUM_REWARD] = after.sum[SUM_REWARD_SQUARES] = 22;
	is_int(metric_compare(0, &before, &after, 1).verdict, CHANGE_MORE, "more");
	is_int(metric_compare(0, &after, &before, 1).verdict, CHANGE_LESS, "less");
	is_int(metric_compare(0, &before, &before, 1).verdict, CHANGE_NOISE, "noise");
	is_int(metric_compare(0, &before, &after, 1000).verdict, CHANGE_NOISE,
	       "one among a thousand comparisons needs more");
}

int main(void)
{
	test_order();
	test_rounding();
	test_spread();
	test_intervals();
	test_means();
	test_verdicts();
	return done();
}
