/* Numbers whose changes depend on the call: see call_changes.h. */
#include "facts/call_changes.h"

#include <math.h>

/* minimum ratio of the gap between different calls to the spread of equal ones */
#define CLEAR      10
#define CLEAR_ONCE 30 /* the same if calls that were sent once are included */
/* minimum number of times that one of the calls was sent then */
#define KNOWN_MIN 3
/* Of a change for good: minimum ratio to the next largest change, and minimum number of changes,
   of one number and of each of several. */
#define JUMP             100
#define JUMP_CHANGES     4
#define JUMP_CHANGES_TWO 3
#define ALIKE            0.01 /* maximum difference between equal ratios of changes to arguments */
#define APART            0.2  /* minimum difference between different arguments */

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

static struct call_change *change_by(struct call_changed_number *n, struct arena *a, uint64_t call)
{
	for (size_t i = 0; i < n->count; i++) {
		if (n->calls[i].call == call) {
			return &n->calls[i];
		}
	}
	if (n->count == CALL_CHANGES_CALLS) {
		return NULL;
	}
	n->calls = arena_grow(a, n->calls, n->count, sizeof(*n->calls));
	n->calls[n->count] = (struct call_change){call, 0, INFINITY, -INFINITY};
	return &n->calls[n->count++];
}

static void take_size(struct call_changed_number *n, uint64_t call, double size)
{
	n->changes++;
	if (size > n->largest) {
		n->second = n->largest;
		n->largest = size;
		n->largest_at = n->changes;
		n->largest_call = call;
	} else {
		n->second = fmax(n->second, size);
	}
}

static void take_ratio(struct call_changed_number *n, double change, double argument)
{
	double ratio = argument != 0 ? change / argument : 0;

	if (n->changes == 1) {
		n->ratio = ratio;
		n->proportional = ratio != 0;
		n->least_argument = n->most_argument = argument;
	}
	n->proportional = n->proportional && fabs(ratio - n->ratio) <= ALIKE * fabs(n->ratio);
	n->least_argument = fmin(n->least_argument, argument);
	n->most_argument = fmax(n->most_argument, argument);
}

void call_changes_take(struct call_changes *c, struct arena *a, struct str pointer,
                       const struct called_change *is)
{
	struct call_changed_number *n = number_at(c, a, pointer);
	struct call_change *by = n ? change_by(n, a, is->call) : NULL;

	if (n) {
		take_size(n, is->call, fabs(is->change));
		take_ratio(n, is->change, is->argument);
	}
	if (by) {
		n->quantum = fmax(n->quantum, is->quantum);
		by->count++;
		by->least = fmin(by->least, is->change);
		by->most = fmax(by->most, is->change);
	}
}

static double gap_between(const struct call_change *a, const struct call_change *b)
{
	return fmax(a->least - b->most, b->least - a->most);
}

/* Do the calls that were sent at least `times` times differ clearly in their changes: by `clear`
   times the spread between equal calls? */
static bool depends(const struct call_changed_number *n, int64_t times, double clear)
{
	/* changes below the resolution look equal by chance */
	double spread = n->quantum, gap = INFINITY;

	for (size_t i = 0; i < n->count; i++) {
		const struct call_change *a = &n->calls[i];

		spread = a->count > 1 ? fmax(spread, a->most - a->least) : spread;
		for (size_t k = 0; k < i; k++) {
			const struct call_change *b = &n->calls[k];

			if (a->count >= times && b->count >= times) {
				gap = fmin(gap, gap_between(a, b));
			}
		}
	}
	return isfinite(gap) && gap > 0 && gap >= clear * spread;
}

/* Was one call repeated often enough to know its effect and tell it from calls sent once? */
static bool is_known(const struct call_changed_number *n)
{
	int64_t most = 0;

	for (size_t i = 0; i < n->count; i++) {
		most = n->calls[i].count > most ? n->calls[i].count : most;
	}
	return most >= KNOWN_MIN;
}

/* A value that jumps and comes back changes greatly twice. */
static bool is_shifted(const struct call_changed_number *n)
{
	return n->changes >= JUMP_CHANGES && n->largest_at > 1 && n->largest_at < n->changes &&
	       n->second > 0 && n->largest >= JUMP * n->second;
}

static bool is_jump(const struct call_changed_number *n)
{
	return n->changes >= JUMP_CHANGES_TWO && n->largest >= JUMP * fmax(n->second, n->quantum);
}

/* What changes with time may jump once, but not one number after another. */
static bool are_jumps(const struct call_changes *c)
{
	const struct call_changed_number *first = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct call_changed_number *n = &c->numbers[i];

		if (!is_jump(n)) {
			continue;
		}
		if (first && n->largest_call != first->largest_call) {
			return true;
		}
		first = first ? first : n;
	}
	return false;
}

/* Arguments that are nearly equal would also match a clock that is read at even intervals. */
static bool is_proportional(const struct call_changed_number *n)
{
	return n->proportional && n->changes >= KNOWN_MIN &&
	       n->most_argument - n->least_argument >=
	               APART * fmax(fabs(n->most_argument), fabs(n->least_argument));
}

bool call_changes_found(const struct call_changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct call_changed_number *n = &c->numbers[i];

		if (is_shifted(n) || is_proportional(n) || depends(n, 2, CLEAR) ||
		    (is_known(n) && depends(n, 1, CLEAR_ONCE))) {
			return true;
		}
	}
	return are_jumps(c);
}
