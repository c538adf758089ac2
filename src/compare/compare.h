/* The directory compare/: compares two rollouts: which calls are the same, and where the
   environment's replies differ. Loading rollouts, printing and sending calls belong elsewhere. */

/* Finds the differences between two rollouts. */
#pragma once

#include "compare/tool_changes.h"
#include "recording/by_rollout.h"
#include "recording/rollout_copy.h"

enum difference_kind {
	DIFFERENCE_CHANGED,
	DIFFERENCE_ADDED,           /* a value only in the second rollout */
	DIFFERENCE_REMOVED,         /* a value only in the first rollout */
	DIFFERENCE_MISSING_STEP,    /* a call only in the first rollout */
	DIFFERENCE_EXTRA_STEP,      /* a call only in the second rollout */
	DIFFERENCE_MISSING_ROLLOUT, /* a rollout only in the first or the second set */
	DIFFERENCE_EXTRA_ROLLOUT,
};
#define DIFFERENCE_KINDS 7
const char *difference_kind_name(enum difference_kind k); /* "missing-step" */

struct difference {
	enum difference_kind kind;
	struct str rollout;
	/* the line with the difference, in the first rollout (for extra items in the second
	   one); NULL: the whole rollout */
	const struct line *line;
	struct str pointer;       /* into the line, RFC 6901; absent: the whole line */
	struct str expected, got; /* raw JSON in canonical form; absent: missing */
};

/* Receives one difference, which is only valid during the call. */
typedef void difference_fn(void *ctx, const struct difference *d);

/* Two numbers are equal if they differ by at most `most` and the pattern matches
   (json/paths.h, into the line). */
struct tolerance {
	const char *pattern;
	double most;
};

/* Arrays compared without regard to order: elements are matched by one member, or as a whole. */
struct unordered {
	const char *pattern;
	const char *key; /* name of the member; "": match whole elements */
};

/* Which changes of the headers' tools are differences; the others are passed to `tool_said`. */
enum tools_rule {
	TOOLS_IGNORED,
	TOOLS_COMPATIBLE, /* those that break calls */
	TOOLS_STRICT,     /* all */
};

struct compare_conf {
	bool header; /* also compare the headers' seed, environment, policy, tools, .. */
	/* one rollout replays the calls of the other: a status is compared only if the
	   environment ended one of the episodes */
	bool replayed;
	const struct tolerance *tolerances;
	size_t tolerance_count;
	const struct unordered *unordered;
	size_t unordered_count;
	/* apart from `header`; not for imported recordings */
	enum tools_rule tools;
	tool_change_fn *tool_said; /* NULL: not reported */
	difference_fn *take;
	void *ctx;
};

/* Summary of the comparison of two sets of rollouts. */
struct compare_count {
	size_t rollouts, different; /* rollouts: of both sets, each pair counted once */
	size_t steps;               /* of the first set */
	size_t differences;
	size_t kinds[DIFFERENCE_KINDS];
};

/* Reports each difference, in the order of the lines (in one line: changed values first), and adds
   to *count. Steps are paired by
   their calls (tool and arguments), repeated calls by state and reply as well. For each pair, state, outcome, error class, observation,
   structured content, raw replies, reward, terminated and truncated are compared (an error's message is
   part of the observation); for the ends status, total
   reward and state. Numbers with different spelling but the same value are equal, as are values
   that either side masks. */
void compare_rollouts(const struct rollout_copy *first, const struct rollout_copy *second,
                      const struct compare_conf *conf, struct compare_count *count);

/* The same, step by step: */

/* What was compared while two rollouts were read. Empty if zeroed. */
struct compare_progress {
	bool begun, found;
	size_t steps;
};
/* Are both lines the same call, or both without a call? */
bool compare_same_call(const struct line *a, const struct line *b);
/* Are their states and replies the same, too? */
bool compare_same_content(const struct line *a, const struct line *b);
/* Compares the next step of both rollouts, whose calls have been the same so far. The first call
   also compares the headers and resets read so far. */
void compare_next_steps(const struct rollout_copy *first, const struct line *a,
                        const struct rollout_copy *second, const struct line *b,
                        const struct compare_conf *conf, struct compare_progress *p,
                        struct compare_count *count);
/* Compares the rest, and adds to *count. */
void compare_rest(const struct rollout_copy *first, const struct rollout_copy *second,
                  const struct compare_conf *conf, struct compare_progress *p,
                  struct compare_count *count);

/* Reports a rollout that only one side has. */
void compare_unpaired(const struct rollout_copy *r, bool extra, const struct compare_conf *conf,
                      struct compare_count *count);

/* Adds the counts of `more` to *to. */
void compare_add(struct compare_count *to, const struct compare_count *more);
