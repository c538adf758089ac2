/* Which members of a value change from one reading to the next (a rollout's states, or its
   observations), and which of them do so by themselves: clocks, generated ids, members that
   change without a call, call counters. A change is not necessarily an effect. */
#ifndef ROLLDBG_FACTS_MEMBER_CHANGES_H
#define ROLLDBG_FACTS_MEMBER_CHANGES_H

#include "base/buf.h"
#include "base/mem.h"
#include "facts/call_changes.h"

#define CHANGES_MEMBERS_MAX 32 /* bits of a set; with more members nothing is learned */
#define CHANGES_SETS_MAX    16

/* A set of members, one bit each, in the order in which they were first seen to differ.
   CHANGES_UNKNOWN: some member that is not tracked differs. */
typedef uint32_t member_set;
#define CHANGES_UNKNOWN UINT32_MAX

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
	bool even;         /* each change was by delta */
	bool without_call; /* it differed although no call was sent in between */
	bool was_blank;    /* it was null, 0 or "" at first; since then: */
	bool is_now;       /* each value was the time of its reading */
	bool is_new_id;    /* each value was a new UUID */
	bool has_offset;
	bool is_echo; /* each value is contained in the arguments of the preceding call */
};

/* The number of times these members changed together. */
struct change_set {
	member_set members;
	int64_t steps, in_episode;
};

/* Ready for use if zeroed with its arena set. */
struct member_changes {
	struct arena *arena;
	const struct str *ignored; /* ignored pointers, with everything below them */
	size_t ignored_count;
	struct changing_member *members; /* NULL until one differed */
	size_t count;
	struct change_set *sets; /* at most CHANGES_SETS_MAX */
	size_t set_count;
	struct call_changes by_call; /* of ignored numbers */
	int64_t readings;            /* pairs of readings, including equal ones */
	uint64_t call;               /* the first call, and whether a different one was sent */
	bool calls_differ, called;
	bool done;       /* nothing more is to be learned, or too much */
	bool never_done; /* settled members are watched, too */
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

/* Compares two consecutive readings and returns the members that differ; CHANGES_UNKNOWN if they
   were not searched for (`done`). */
member_set member_changes_take(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between);

/* The same for two readings that are equal except for ignored members. */
void member_changes_take_equal(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between);

/* Records that a step changed exactly these members, for changes_steps(). */
void member_changes_count(struct member_changes *c, member_set members, bool in_episode);

/* The members known so far to change by themselves. */
member_set member_changes_volatile(const struct member_changes *c);

/* Is the member of that key one of them, or ignored, or something inside it? */
bool member_changes_moves_alone(const struct member_changes *c, struct str key);

/* The members that grew or fell by the same number with every call, though the calls
   differed: they count calls, if nothing else speaks for an effect. */
member_set member_changes_counters(const struct member_changes *c);

/* Members of `c` that are `members` of the other one. */
member_set member_changes_alike(const struct member_changes *c, const struct member_changes *other,
                                member_set members);

/* The members that hold another time or id after every call: stamps of the call, if nothing
   else speaks for an effect. */
member_set member_changes_stamps(const struct member_changes *c);

/* The members that only repeat values of the call. */
member_set member_changes_echoes(const struct member_changes *c);

/* Does the set contain a member that can no longer prove to change by itself? */
bool member_changes_is_certain(const struct member_changes *c, member_set members);

/* Is the top-level member with that key, as spelled, ignored? */
bool member_changes_ignores(const struct member_changes *c, struct str key);

/* Does the object have a member that is neither in the set nor ignored? */
bool member_changes_has_others(const struct member_changes *c, member_set members,
                               struct str value);

/* How many of the counted steps changed nothing outside the set. */
struct change_set member_changes_within(const struct member_changes *c, member_set members);

#endif
