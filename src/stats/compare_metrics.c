/* Compares metrics: see compare_metrics.h. */
#include "stats/compare_metrics.h"

#include <math.h>

/* ---- confidence intervals ---- */

#define EQUAL_MIN 5

/* Bisects until the bounds are adjacent doubles. `tail` must be decreasing. */
static double solve(double (*tail)(double x, double freedom), double freedom, double wanted)
{
	double low = 0, high = 1;

	while (tail(high, freedom) > wanted && high < 1e300) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (tail(middle, freedom) > wanted)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double normal_tails(double x, double freedom)
{
	return erfc(x / sqrt(2.0));
}

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double x, double a, double b)
{
	enum { ROUNDS = 10000 };
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int i = 1; i < ROUNDS; i++) {
		double m = i;
		const double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
		                        -(a + m) * (a + b + m) * x /
		                                ((a + 2 * m) * (a + 2 * m + 1))};
		double before = result;

		for (int k = 0; k < 2; k++) {
			d = 1 + terms[k] * d;
			c = 1 + terms[k] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			result *= c * d;
		}
		if (fabs(result - before) <= 1e-16 * fabs(result))
			break;
	}
	return result;
}

/* I_x(a, b); the fraction converges fast where x is below the mean. */
static double incomplete_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
	                                 : 1 - front * beta_fraction(1 - x, b, a) / b;
}

static double student_tails(double x, double freedom)
{
	return incomplete_beta(freedom / (freedom + x * x), freedom / 2, 0.5);
}

double interval_normal(double level)
{
	return solve(normal_tails, 0, 1 - level);
}

double interval_student(double level, double freedom)
{
	/* beyond this, the printed digits are the same */
	return freedom > 1e6 ? interval_normal(level) : solve(student_tails, freedom, 1 - level);
}

/* ---- one sample ---- */

struct estimate interval_of_rate(const struct samples *s, double level)
{
	struct estimate r = {.known = s->n > 0, .bounded = s->n > 0};
	double z = interval_normal(level), p, middle, half;

	if (!r.known)
		return r;
	p = s->sum / s->n;
	middle = (p + z * z / (2 * s->n)) / (1 + z * z / s->n);
	half = z * sqrt(p * (1 - p) / s->n + z * z / (4 * s->n * s->n)) / (1 + z * z / s->n);
	r.value = p;
	r.low = p <= 0 ? 0 : fmax(0, middle - half);
	r.high = p >= 1 ? 1 : fmin(1, middle + half);
	return r;
}

/* The sample variance; a residue of rounding, for equal samples, counts as 0. */
static double variance(const struct samples *s)
{
	double mean = s->sum / s->n, left = s->squares - s->sum * mean;

	return left <= 1e-12 * s->squares ? 0 : left / (s->n - 1);
}

struct estimate interval_of_mean(const struct samples *s, double level)
{
	struct estimate r = {.known = s->n > 0, .bounded = s->n > 1};

	if (!r.known)
		return r;
	r.value = r.low = r.high = s->sum / s->n;
	if (r.bounded) {
		double half = interval_student(level, s->n - 1) * sqrt(variance(s) / s->n);

		r.low -= half;
		r.high += half;
	}
	return r;
}

/* ---- two samples ---- */

struct estimate interval_of_rates(const struct samples *before, const struct samples *after,
                                  double level)
{
	struct estimate a = interval_of_rate(before, level), b = interval_of_rate(after, level);
	struct estimate r = {.known = a.known && b.known, .bounded = a.known && b.known};

	if (r.known) {
		r.value = b.value - a.value;
		r.low = r.value - hypot(b.value - b.low, a.high - a.value);
		r.high = r.value + hypot(b.high - b.value, a.value - a.low);
	}
	return r;
}

struct estimate interval_of_means(const struct samples *before, const struct samples *after,
                                  double level)
{
	struct estimate r = {.known = before->n > 0 && after->n > 0,
	                     .bounded = before->n > 1 && after->n > 1};

	if (!r.known)
		return r;
	r.value = r.low = r.high = after->sum / after->n - before->sum / before->n;
	if (!r.bounded)
		return r;
	double a = variance(before) / before->n, b = variance(after) / after->n;
	double both = a + b;
	/* a few equal samples are no evidence of zero variance */
	r.bounded = both > 0 || fmin(before->n, after->n) >= EQUAL_MIN;
	if (both > 0) {
		double freedom = both * both / (a * a / (before->n - 1) + b * b / (after->n - 1));
		double half = interval_student(level, freedom) * sqrt(both);

		r.low -= half;
		r.high += half;
	}
	return r;
}

/* ---- metrics ---- */

/* A rate is sum[numerator] / sum[denominator]; a mean also has the sum of squares. */
static const struct compared {
	const char *metric; /* the name in metric_table, if it is there */
	enum sum numerator, denominator, squares;
} table[] = {
	{"reward", SUM_REWARD, SUM_REWARDS, SUM_REWARD_SQUARES},
	{"reward_positive", SUM_REWARD_POSITIVE, SUM_REWARDS, SUM_NONE},
	{"has_error", SUM_LOST, SUM_ROLLOUTS, SUM_NONE},
	{"is_truncated", SUM_CUT_OFF, SUM_ROLLOUTS, SUM_NONE},
	{"num_turns/mean", SUM_TURNS, SUM_ROLLOUTS, SUM_TURN_SQUARES},
	{"num_steps/mean", SUM_STEPS, SUM_ROLLOUTS, SUM_STEP_SQUARES},
	{"tools/failure_frequency", SUM_CALLS_FAILED, SUM_CALLS, SUM_NONE},
	{"schema_accuracy", SUM_CALLS_FIT, SUM_CALLS_CHECKED, SUM_NONE},
	{"completions/clipped_ratio", SUM_CLIPPED, SUM_COMPLETIONS, SUM_NONE},
};
const size_t compared_metrics = ARRAY_LEN(table);
_Static_assert(ARRAY_LEN(table) <= COMPARED_MAX, "room for all");

const char *change_verdict_name(enum change_verdict v)
{
	static const char *const names[CHANGE_VERDICTS] = {
		[CHANGE_NOISE] = "noise",
		[CHANGE_MORE] = "more",
		[CHANGE_LESS] = "less",
		[CHANGE_UNKNOWN] = "unknown",
	};

	return names[v];
}

static struct samples samples_of(const struct compared *c, const struct metrics *m)
{
	return (struct samples){m->sum[c->denominator], m->sum[c->numerator], m->sum[c->squares]};
}

static enum change_verdict judge(const struct estimate *difference)
{
	if (!difference->bounded)
		return CHANGE_UNKNOWN;
	return difference->low > 0    ? CHANGE_MORE
	       : difference->high < 0 ? CHANGE_LESS
	                              : CHANGE_NOISE;
}

struct metric_change metric_compare(size_t metric, const struct metrics *before,
                                    const struct metrics *after, size_t comparisons)
{
	const struct compared *c = &table[metric];
	struct samples a = samples_of(c, before), b = samples_of(c, after);
	double level = 1 - (1 - COMPARE_LEVEL) / (comparisons ? (double)comparisons : 1);
	struct metric_change r = {.metric = c->metric,
	                          .rate = c->squares == SUM_NONE,
	                          .before_n = a.n,
	                          .after_n = b.n};

	if (r.rate) {
		r.before = interval_of_rate(&a, COMPARE_LEVEL);
		r.after = interval_of_rate(&b, COMPARE_LEVEL);
		r.difference = interval_of_rates(&a, &b, level);
	} else {
		r.before = interval_of_mean(&a, COMPARE_LEVEL);
		r.after = interval_of_mean(&b, COMPARE_LEVEL);
		r.difference = interval_of_means(&a, &b, level);
	}
	r.verdict = judge(&r.difference);
	return r;
}
