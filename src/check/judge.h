/* Runs all rules over the lines of any number of interleaved rollouts, and keeps the counters;
   the same for live runs and `check`. Memory: one state block per open rollout, about 64 bytes
   per finished one (id, group of its task, ids of its environment). After a file only incomplete
   groups and environment ids are kept. Used by one thread at a time. */
#pragma once

#include "check/check.h"
#include "evidence/evidence.h"

/* ---- movement.c ---- */

/* Why the effects of a rollout's steps are unknown; by precedence. */
enum unknown_reason {
	UNKNOWN_NO_SOURCE, /* no state source */
	UNKNOWN_IMPORTED,  /* recorded by another program, without states */
	UNKNOWN_COUNTS,    /* only counts and echoes changed */
	UNKNOWN_UNSHOWN,   /* the state never changed, and nobody knows whether it could */
	UNKNOWN_UNREAD,    /* some states could not be read */
	UNKNOWN_REASONS
};

/* Ready for use if zeroed. */
struct movement {
	/* Answered calls of tools that are not read-only, and of these: changed the state; changed
	   nothing; unknown. */
	int64_t acting, moved, still, unknown;
	struct span first_still; /* of the first rollout that has any */
	int64_t rollouts[UNKNOWN_REASONS];
	/* Names of read-only tools, which may read the state, of the first of these rollouts that
	   has any; escaped, separated by ", ", "..." if there are more. */
	char read_only_tools[200];
};

/* Adds a rollout that is over. */
void movement_add(struct movement *to, const struct rollout_facts *r);
/* Adds rollouts that come after those in `to`. */
void movement_absorb(struct movement *to, const struct movement *from);
/* The first reason that applies to any rollout; UNKNOWN_REASONS if there are none. */
enum unknown_reason movement_reason(const struct movement *m);

/* ---- judge.c ---- */

/* Slices are valid during the call. */
struct rollout_verdict {
	/* as given to judge_file; NULL before the first file, and for a group in several files */
	const char *file;
	/* the id, followed by "#2" for a second rollout of that id; absent for findings about
	   the file (its last line is truncated and no rollout is open) or about a task's group.
	   Such a verdict has empty counters and does not count as a rollout */
	struct str rollout;
	struct str task; /* task.id, decoded; absent: none */
	uint64_t line;   /* line number of its header; 0: unknown */
	enum end_status status;
	struct str reason; /* end.reason, decoded; absent: none */
	struct counters counters;
	int64_t sample, group_size;     /* -1: unknown */
	bool lost;                      /* without a session or an end */
	enum failure_cause failure;     /* of a failed or void rollout */
	bool no_reward;                 /* as in struct rollout_end */
	const struct finding *findings; /* sorted, causes before the findings they explain */
	size_t finding_count;
};

struct judge_conf {
	const char *only;    /* comma-separated rule ids; NULL: all */
	const char *without; /* comma-separated rule ids; NULL: none */
	struct hints hints;
	bool verify;  /* a state_hash that does not match its state is FAIL_INPUT */
	bool lenient; /* as in struct evidence_conf */
	/* Spells the settings in findings' messages (base/settings.h); NULL: their bare names. */
	void (*settings)(char *text, size_t n);
	bool places; /* set line numbers of findings; 8 bytes per turn of an open rollout */
	/* Called for each line of an open rollout, after the rules; may be NULL. */
	void (*line)(void *ctx, const struct evidence_update *u);
	/* Called when a rollout has ended (by its end line or by the end of the input); may be
	   NULL. */
	void (*verdict)(void *ctx, const struct rollout_verdict *v);
	void *ctx;
};

struct judge;

/* FAIL_USAGE: an unknown rule, with the nearest name. */
MUST_USE int judge_new(const struct judge_conf *conf, struct judge **out, struct error *err);
/* NULL is fine; open rollouts are dropped without a verdict */
void judge_free(struct judge *j);

/* Call if there are several files: then a file without lines, and lines without a header, are
   findings (incomplete) instead of FAIL_INPUT. */
void judge_many(struct judge *j);

/* Starts a new file: ends open rollouts, and ids may be reused. The name is borrowed until the
   next file or judge_free. */
void judge_file(struct judge *j, const char *file);

/* As evidence_line; with `verify` also FAIL_INPUT for a state_hash that does not match its state. */
MUST_USE int judge_line(struct judge *j, const struct line *l, const struct reader_note *note,
                        struct error *err);
/* Called after each line; -1 with err set stops reading. */
typedef int after_line_fn(void *ctx, struct error *err);

/* Judges a whole file (judge_file, reader_file). after may be NULL. */
MUST_USE int judge_recording(struct judge *j, const char *path, after_line_fn *after, void *ctx,
                             struct error *err);

/* Ends all open rollouts, in the order of their ids, then all groups. */
void judge_finish(struct judge *j);

/* A judge for one of many files, in its own thread: the file after `number` others. Call
   judge_file or judge_recording once. */
MUST_USE int judge_part_new(const struct judge_conf *conf, int64_t number, struct judge **out,
                            struct error *err);
/* Ends its open rollouts. */
void judge_part_finish(struct judge *part);
/* Would this judge have given the same verdicts as the part? */
bool judge_can_absorb(const struct judge *j, const struct judge *part);
/* If so, and the part is finished: adds its totals, as if this judge had judged its file. Report
   the part's verdicts after judge_file and before this. */
void judge_absorb(struct judge *j, struct judge *part);

/* What the history experiment showed (rollout/history.h), after judge_finish. */
enum confirmation {
	NOT_ASKED,
	CONFIRMED, /* replies depend on earlier calls, and nothing else is in doubt */
	REFUTED,   /* no reply does */
	DOUBTED,   /* the same, of an experiment that nobody asked for */
	UNCONFIRMED,
};

/* Was the rule chosen? */
bool judge_has_rule(const struct judge *j, const struct check *rule);

/* Sets it; REFUTED is an error of the rule no-history with the message, DOUBTED a warning: an environment may
   keep what no reply shows. */
void judge_confirm(struct judge *j, enum confirmation what, const char *message);

/* Totals of all rollouts so far. */
struct judge_summary {
	int64_t rollouts, turns, steps, failed;
	int64_t effective; /* -1: no step's effect is known */
	int64_t unknown;   /* steps whose effect is unknown */
	struct movement movement;
	enum confirmation confirmation;
	int64_t errors, warnings, infos;
	struct failure_count failures;
	char reward[32]; /* the sum, a JSON number; "null" if no rollout has a reward */
};
void judge_summary(const struct judge *j, struct judge_summary *out);

/* The ids of rules that could not judge some rollout because facts were stripped, comma
   separated; "": none. Valid until the next call on the judge. */
const char *judge_not_checked(const struct judge *j);
