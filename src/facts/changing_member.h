/* How one member of a value changes from reading to reading, and whether it is volatile. */
#ifndef ROLLDBG_FACTS_CHANGING_MEMBER_H
#define ROLLDBG_FACTS_CHANGING_MEMBER_H

#include "facts/fresh_ids.h"

/* One member that was seen to differ. */
struct changing_member {
	struct str pointer; /* RFC 6901, in the arena */
	int64_t changes;    /* number of readings that differed from the previous one */
	double delta;       /* of the first change; 0: not a change of a number */
	int64_t offset_ms;  /* if is_now: the offset to our clock, if known */
	double largest;     /* the largest change */
	double quantum;     /* the resolution of the number: 1, 0.1, 0.01, .. */
	/* each change equaled the elapsed time, in seconds, milli-, micro- or nanoseconds: one
	   bit for each unit and way of timing */
	unsigned clock_fits;
	/* the same in seconds to a thousandth, but each change need only be possible; fine_close
	   counts those about equal, and the sums are in milliseconds, by both ways of timing */
	bool may_be_fine_clock;
	int64_t fine_close;
	double fine_grown, fine_elapsed[2];
	/* it only grew, by no more than a clock in seconds of that resolution can have */
	bool may_be_coarse_clock;
	double grown;
	int64_t since_ms;  /* Unix time before the first change */
	bool even;         /* each change was by `delta` */
	bool in_text;      /* the value is the only number that differed in a text */
	bool without_call; /* it differed although no call was sent in between */
	/* it was initially null, 0 or ""; the next two then hold from the first other value on: */
	bool was_blank;
	bool is_now;    /* each value was the time of its reading */
	bool is_new_id; /* each value was a new UUID */
	/* each change was in generated ids within a text, and no value recurred */
	bool is_fresh;
	struct fresh_ids values;
	bool has_offset;
	bool is_other; /* some change was not one of a number */
	bool is_echo;  /* each value is contained in the arguments of the preceding call */
	/* changes of a text in nothing but the arguments of the preceding calls that it contains
	   ("You go north."), and whether there were others, except the first one after a reset */
	int64_t echo_texts;
	bool is_other_text;
};

/* The interval between two readings. */
struct interval {
	bool called; /* a call was sent; `call` distinguishes calls */
	/* none was sent, but it is only asked which numbers that may be coarse clocks are */
	bool closing;
	uint64_t call;
	struct str arguments; /* its arguments, raw; absent if unknown */
	/* the same for texts that contain them, and those of the call before; absent if unknown */
	struct str newest_arguments, previous_arguments;
	double argument; /* the first number in them; 0: none, or unknown */
	int64_t now_ms;  /* approximate Unix time of the second reading in ms; -1: unknown */
	/* elapsed time, by the two ways in which clients time their readings: right after the
	   reply, and right before the next call; -1: unknown */
	double elapsed_ms[2];
	double least_ms, most_ms; /* its bounds: readings take time; -1: unknown */
};

/* Adds the next change; `before` or `after` is absent if the member was missing then. */
void changing_member_take(struct changing_member *m, struct str before, struct str after,
                          const struct interval *between);

/* A change without a call after a pause: if the member may be a coarse clock, it is one. */
void changing_member_confirm_clock(struct changing_member *m, struct str before, struct str after);

/* Does the text only name the calls? At least two such changes are needed to know. */
bool changing_member_is_echo_text(const struct changing_member *m);
/* Can it still turn out that it does? */
bool changing_member_may_be_echo_text(const struct changing_member *m);

/* Did it change by the same number in each of the readings? Includes the only number that differs in
   a text. */
bool changing_member_is_counter(const struct changing_member *m, int64_t readings);

/* Is it a fraction, to a thousandth or finer, such as a measured duration? */
bool changing_member_is_fraction(const struct changing_member *m);

/* Is the member known to be volatile? */
bool changing_member_is_volatile(const struct changing_member *m);
/* Can it still turn out to be volatile? */
bool changing_member_may_be_volatile(const struct changing_member *m);

/* Are two changes equal, apart from rounding of fractions? */
bool changing_member_is_even(double a, double b);

#endif
