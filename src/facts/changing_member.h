/* How one member of a value changes from reading to reading, and whether it does so by itself. */
#ifndef ROLLDBG_FACTS_CHANGING_MEMBER_H
#define ROLLDBG_FACTS_CHANGING_MEMBER_H

#include "facts/fresh_ids.h"

/* One member that was seen to differ. */
struct changing_member {
	struct str pointer; /* RFC 6901, in the arena */
	int64_t changes;    /* readings in which it differed from the one before */
	double delta;       /* of the first change; 0: it was not one of a number */
	int64_t offset_ms;  /* of is_now: offset to our clock, if that is known */
	double largest;     /* the largest change */
	double quantum;     /* the resolution of the number: 1, 0.1, 0.01, .. */
	/* each change equaled the elapsed time, in seconds, milli-, micro- or nanoseconds: one
	   bit for each unit and way of timing */
	unsigned clock_fits;
	bool even;         /* each change was by delta; */
	bool in_text;      /* of the only number that differed in a text */
	bool without_call; /* it differed although no call was sent in between */
	bool was_blank;    /* it was null, 0 or "" at first; since then: */
	bool is_now;       /* each value was the time of its reading */
	bool is_new_id;    /* each value was a new UUID */
	bool is_fresh;     /* each change was one of generated ids in a text, none came again */
	struct fresh_ids values;
	bool has_offset;
	bool is_echo; /* each value is contained in the arguments of the preceding call */
};

/* What lies between two readings. */
struct interval {
	bool called; /* a call was sent; `call` distinguishes calls */
	uint64_t call;
	struct str arguments; /* its arguments, raw; absent if unknown */
	int64_t now_ms; /* approximate time of the second reading, in Unix milliseconds; -1: unknown */
	/* elapsed time, by the two ways in which clients time their readings: right after the
	   answer, and right before the next call; -1: unknown */
	double elapsed_ms[2];
};

/* Takes the next change; either value is absent where the member was. */
void changing_member_take(struct changing_member *m, struct str before, struct str after,
                          const struct interval *between);

/* Is it known to change by itself? */
bool changing_member_is_volatile(const struct changing_member *m);
/* May it still turn out to? */
bool changing_member_may_be_volatile(const struct changing_member *m);

/* Are two changes the same, but for what adding fractions loses? */
bool changing_member_is_even(double a, double b);

#endif
