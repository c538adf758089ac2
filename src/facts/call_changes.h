/* Numbers whose changes depend on the call, even if they also change without one: equal calls
   change them by nearly the same amount, different calls by clearly different amounts. An
   example is the level of a leaking tank that calls fill; a clock or a noisy reading changes
   regardless of the call. Or one call changed them by far more than their noise, for good: the
   joint of an arm, read with noise. */
#ifndef ROLLDBG_FACTS_CALL_CHANGES_H
#define ROLLDBG_FACTS_CALL_CHANGES_H

#include "base/mem.h"

#define CALL_CHANGES_NUMBERS 8 /* members followed */
#define CALL_CHANGES_CALLS   8 /* different calls followed for each */

/* The changes of one member over one call. */
struct call_change {
	uint64_t call;
	int64_t count;
	double least, most;
};

struct call_changed_number {
	struct str pointer;
	double quantum; /* the coarsest resolution it was spelled with */
	struct call_change *calls;
	size_t count;
	int64_t changes;        /* readings that differed */
	int64_t largest_at;     /* the largest change was the first, second, .. of them: 1, .. */
	uint64_t largest_call;  /* the call that made it */
	double largest, second; /* the two largest changes, regardless of sign */
	/* the first change divided by the call's argument; is it nearly the same for all? */
	double ratio, least_argument, most_argument;
	bool proportional;
};

/* Ready for use if zeroed. */
struct call_changes {
	struct call_changed_number *numbers; /* in the arena */
	size_t count;
};

/* A change of a number over one call. */
struct called_change {
	uint64_t call;
	double argument; /* of the call, if it is a number; else 0 */
	double change;
	double quantum; /* the resolution of the number, as in struct number_pair */
};

void call_changes_take(struct call_changes *c, struct arena *a, struct str pointer,
                       const struct called_change *is);

/* Is there such a number? One of these is needed:
   - two different calls, each sent at least twice;
   - one call sent three times, and others that differ from it and from each other even more
     clearly;
   - three changes or more, each the same multiple of its call's argument, and arguments that
     differ;
   - a change for good, much larger than all others and neither the first, which may be that of a
     warm-up, nor the last, which may be undone;
   - two numbers that each changed so once, over different calls: a robot's joints, read with
     noise, that it moves one by one. */
bool call_changes_found(const struct call_changes *c);

#endif
