/* Numbers whose changes depend on the call: see call_changes.h. */
#include "facts/call_changes.h"

#include <math.h>

/* minimum ratio of the gap between different calls to the spread of equal ones */
#define CLEAR      10
#define CLEAR_ONCE 30 /* the same if calls that were sent once are included */
/* minimum number of times that one of the calls was sent then */
#define KNOWN_MIN   3
#define CLEAR_TWICE 300 /* the same if it was sent twice, and the changes have both signs */
/* Of a gap in the sizes of changes: minimum ratio of one number, and of each of two; minimum
   number of changes on one side, if both are needed; minimum number of all changes, which may be
   one fewer with the wide gap. */
#define WIDE      100
#define GAP       30
#define SIDE_MIN  2
#define SIZES_MIN 4
/* maximum difference from the same multiple of the arguments, in terms of the largest change */
#define ALIKE 0.01
#define APART 0.2 /* minimum difference between different arguments */
/* Of changes that are always nearly the same: maximum spread, in terms of the smallest. */
#define STEADY 0.03
/* Changes much larger than those without a call: minimum ratio, and number of calls. */
#define BEYOND     30
#define BEYOND_MIN 3
/* A clock grows by 1e-3, 1, 1e3 or 1e6 a millisecond, or by this many times more or less. */
#define CLOCK_PACE 1.5

static struct call_changed_number *number_at(struct call_changes *c, struct arena *a,
                                             struct str pointer)
{
	for (size_t i = 0; i < c->count; i++) {
		if (str_eq(c->numbers[i].pointer, pointer)) {
			return &c->numbers[i];
		}
	}
	if (c->count == CALL_CHANGES_NUMBERS) {
		return NULL;
	}
	c->numbers = arena_grow(a, c->numbers, c->count, sizeof(*c->numbers));
	c->numbers[c->count].pointer = arena_str(a, pointer);
	return &c->numbers[c->count++];
}

void call_changes_uncalled(struct call_changes *c, struct arena *a,
                           const struct uncalled_change *is)
{
	if (c->uncalled_count < CALL_CHANGES_UNCALLED) {
		c->uncalled = arena_grow(a, c->uncalled, c->uncalled_count, sizeof(*c->uncalled));
		c->uncalled[c->uncalled_count++] =
			(struct uncalled_change){arena_str(a, is->pointer), is->range};
	}
}

void call_changes_called(struct call_changes *c)
{
	c->calls++;
}

void call_changes_take(struct call_changes *c, struct arena *a, struct str pointer,
                       const struct called_change *is)
{
	struct call_changed_number *n = number_at(c, a, pointer);

	if (!n || n->count == CALL_CHANGES_EACH) {
		return;
	}
	n->changes = arena_grow(a, n->changes, n->count, sizeof(*n->changes));
	n->changes[n->count] = *is;
	n->changes[n->count++].at = c->calls;
	n->quantum = fmax(n->quantum, is->quantum);
}

/* ---- equal and different calls ---- */

/* All changes over one call. */
struct change_range {
	size_t count;
	double least, most;
};

static struct change_range range_of(const struct call_changed_number *n, uint64_t call)
{
	struct change_range r = {0, INFINITY, -INFINITY};

	for (size_t i = 0; i < n->count; i++) {
		if (n->changes[i].call == call) {
			r.count++;
			r.least = fmin(r.least, n->changes[i].change);
			r.most = fmax(r.most, n->changes[i].change);
		}
	}
	return r;
}

static double gap_between(struct change_range a, struct change_range b)
{
	return fmax(a.least - b.most, b.least - a.most);
}

/* Do the calls that were sent at least `times` times differ clearly in their changes: by `clear`
   times the spread between equal calls? */
static bool depends(const struct call_changed_number *n, size_t times, double clear)
{
	/* changes below the resolution look equal by chance */
	double spread = n->quantum, gap = INFINITY;

	for (size_t i = 0; i < n->count; i++) {
		struct change_range a = range_of(n, n->changes[i].call);

		spread = fmax(spread, a.most - a.least);
		for (size_t k = 0; k < i && a.count >= times; k++) {
			struct change_range b = range_of(n, n->changes[k].call);

			if (n->changes[k].call != n->changes[i].call && b.count >= times) {
				gap = fmin(gap, gap_between(a, b));
			}
		}
	}
	return isfinite(gap) && gap > 0 && gap >= clear * spread;
}

static bool has_both_signs(const struct call_changed_number *n)
{
	bool grows = false, falls = false;

	for (size_t i = 0; i < n->count; i++) {
		grows = grows || n->changes[i].change > 0;
		falls = falls || n->changes[i].change < 0;
	}
	return grows && falls;
}

/* Was one call repeated often enough to know its effect and tell it from calls sent once? */
static bool is_clear_once(const struct call_changed_number *n)
{
	size_t most = 0;

	for (size_t i = 0; i < n->count; i++) {
		size_t sent = range_of(n, n->changes[i].call).count;
		most = sent > most ? sent : most;
	}
	return most >= KNOWN_MIN ? depends(n, 1, CLEAR_ONCE)
	                         : most > 1 && has_both_signs(n) && depends(n, 1, CLEAR_TWICE);
}

/* ---- large and small changes ---- */

/* The changes of one number, without their signs, in ascending order; 0 for calls that did not
   change it. */
struct sizes {
	double of[CALL_CHANGES_EACH];
	size_t count;
	const struct called_change *largest;
};

static struct sizes sizes_of(const struct call_changed_number *n, size_t calls)
{
	size_t still = calls <= CALL_CHANGES_EACH && calls > n->count ? calls - n->count : 0;
	struct sizes s = {.count = still};

	for (size_t i = 0; i < n->count; i++) {
		double size = fabs(n->changes[i].change);
		size_t k = s.count++;

		s.largest = k == 0 || size >= s.of[k - 1] ? &n->changes[i] : s.largest;
		for (; k > 0 && s.of[k - 1] > size; k--) {
			s.of[k] = s.of[k - 1];
		}
		s.of[k] = size;
	}
	return s;
}

/* Is there a gap of that ratio, with at least `above` sizes above and two below? */
static bool has_gap(const struct sizes *s, double quantum, size_t above, double ratio)
{
	for (size_t i = SIDE_MIN; i + above <= s->count; i++) {
		if (s->of[i] >= ratio * fmax(s->of[i - 1], quantum)) {
			return true;
		}
	}
	return false;
}

/* A value that jumps and comes back changes greatly twice. */
static bool is_shifted(const struct call_changed_number *n, size_t calls)
{
	struct sizes s = sizes_of(n, calls);

	return n->count >= SIZES_MIN && s.largest->at > 1 && s.largest->at < calls &&
	       s.of[s.count - 1] >= WIDE * s.of[s.count - 2];
}

/* A spike is two large changes, one after the other, that cancel out. */
static bool is_spike(const struct call_changed_number *n, const struct sizes *s)
{
	double floor = s->count > SIDE_MIN ? s->of[s->count - SIDE_MIN] : 0;
	double sum = 0;
	size_t first = SIZE_MAX, last = 0;

	for (size_t i = 0; i < n->count; i++) {
		if (fabs(n->changes[i].change) >= floor) {
			first = n->changes[i].at < first ? n->changes[i].at : first;
			last = n->changes[i].at;
			sum += n->changes[i].change;
		}
	}
	return last == first + 1 && fabs(sum) * GAP < floor;
}

static bool is_split(const struct call_changed_number *n, size_t calls)
{
	struct sizes s = sizes_of(n, calls);

	return has_both_signs(n) && has_gap(&s, n->quantum, SIDE_MIN, WIDE) &&
	       (has_gap(&s, n->quantum, SIDE_MIN + 1, WIDE) || !is_spike(n, &s));
}

/* What changes with time may jump once, but not one number after another. */
static bool are_split(const struct call_changes *c)
{
	const struct called_change *first = NULL;
	size_t often = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct call_changed_number *n = &c->numbers[i];
		struct sizes s = sizes_of(n, c->calls);

		if (!has_gap(&s, n->quantum, 1, s.count < SIZES_MIN ? WIDE : GAP)) {
			continue;
		}
		often += has_both_signs(n) && has_gap(&s, n->quantum, SIDE_MIN, GAP);
		if (often > 1 || (first && s.largest->call != first->call)) {
			return true;
		}
		first = first ? first : s.largest;
	}
	return false;
}

/* ---- other ---- */

/* Arguments that are nearly equal would also match a clock that is read at even intervals. */
static bool is_proportional(const struct call_changed_number *n)
{
	const struct called_change *largest = &n->changes[0];
	double ratio, least = INFINITY, most = -INFINITY;

	for (size_t i = 1; i < n->count; i++) {
		const struct called_change *is = &n->changes[i];
		largest = fabs(is->change) > fabs(largest->change) ? is : largest;
	}
	if (n->count < KNOWN_MIN || largest->argument == 0) {
		return false;
	}
	ratio = largest->change / largest->argument;
	for (size_t i = 0; i < n->count; i++) {
		const struct called_change *is = &n->changes[i];

		least = fmin(least, is->argument);
		most = fmax(most, is->argument);
		if (is->argument == 0 ||
		    fabs(is->change - ratio * is->argument) > ALIKE * fabs(largest->change)) {
			return false;
		}
	}
	return most - least >= APART * fmax(fabs(most), fabs(least));
}

/* Our own times are in whole milliseconds, so that each of the intervals may be 1 ms longer or
   shorter. */
static bool is_pace_of_clock(double change, double elapsed_ms, size_t intervals)
{
	static const double a_ms[] = {1e-3, 1, 1e3, 1e6};
	double pace = CLOCK_PACE * (1 + (double)intervals / elapsed_ms);

	for (size_t i = 0; i < ARRAY_LEN(a_ms); i++) {
		double clock = elapsed_ms * a_ms[i];
		if (change >= clock / pace && change <= clock * pace) {
			return true;
		}
	}
	return false;
}

/* Changes that are exactly the same are those of a counter. */
static bool is_steady(const struct call_changed_number *n, size_t calls)
{
	struct sizes s = sizes_of(n, calls);
	double sum = 0, elapsed = 0;

	if (s.count < SIZES_MIN || has_both_signs(n)) {
		return false;
	}
	for (size_t i = 0; i < n->count; i++) {
		if (n->changes[i].elapsed_ms < 0) {
			return false;
		}
		sum += s.of[i];
		elapsed += n->changes[i].elapsed_ms;
	}
	double spread = s.of[s.count - 1] - s.of[0];
	return spread > 2 * n->quantum && spread <= STEADY * s.of[0] && elapsed > 0 &&
	       !is_pace_of_clock(sum, elapsed, n->count);
}

/* ---- changes without a call ---- */

/* 0: unknown. */
static double range_without_call(const struct call_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->uncalled_count; i++) {
		if (str_eq(c->uncalled[i].pointer, pointer)) {
			return c->uncalled[i].range;
		}
	}
	return 0;
}

static bool is_beyond(const struct called_change *is, double range, double range_ms)
{
	return is->elapsed_ms >= 0 && range_ms > 0 &&
	       fabs(is->change) >= BEYOND * range * fmax(1, is->elapsed_ms / range_ms);
}

/* One call may change several numbers. */
static bool are_beyond(const struct call_changes *c)
{
	uint64_t calls = 0, count = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct call_changed_number *n = &c->numbers[i];
		double range = range_without_call(c, n->pointer);

		for (size_t k = 0; k < n->count && range > 0 && n->changes[k].at < 64; k++) {
			uint64_t bit = UINT64_C(1) << n->changes[k].at;
			bool beyond = is_beyond(&n->changes[k], range, c->uncalled_ms);

			count += beyond && !(calls & bit);
			calls |= beyond ? bit : 0;
		}
	}
	return count >= BEYOND_MIN;
}

bool call_changes_found(const struct call_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct call_changed_number *n = &c->numbers[i];

		if (is_shifted(n, c->calls) || is_split(n, c->calls) || is_proportional(n) ||
		    is_steady(n, c->calls) || depends(n, 2, CLEAR) || is_clear_once(n)) {
			return true;
		}
	}
	return are_split(c) || are_beyond(c);
}
