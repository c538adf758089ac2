/* The number that differs between two readings, as a JSON number or within a text. */
#include "evidence/number_pair.h"

#include "tap.h"

#include <math.h>

static const struct {
	const char *before, *after;
	bool found;
	double from, to, quantum;
} rows[] = {
	{"1", "4", true, 1, 4, 1},
	{"1.5", "4.25", true, 1.5, 4.25, 0.01},
	{"-1", "2.0", true, -1, 2, 0.1},
	{"1e3", "2", true, 1000, 2, 0},
	{"\"0.12s\"", "\"3.5s\"", true, 0.12, 3.5, 0.01},
	{"\"updated 9 seconds ago\"", "\"updated 10 seconds ago\"", true, 9, 10, 1},
	{"\"0:00:59.5\"", "\"0:01:01.5\"", true, 59.5, 61.5, 0.1},
	{"\"1 of 12\"", "\"1 of 13\"", true, 12, 13, 1},
	{"\"PT3.2S\"", "\"PT3.9S\"", true, 3.2, 3.9, 0.1},
	{"\"1 of 2\"", "\"2 of 3\"", false, 0, 0, 0},        /* two numbers differ */
	{"\"hall\"", "\"hill\"", false, 0, 0, 0},            /* no number differs */
	{"\"lamp 3\"", "\"lamp\"", false, 0, 0, 0},          /* one has none */
	{"\"1.2.3\"", "\"1.2.4\"", false, 0, 0, 0},          /* a version */
	{"\"1\"", "2", false, 0, 0, 0},                      /* different types */
	{"\"a1\"", "\"a1234567890123456\"", false, 0, 0, 0}, /* more digits than a double holds */
	{"true", "false", false, 0, 0, 0},
	{"\"\"", "\"\"", false, 0, 0, 0},
};

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct number_pair p;
		bool found =
			number_pair_read(str_from(rows[i].before), str_from(rows[i].after), &p);

		ok(found == rows[i].found, "%s, %s: %s", rows[i].before, rows[i].after,
		   rows[i].found ? "a number differs" : "no number does");
		ok(!found || (near(p.before, rows[i].from) && near(p.after, rows[i].to) &&
		              near(p.quantum, rows[i].quantum)),
		   "  from %g to %g, quantum %g", p.before, p.after, p.quantum);
	}
	return done();
}
