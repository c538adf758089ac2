/* Finds the differences between two rollouts. */
#ifndef ROLLDBG_COMPARE_COMPARE_H
#define ROLLDBG_COMPARE_COMPARE_H

#include "compare/rollout_copy.h"
#include "compare/tool_changes.h"
#include "recording/by_rollout.h"

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
   (json/pattern.h, into the line). */
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
   their calls (tool and arguments). For each pair, state, outcome, error class, observation,
   structured content, reward, terminated and truncated are compared; for the ends status, total
   reward and state. Numbers with different spelling but the same value are equal, as are values
   that either side masks. */
void compare_rollouts(const struct rollout_copy *first, const struct rollout_copy *second,
                      const struct compare_conf *conf, struct compare_count *count);

/* Adds the counts of `more` to *to. */
void compare_add(struct compare_count *to, const struct compare_count *more);

/* Compares two rollouts step by step while they are read, until their calls differ, so that memory
   does not grow with their length. From the first different call on, the rest of both is kept in
   memory, because steps may have been inserted or left out. */
struct lockstep_side {
	struct by_rollout *lines; /* its next rollout is read */
	struct strip *strip;
	struct rollout_copy *rollout; /* without steps at first */
	reader_line_fn *see;          /* receives each line before it is compared */
	void *ctx;
};

/* Like reading both rollouts and compare_rollouts, with the same differences in the same order,
   except that a header or reset that follows a step is not compared. */
MUST_USE int lockstep_compare(struct lockstep_side *first, struct lockstep_side *second,
                              const struct compare_conf *conf, struct compare_count *count,
                              struct error *err);
/* Reads a rollout that only one side has, and reports it. */
MUST_USE int lockstep_unpaired(struct lockstep_side *side, bool extra,
                               const struct compare_conf *conf, struct compare_count *count,
                               struct error *err);

#endif
