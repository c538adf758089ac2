/* Numbers: exact integers in every spelling, the nearest double, and the shortest decimal.
   */
#include "json/scan.h"
#include "json/write.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void integers(void)
{
	static const struct {
		const char *token;
		int64_t want;
	} exact[] = {
		{"0", 0},
		{"-0", 0},
		{"7", 7},
		{"-12", -12},
		{"1.0", 1},
		{"1.000000000000000000000000000000", 1},
		{"1e2", 100},
		{"1E+2", 100},
		{"1.5e1", 15},
		{"1500e-2", 15},
		{"-0.0015e4", -15},
		{"0e99999999999999999999999", 0},
		{"0.000e-99999999999999999999999", 0},
		{"9223372036854775807", INT64_MAX},
		{"9223372036854775807.0", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
		{"-922337203685477580.8e1", INT64_MIN},
		{"9007199254740993", INT64_C(9007199254740993)},
		{"10000000000000000000000e-10", INT64_C(1000000000000)},
	};
	static const char *const none[] = {
		"1.5",
		"1e-1",
		"9223372036854775808",
		"-9223372036854775809",
		"1e19",
		"1e400",
		"1e-400",
		"99999999999999999999999",
		"0.1e0",
		"true",
		"\"1\"",
		"[1]",
		"1e99999999999999999999",
		"18446744073709551616",
	};
	int64_t v;

	for (size_t i = 0; i < ARRAY_LEN(exact); i++) {
		v = 42;
		ok(json_i64(str_from(exact[i].token), &v) && v == exact[i].want, "integer %s",
		   exact[i].token);
	}
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		v = 42;
		ok(!json_i64(str_from(none[i]), &v) && v == 42, "no integer %s", none[i]);
	}
	ok(!json_i64(STR_NONE, &v), "absent is not an integer");
}

static bool same(double a, double b)
{
	return a == b && signbit(a) == signbit(b);
}

static void doubles(void)
{
	static const struct {
		const char *token;
		double want;
	} rows[] = {
		{"0", 0.0},
		{"-0", -0.0},
		{"-0.0e5", -0.0},
		{"1", 1.0},
		{"-1.5", -1.5},
		{"0.1", 0.1},
		{"0.30000000000000004", 0.1 + 0.2},
		{"1e22", 1e22},
		{"1e23", 1e23},
		{"123456789012345678", 123456789012345678.0},
		{"9007199254740993", 9007199254740992.0},
		{"1.7976931348623157e308", DBL_MAX},
		{"2.2250738585072014e-308", DBL_MIN},
		{"5e-324", 5e-324},
		{"1e-400", 0.0},
		{"3."
	         "1415926535897932384626433832795028841971693993751058209749445923078164"
	         "0",
	         3.141592653589793},
		{"1000000000000000000000000000000000000000000000000000000000000000000000e"
	         "-69",
	         1.0},
	};
	double v = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		ok(json_double(str_from(rows[i].token), &v) && same(v, rows[i].want), "double %s",
		   rows[i].token);
	}
	ok(!json_double(STR("1e400"), &v) && !json_double(STR("-1e400"), &v), "too large");
	ok(!json_double(STR("null"), &v) && !json_double(STR_NONE, &v), "no number");
}

static const char *written(struct buf *b, double v)
{
	struct json_writer w;

	buf_clear(b);
	jw_init(&w, b);
	jw_double(&w, v);
	return buf_cstr(b);
}

static void shortest(void)
{
	static const struct {
		double v;
		const char *want;
	} rows[] = {
		{0.0, "0"},
		{-0.0, "-0"},
		{1.0, "1"},
		{0.1, "0.1"},
		{0.1 + 0.2, "0.30000000000000004"},
		{100.0, "100"},
		{1e22, "1e+22"},
		{9007199254740993.0, "9007199254740992"},
		{1.0 / 3, "0.3333333333333333"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{DBL_MIN, "2.2250738585072014e-308"},
		{5e-324, "5e-324"},
		{-1.5e-320, "-1.5e-320"},
		{HUGE_VAL, "null"},
		{-HUGE_VAL, "null"},
		{(double)NAN, "null"},
	};
	struct buf b = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		is_str(written(&b, rows[i].v), rows[i].want, "shortest %s", rows[i].want);
	buf_release(&b);
}

/* Bit patterns from a linear congruential generator, which cover every exponent. */
static void round_trips(void)
{
	struct buf b = BUF(BUF_MAX_SMALL);
	uint64_t bits = 1;
	int bad = 0;

	for (int i = 0; i < 20000; i++) {
		double v, back, slow;

		bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		struct json_fault fault;
		const char *text = written(&b, v);
		slow = strtod(text, NULL);
		bad += json_validate(buf_view(&b), &fault) != 0 ||
		       !json_double(buf_view(&b), &back) || !same(back, v) || !same(slow, v);
		/* short decimals take the exact path */
		v = (double)(bits >> 44) / 1000;
		text = written(&b, v);
		bad += !json_double(str_from(text), &back) || !same(back, v);
	}
	is_int(bad, 0, "doubles survive a round trip");
	buf_release(&b);
}

/* Digits that were not scanned before: an exponent of such bytes overflowed once. */
static void unvalidated(void)
{
	static const char *const wrong[] = {"",   "1x", "x",     "-",
	                                    "1e", "01", "1e400", "000-00006953!!!!!!!!!!!!!!22710"};
	double v = 0;

	ok(json_double_text(STR("-1.5e3"), &v) && same(v, -1500), "a number");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(!json_double_text(str_from(wrong[i]), &v), "not a number: '%s'", wrong[i]);
}

int main(void)
{
	integers();
	doubles();
	unvalidated();
	shortest();
	round_trips();
	return done();
}
