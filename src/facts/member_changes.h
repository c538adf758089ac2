/* Which members of a value change from one reading to the next (a rollout's states, or its
   observations), and which of these changes are not effects of a call: clocks, generated ids,
   members that change without a call, call counters. */
#ifndef ROLLDBG_FACTS_MEMBER_CHANGES_H
#define ROLLDBG_FACTS_MEMBER_CHANGES_H

#include "base/buf.h"
#include "base/mem.h"
#include "facts/call_changes.h"
#include "facts/changing_member.h"
#include "facts/recurring_words.h"

#define CHANGES_MEMBERS_MAX 32 /* bits of a set; with more members, tracking stops */
#define CHANGES_SETS_MAX    16

/* A set of members, one bit each, in the order in which they were first seen to differ.
   CHANGES_UNKNOWN: some member that is not tracked differs. */
typedef uint32_t member_set;
#define CHANGES_UNKNOWN UINT32_MAX

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
	struct call_changes by_call;  /* of ignored numbers */
	struct recurring_words words; /* of ignored texts */
	int64_t readings;             /* pairs of readings, including equal ones */
	uint64_t call;                /* the newest call, and whether different ones were sent */
	bool calls_differ, called;
	/* the first number in the arguments and its growth between the last two calls: numbers
	   in replies that depend on it grow evenly, too */
	double argument, argument_step;
	int64_t arguments;
	bool argument_even;
	/* tracking has stopped: no more can be learned, or there is too much to track */
	bool done;
	bool by_words;       /* words of texts are members, too, if only clocks or ids changed */
	bool never_done;     /* continue even when settled */
	bool keep_fractions; /* fractions are not settled */
};

/* Compares two consecutive readings and returns the members that differ; CHANGES_UNKNOWN if they
   were not searched for (`done`). */
member_set member_changes_take(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between);

/* The same for two readings that are equal except for ignored members. */
void member_changes_take_equal(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between);

/* Compares the last two readings, between which only time passed (`closing`). */
void member_changes_take_closing(struct member_changes *c, struct str before, struct str after,
                                 const struct interval *between);

/* Records that a step changed exactly these members, for member_changes_within(). */
void member_changes_count(struct member_changes *c, member_set members, bool in_episode);

/* The members known so far to be volatile. */
member_set member_changes_volatile(const struct member_changes *c);

/* Is the member with that key volatile or ignored, or does it contain such a member? */
bool member_changes_moves_alone(const struct member_changes *c, struct str key);

/* The members that changed by the same number with every call, although the calls differed: call
   counters, unless other evidence shows an effect. */
member_set member_changes_counters(const struct member_changes *c);
/* The same for the number in a text: "3 calls left". */
member_set member_changes_text_counters(const struct member_changes *c);

/* The members that differ after every call, only in generated ids, and never repeat a value. */
member_set member_changes_fresh(const struct member_changes *c);

/* The members of `c` with the same pointers as `members` of `other`. */
member_set member_changes_alike(const struct member_changes *c, const struct member_changes *other,
                                member_set members);

/* The members that hold a new time or id after every call: stamps of the call, unless other
   evidence shows an effect. */
member_set member_changes_stamps(const struct member_changes *c);

/* The members that only repeat values of the call. */
member_set member_changes_echoes(const struct member_changes *c);

/* Fractions, such as measured durations. */
member_set member_changes_fractions(const struct member_changes *c);

/* The texts that differ only in words of the call. */
member_set member_changes_echo_texts(const struct member_changes *c);

/* Does the set contain a member that is certain to be an effect: one that can no longer turn out
   to be volatile, generated or a counter? */
bool member_changes_is_certain(const struct member_changes *c, member_set members);

/* Is the top-level member with that key, as spelled, ignored? */
bool member_changes_ignores(const struct member_changes *c, struct str key);

/* Is the pointer ignored, or that of a value inside an ignored one? */
bool member_changes_is_ignored(const struct member_changes *c, struct str pointer);

/* Does the value have one inside, of any depth, or a word of a text, that is neither in the set nor
   ignored? */
bool member_changes_has_others(const struct member_changes *c, member_set members,
                               struct str value);

/* The number of counted steps that changed nothing outside the set. */
struct change_set member_changes_within(const struct member_changes *c, member_set members);

#endif
