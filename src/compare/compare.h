/* What differs between two rollouts. */
#ifndef ROLLDBG_COMPARE_COMPARE_H
#define ROLLDBG_COMPARE_COMPARE_H

#include "compare/rollout_copy.h"

enum difference_kind {
	DIFFERENCE_CHANGED,
	DIFFERENCE_ADDED,           /* a value that was not expected */
	DIFFERENCE_REMOVED,         /* one that was, and is not there */
	DIFFERENCE_MISSING_STEP,    /* a call that only the first rollout has */
	DIFFERENCE_EXTRA_STEP,      /* a call that only the second one has */
	DIFFERENCE_MISSING_ROLLOUT, /* likewise */
	DIFFERENCE_EXTRA_ROLLOUT,
};
#define DIFFERENCE_KINDS 7
const char *difference_kind_name(enum difference_kind k); /* "missing-step" */

struct difference {
	enum difference_kind kind;
	struct str rollout;
	/* the line it is in: the first rollout's, of what is extra the second one's; NULL: the
	   whole rollout */
	const struct line *line;
	struct str pointer;       /* into the line, RFC 6901; absent: all of it */
	struct str expected, got; /* raw JSON in canonical form; absent: not there */
};

/* Takes one difference; what it points to is gone when it returns. */
typedef void difference_fn(void *ctx, const struct difference *d);

/* A number that differs by at most `most` is equal where the pattern fits (json/pattern.h, into
   the line). */
struct tolerance {
	const char *pattern;
	double most;
};

/* Arrays whose order does not matter: their elements are matched by a member, or whole. */
struct unordered {
	const char *pattern;
	const char *key; /* the member's name; "": whole */
};

struct compare_conf {
	bool header; /* the headers' seed, environment, policy, tools, .. as well */
	/* one is the replay of the other's calls: a status matters only if the environment ended
	   the episode */
	bool replayed;
	const struct tolerance *tolerances;
	size_t tolerance_count;
	const struct unordered *unordered;
	size_t unordered_count;
	difference_fn *take;
	void *ctx;
};

/* How far two sets of rollouts agree. */
struct compare_count {
	size_t rollouts, different; /* rollouts: of both, each once */
	size_t steps;               /* of the first */
	size_t differences;
	size_t kinds[DIFFERENCE_KINDS];
};

/* Calls back for each difference, in the order of the lines, and adds to *count. Steps are paired
   by their calls (tool and arguments); of a pair state, outcome, error class, observation,
   structured content, reward, terminated and truncated are compared, of the ends status, total
   reward and state. Numbers that are spelled differently but have one value are equal, and so is all that one of the
   two masks. */
void compare_rollouts(const struct rollout_copy *first, const struct rollout_copy *second,
                      const struct compare_conf *conf, struct compare_count *count);

/* Adds the counts of some rollouts to those of others. */
void compare_add(struct compare_count *to, const struct compare_count *more);

/* A rollout that only one side has. */
void compare_lone(const struct rollout_copy *r, bool extra, const struct compare_conf *conf,
                  struct compare_count *count);

#endif
