/* Follows one member's values: see changing_member.h. */
#include "facts/changing_member.h"

#include "facts/clocks.h"
#include "facts/echo.h"
#include "facts/number_pair.h"
#include "json/scan.h"

#include <math.h>

#define OFFSET_MAX     5000 /* milliseconds */
#define ELAPSED_MIN    5 /* milliseconds; over shorter intervals clocks cannot be distinguished */
#define ECHO_TEXTS_MIN 2
#define FINE           1e-4 /* resolution of a clock that differs at each reading */
#define COARSE         0.02 /* resolution in seconds */
#define FRACTION       1e-3
#define SECONDS_FINE   1.001e-3 /* resolution of a fine clock in seconds */
#define MICROSECOND    1e-6
#define FINE_MIN       5 /* changes of a clock with thousandths */
#define FINE_GROWN_MIN 8 /* milliseconds */
#define TIMING_MS      2 /* our own times are in whole milliseconds, at both ends */
#define DELAY_MS       4 /* usual delay between a reading and its time */

static bool is_close(double change, double elapsed, double unit, double quantum)
{
	return fabs(change - elapsed * unit) <= quantum + 0.05 * elapsed * unit + 0.005 * unit;
}

/* A clock in seconds with at least three decimals, even over intervals shorter than ELAPSED_MIN:
   other numbers with so many decimals rarely grow by so little at every reading. A reading that the
   server delayed is between its bounds, but not close to its time; see is_fine_clock(). Before the
   first call the bounds are unknown. */
static void take_fine_clock(struct changing_member *m, double change,
                            const struct interval *between)
{
	double ms = change * 1e3;
	bool close = false, bounded = between->most_ms >= 0, timed = bounded;

	for (size_t way = 0; way < 2; way++) {
		double elapsed = between->elapsed_ms[way];
		close = close || (elapsed >= 0 && fabs(ms - elapsed) <= DELAY_MS + 0.05 * elapsed);
		m->fine_elapsed[way] += bounded && elapsed >= 0 ? elapsed : 0;
		timed = timed || elapsed >= 0;
	}
	m->may_be_fine_clock =
		m->may_be_fine_clock && m->quantum <= SECONDS_FINE && change > 0 && timed &&
		(!bounded ||
	         (ms >= between->least_ms - TIMING_MS && ms <= between->most_ms + TIMING_MS));
	m->fine_close += close;
	m->fine_grown += bounded ? ms : 0;
}

static void take_coarse_clock(struct changing_member *m, double change,
                              const struct interval *between)
{
	double ms = fmax(between->elapsed_ms[0], between->elapsed_ms[1]);

	ms = fmax(ms, between->most_ms);
	if (m->changes == 0) {
		m->grown = 0;
		m->since_ms = between->now_ms - (int64_t)ms;
	}
	m->grown += change;
	m->may_be_coarse_clock =
		m->may_be_coarse_clock && change > 0 && ms >= 0 && m->quantum >= COARSE &&
		m->grown * 1e3 <= (double)(between->now_ms - m->since_ms) + 1.05e3 * m->quantum;
}

/* The units in which the change equals the elapsed time, as bits, once for each of the two ways
   of timing. */
static unsigned clock_fits(double change, const struct interval *between, double quantum)
{
	static const double a_ms[] = {1e-3, 1, 1e3, 1e6};
	unsigned fits = 0;

	for (size_t way = 0; way < 2; way++) {
		double elapsed = between->elapsed_ms[way];

		for (size_t u = 0; elapsed >= ELAPSED_MIN && u < ARRAY_LEN(a_ms); u++) {
			bool fit = is_close(change, elapsed, a_ms[u], quantum);
			fits |= (unsigned)fit << (4 * way + u);
		}
	}
	return fits;
}

bool changing_member_is_even(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(a);
}

static void take_number(struct changing_member *m, const struct number_pair *p,
                        const struct interval *between)
{
	double change = p->after - p->before;

	m->quantum = m->changes == 0 ? p->quantum : fmin(m->quantum, p->quantum);
	m->clock_fits &= change > 0 ? clock_fits(change, between, m->quantum) : 0;
	take_fine_clock(m, change, between);
	take_coarse_clock(m, change, between);
	m->largest = fmax(m->largest, change);
	m->even = m->changes == 0 || (m->even && changing_member_is_even(change, m->delta));
	m->in_text = m->in_text || p->text;
	m->delta = m->changes == 0 ? change : m->delta;
}

static bool is_separator(char c)
{
	return c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' || c == ' ' ||
	       c == '"';
}

/* Do the arguments contain the value, or a text that consists of its words: "HAT1" in
   {"command":"book:HAT1"}? */
static bool is_in(struct str arguments, struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : value;

	for (size_t i = 1; text.n && i + text.n < arguments.n; i++) {
		if (memcmp(arguments.p + i, text.p, text.n) == 0 &&
		    is_separator(arguments.p[i - 1]) && is_separator(arguments.p[i + text.n])) {
			return true;
		}
	}
	return false;
}

/* Not set yet: null, 0 or "". */
static bool is_blank(struct str value)
{
	return json_is_null(value) || str_is(value, "0") || str_is(value, "0.0") ||
	       str_is(value, "\"\"");
}

/* The current time keeps a constant offset to our clock; a simulated time that starts at the
   present does not. */
static bool keeps_offset(struct changing_member *m, struct str value,
                         const struct interval *between)
{
	int64_t ms;

	if (between->now_ms < 0 || !clocks_time(value, between->now_ms, &ms)) {
		return between->now_ms < 0;
	}
	int64_t offset = ms - between->now_ms;
	m->offset_ms = m->has_offset ? m->offset_ms : offset;
	m->has_offset = true;
	return offset - m->offset_ms < OFFSET_MAX && m->offset_ms - offset < OFFSET_MAX;
}

/* Determines the offset of the first value to our clock when it was read. */
static void take_offset(struct changing_member *m, struct str value, const struct interval *between)
{
	double elapsed = fmax(between->elapsed_ms[0], between->elapsed_ms[1]);
	int64_t ms;

	if (between->now_ms >= 0 && clocks_time(value, between->now_ms, &ms)) {
		m->offset_ms = ms - (between->now_ms - (elapsed > 0 ? (int64_t)elapsed : 0));
		m->has_offset = true;
	}
}

static void add_text(struct changing_member *m, struct str before, struct str after,
                     const struct interval *between)
{
	bool first = m->changes == 0 && !between->previous_arguments.n;

	if (json_type(after) != JSON_STRING) {
		m->is_other_text = true;
	}
	if (m->is_other_text || first || !between->called) {
		return;
	}
	bool echo = echo_differs_only(&(struct echo){before, between->previous_arguments},
	                              &(struct echo){after, between->newest_arguments});
	m->echo_texts += echo;
	m->is_other_text = !echo;
}

void changing_member_take(struct changing_member *m, struct str before, struct str after,
                          const struct interval *between)
{
	struct number_pair p;

	if (m->changes == 0) {
		m->was_blank = is_blank(before);
		m->is_now = m->was_blank || clocks_is_now(before, between->now_ms);
		m->is_new_id = m->was_blank || clocks_is_uuid(before);
		m->clock_fits = ~0u;
		m->may_be_fine_clock = true;
		m->may_be_coarse_clock = between->now_ms >= 0;
		m->is_echo = m->pointer.n > 0; /* the value as a whole is never an echo */
		if (m->is_now && !m->was_blank) {
			take_offset(m, before, between);
		}
	}
	m->is_now = m->is_now && clocks_is_now(after, between->now_ms) &&
	            keeps_offset(m, after, between);
	bool fresh = fresh_ids_take(&m->values, before, after);
	m->is_new_id = m->is_new_id && fresh && clocks_is_uuid(after);
	m->is_fresh =
		(m->is_fresh || m->changes == 0) && fresh && fresh_ids_differ_only(before, after);
	m->is_echo = m->is_echo && is_in(between->arguments, after);
	add_text(m, before, after, between);
	m->without_call = m->without_call || !between->called;
	if (number_pair_read(before, after, &p)) {
		take_number(m, &p, between);
	} else {
		m->is_other = true;
		m->clock_fits = 0;
		m->may_be_fine_clock = m->may_be_coarse_clock = false;
		m->even = false;
	}
	m->changes++;
}

void changing_member_confirm_clock(struct changing_member *m, struct str before, struct str after)
{
	struct number_pair p;

	if (m->may_be_coarse_clock && number_pair_read(before, after, &p) && p.after > p.before) {
		m->without_call = true;
	}
}

/* With thousandths, the sum of all changes must match, too: a number that calls change evenly is a
   simulated time. */
static bool is_fine_clock(const struct changing_member *m)
{
	bool sums = false;

	for (size_t way = 0; way < 2; way++) {
		double elapsed = m->fine_elapsed[way];
		sums = sums || fabs(m->fine_grown - elapsed) <= DELAY_MS + 0.1 * elapsed;
	}
	return m->may_be_fine_clock && 2 * m->fine_close >= m->changes &&
	       (m->quantum <= MICROSECOND ||
	        (sums && !m->even && m->changes >= FINE_MIN && m->fine_grown >= FINE_GROWN_MIN));
}

static bool is_clock(const struct changing_member *m)
{
	bool coarse = m->quantum > FINE, even = m->even && !m->in_text;

	if (m->changes < 3) {
		return false;
	}
	return (m->clock_fits && (!coarse || (m->largest >= 3 * m->quantum && !even))) ||
	       is_fine_clock(m);
}

bool changing_member_may_be_echo_text(const struct changing_member *m)
{
	return !m->is_other_text;
}

bool changing_member_is_echo_text(const struct changing_member *m)
{
	return !m->is_other_text && m->echo_texts >= ECHO_TEXTS_MIN;
}

bool changing_member_is_counter(const struct changing_member *m, int64_t readings)
{
	return m->even && m->delta != 0 && m->changes == readings;
}

bool changing_member_is_fraction(const struct changing_member *m)
{
	return m->changes > 0 && !m->is_other && !m->in_text && m->quantum <= FRACTION;
}

bool changing_member_is_volatile(const struct changing_member *m)
{
	return m->without_call || (m->is_now && !m->was_blank) || is_clock(m);
}

bool changing_member_may_be_volatile(const struct changing_member *m)
{
	return changing_member_is_volatile(m) || m->clock_fits || m->may_be_fine_clock ||
	       m->may_be_coarse_clock || m->is_now || m->is_new_id;
}
