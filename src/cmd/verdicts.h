/* Shared by `run` and `check`: printing and counting verdicts, and the exit code. */
#pragma once

#include "base/error.h"
#include "cmd/html_file.h"
#include "cmd/options/options.h"
#include "cmd/options/output.h"
#include "cmd/progress.h"
#include "cmd/reports.h"
#include "cmd/store/recordings.h"

/* Options of both commands, for their tables. */
#define MEMBERS verdict
#include "cmd/options/members.h"

#define VERDICT_RULES_MAX 64

/* Findings of one rule, in many rollouts, of which only the first rollout's are printed. */
struct folded {
	const char *rule;
	enum severity severity; /* worst severity among them */
	int64_t count, shown;
	int64_t first; /* the number of that rollout */
};

struct verdicts {
	const struct context *context;
	struct output out;
	struct reports *reports; /* borrowed, unless verdicts_open opened them */
	struct html_file *html;  /* borrowed; NULL: no page */
	/* a rollout that was refused, lost its peer or failed counts as failed, regardless of
	   findings */
	bool ends_count;
	bool live;                  /* so does an interrupted one */
	bool fresh_file;            /* as in struct report_case */
	enum finding_origin origin; /* printed before a finding */
	const struct verdict_options *options;
	int64_t at_or_above; /* findings that cause exit 1 */
	int64_t broken;      /* rollouts that were refused, lost their peer, or failed */
	int64_t unfinished;  /* rollouts that did not reach their end */
	bool fold;  /* print the findings of a rule for one rollout, and the count of the others */
	bool brief; /* with fold: one a rule, and none that another one explains */
	int64_t taken;    /* rollouts, and groups */
	const char *file; /* of the last of them, unless brief; borrowed */
	struct folded folded[VERDICT_RULES_MAX];
	size_t folded_count;
	const char *worst; /* rule of the first finding of the highest severity */
	enum severity worst_severity;
	bool has_cause; /* a line with a cause was printed */

	/* Of rollouts that are being recorded; see verdicts_open. */
	struct recordings *recordings; /* borrowed; NULL: they were recorded before */
	bool many;                     /* rollouts: their names are printed */
	void (*line)(void *ctx,
	             const struct evidence_update *u); /* before its verdict; may be NULL */
	void *ctx;
	struct judge *judge;
	struct progress *progress; /* NULL: none is shown */
	struct error mute;         /* why printing stopped; recording goes on */
	bool latest;               /* the `latest` link points to this recording */
	struct buf path;           /* scratch */
};

/* ---- of rollouts that are being recorded ---- */

/* Makes the judge and opens the reports, after the caller set the members. taken: as for reports_open. */
MUST_USE int verdicts_open(struct verdicts *v, const struct hints *hints,
                           const struct report_options *reports, const char *taken,
                           struct error *err);
/* Judges a line of any of them, and lets `latest` point to its recording once that is worth keeping. */
MUST_USE int verdicts_feed(struct verdicts *v, const struct line *l, struct error *err);
/* Prints what there is so far. A write error is kept in mute: it does not end a rollout. */
void verdicts_print(struct verdicts *v);
void verdicts_release(struct verdicts *v); /* with judge, reports and output; zeroed is fine */

/* ---- of any ---- */

/* struct judge_conf.verdict, with a struct verdicts as ctx. */
void verdicts_take(void *ctx, const struct rollout_verdict *v);
/* With fold: the findings of the last file are complete. */
void verdicts_end_file(struct verdicts *v);
/* struct judge_conf.line. */
void verdicts_line(void *ctx, const struct evidence_update *u);
/* Makes hints for the judge from the options about tools and errors; borrows from the options.
   FAIL_INPUT if a baseline cannot be read, FAIL_USAGE if
   the share of failures is none. Call verdict_hints_release in any case. */
MUST_USE int verdict_hints(const struct verdict_options *o, const struct context *c,
                           struct hints *out, struct error *err);
void verdict_hints_release(struct hints *t);
/* --fail-on never */
bool verdict_never_fails(const struct verdict_options *o);
/* Appends the summary to out. Exceeding --max-environment-failures is said on standard error, and
   counts in at_or_above. */
void verdicts_summary(struct verdicts *v, const struct judge *j);

/* ---- the gate of failures ---- */

#define FAILURE_GATE_HELP                                                                          \
	"exit 1 if more than this share of the rollouts (5%, 0.05) failed by the environment, "    \
	"transport, capacity or verifier"

/* text: "5%" or "0.05"; NULL: *limit is 1, which nothing exceeds. FAIL_USAGE: anything else. */
MUST_USE int failure_gate_read(const char *text, double *limit, struct error *err);

/* Is the limit exceeded? Then says so on standard error. */
bool failure_gate_exceeded(double limit, int64_t failures, int64_t rollouts);
