/* Looks for numbers that may be clocks: see coarse_clock.h. */
#include "facts/coarse_clock.h"

#include "facts/member_changes.h"
#include "json/scan.h"

#include <math.h>

#define RESOLUTION_MIN 20 /* milliseconds; finer clocks differ at two readings in a row */
/* A clock that changes once in more than so many durations is left out: most numbers that grow by
   one are none. */
#define RESOLUTIONS_MAX 10

/* In milliseconds; 0: it did not grow as a clock. */
static double resolution_of(const struct changing_member *m, double elapsed_ms)
{
	double resolution = 1e3 * m->quantum, grown = 1e3 * m->delta;
	bool grew = !m->is_other && grown > 0 && fabs(grown - elapsed_ms) <= 1.05 * resolution;

	return grew && resolution >= RESOLUTION_MIN && resolution <= RESOLUTIONS_MAX * elapsed_ms
	               ? resolution
	               : 0;
}

int64_t coarse_clock_find(struct arena *arena, struct str before, struct str after,
                          struct str ignored, int64_t elapsed_ms)
{
	struct str *list = arena_new(arena, (json_count(ignored) + 1) * sizeof(*list));
	struct member_changes c = {.arena = arena, .ignored = list, .by_words = true};
	struct interval between = {.called = true,
	                           .now_ms = -1,
	                           .elapsed_ms = {-1, -1},
	                           .least_ms = -1,
	                           .most_ms = -1};
	struct str pointer;
	size_t cursor = 0;
	double coarsest = 0;

	while (json_next(ignored, &cursor, &pointer)) {
		list[c.ignored_count++] = json_inner(pointer);
	}
	if (!str_eq(before, after)) {
		(void)member_changes_take(&c, before, after, &between);
	}
	for (size_t i = 0; i < c.count; i++) {
		coarsest = fmax(coarsest, resolution_of(&c.members[i], (double)elapsed_ms));
	}
	return (int64_t)coarsest;
}
