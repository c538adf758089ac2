/* Numbers whose changes depend on the call, even if they also change without one, such as the
   level of a leaking tank that calls fill, or the joint of an arm that is read with noise. A clock
   or the noise of a sensor changes regardless of the call. */
#ifndef ROLLDBG_FACTS_CALL_CHANGES_H
#define ROLLDBG_FACTS_CALL_CHANGES_H

#include "base/mem.h"

#define CALL_CHANGES_NUMBERS  8  /* members followed */
#define CALL_CHANGES_EACH     24 /* changes of each */
#define CALL_CHANGES_UNCALLED 64

/* A change of a number over one call. */
struct called_change {
	uint64_t call;     /* distinguishes calls */
	double argument;   /* of the call, if it is a number; else 0 */
	double change;     /* not 0 */
	double quantum;    /* the resolution of the number, as in struct number_pair */
	double elapsed_ms; /* between the readings; -1: unknown */
	size_t at;         /* it was the first, second, .. call: 1, .. */
};

struct call_changed_number {
	struct str pointer;
	double quantum;                /* the coarsest resolution it was spelled with */
	struct called_change *changes; /* in the order of the calls */
	size_t count;
};

/* By how much a number changed without a call. */
struct uncalled_change {
	struct str pointer;
	double range;
};

/* Ready for use if zeroed. */
struct call_changes {
	struct call_changed_number *numbers; /* in the arena */
	size_t count;
	size_t calls;
	struct uncalled_change *uncalled; /* in the arena; at most CALL_CHANGES_UNCALLED */
	size_t uncalled_count;
	double uncalled_ms; /* within this time */
};

/* A call after which the state was read. Then the numbers that it changed follow. */
void call_changes_called(struct call_changes *c);
/* Before the first call: by how much this number changed without one, within uncalled_ms. */
void call_changes_uncalled(struct call_changes *c, struct arena *a,
                           const struct uncalled_change *is);
/* `at` is filled in. */
void call_changes_take(struct call_changes *c, struct arena *a, struct str pointer,
                       const struct called_change *is);

/* Is there such a number? One of these is needed:
   - equal calls change it by nearly the same, different calls by clearly different amounts: two
     calls, each sent at least twice, or one sent two or three times, and others that differ
     even more clearly;
   - three changes or more, each the same multiple of its call's argument, and arguments that
     differ;
   - a change for good, much larger than all others and neither the first, which may be that of a
     warm-up, nor the last, which may be undone;
   - large and small changes with a wide gap between them, at least two of each, and not all in one
     direction as those of a clock;
   - two numbers with a gap, with two large changes of each or whose largest changes are those of
     different calls: a robot's joints, read with noise, that it moves one by one;
   - changes that are always nearly the same although it is read with noise, at a pace that is not
     that of a clock;
   - at least three calls with changes much larger than what it changed by without a call, even if
     that grows with time. */
bool call_changes_found(const struct call_changes *c);

#endif
