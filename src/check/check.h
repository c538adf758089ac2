/* The directory check/: the judge, which runs the rules, and in rules/ one file per rule. Facts
   used by several rules are in evidence/, the layout of findings is in report/. */

/* A rule is a fold over the facts of one rollout, the same live and offline. Its state has a fixed
   size (state_size), plus what it keeps in the rollout's arena (rollout_facts.arena): by tool, by
   call or by token, and always up to a cap. A rule that cannot judge a rollout beyond its cap says
   so with rule_not_judged().
   Facts used by several rules are computed once: a line is passed as a `struct derived_line`,
   the rollout so far as a `struct rollout_facts` (evidence/rollout_facts.h). */
#pragma once

#include "evidence/rollout_facts.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

const char *severity_name(enum severity s);

/* A judgment of one rule on recorded facts. Steps and turns are -1 if there is none. */
struct finding {
	const char *rule;
	/* the rule whose finding in this rollout explains this one; NULL: none */
	const char *cause;
	enum severity severity;
	enum severity urgency; /* the highest severity of this finding and all it explains */
	int depth;             /* length of its chain of causes */
	int64_t first_turn, last_turn, first_step, last_step;
	uint64_t line;     /* line number of first_turn in the file; 0: unknown */
	char pointer[96];  /* RFC 6901, rooted at the line of first_turn; "" if there is none */
	char message[320]; /* valid UTF-8; text from peers is escaped and truncated */
};

/* Adds a finding of the rule being called; none if `where` is empty. `where` NULL: about the whole
   rollout. What is printed begins with "RULE: turns A-B: ", so a message names no turns of its
   own; it begins with its subject, and a peer's text stands last. An option's name is enclosed in \1
   and \2 (base/settings.h). */
struct findings;
void finding_add(struct findings *out, enum severity severity, const struct span *where,
                 const char *pointer, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Called by a rule's `end` if the rollout has data that is too large to judge: the rule is then
   listed as not checked, instead of counting as clean. */
void rule_not_judged(struct findings *out);

/* The complete rollouts of one task, each sample once. */
struct task_group {
	struct str task;              /* task.id */
	const char *name;             /* as a C string */
	int64_t size;                 /* the requested group_size; -1: unknown */
	bool open;                    /* rollouts of somebody else's client, seen by a tap */
	int64_t count, lost;          /* samples; rollouts without a session or an end */
	int64_t voids, void_rewarded; /* rollouts without an answered call; of these: rewarded */
	bool acted;                   /* some rollout, of any task up to here, made a call */
	bool unlisted;    /* nothing says whether tools were offered, and nobody called one */
	int64_t rewarded; /* samples whose reward is known */
	bool rewards_differ;
	double reward; /* of the first sample whose reward is known */
	/* Samples with the seed of the first one; how many of them differ from it at the start
	   although they made the same calls; and the number of calls before the first
	   difference. */
	int64_t seed, seeded, seed_differ, seed_calls;
};

#define EXPLAINS_MAX 12

/* The definition of a rule. */
struct check {
	const char *id;    /* in kebab case; the file's name has '_' for '-' */
	const char *title; /* one line for lists */
	/* The severity of its findings, unless raised or lowered by one level. */
	enum severity severity;
	/* The condition under which it is one level higher or lower, worded to follow "when";
	   NULL: never. */
	const char *raised, *lowered;
	/* The rules whose findings are explained by this one's, if their turns overlap or one
	   has no turns; NULL after the last. No cycles. Each fact belongs to one rule: if two
	   rules apply, either one ignores the case, or one explains the other. Check the list of
	   rules before adding one. */
	const struct check *explains[EXPLAINS_MAX];
	/* A command that shows more, printed after "cause: ..; more:"; NULL: none. In all these
	   texts an option's name is enclosed in \1 and \2 (base/settings.h). */
	const char *more;
	/* The explanation of the rule: what it means, where to look, how to fix it. */
	const char *why;
	/* Needs facts that strip removes: listed as not checked for each stripped recording with a
	   step, unless it has a finding there. Not for a rule that can judge most of what it
	   reports without them. */
	bool needs_meta;
	/* FACT(..), or-ed: the rule judges no rollout without these facts. Recordings of other
	   programs lack some. */
	uint64_t needs;
	/* Bits of enum kind: the lines for which `line` or `find` is called. */
	unsigned wants;
	size_t state_size; /* zeroed when a header opens the rollout */
	/* Each may be NULL; of two that differ in a parameter, a rule has one at most. `r` already
	   includes the line (except r->previous). */
	void (*line)(void *state, const struct rollout_facts *r, const struct derived_line *m);
	void (*find)(void *state, const struct rollout_facts *r, const struct derived_line *m,
	             struct findings *out);
	/* Called once per task: at the end of its file or, for a group in several files, after
	   all files. */
	void (*group)(const struct task_group *g, struct findings *out);
	/* Called once, when the effects of all steps are final (r->completed); `close` with the end
	   line, which is never passed to `line`, or with m->line NULL if there is none. */
	void (*end)(void *state, const struct rollout_facts *r, struct findings *out);
	void (*close)(void *state, const struct rollout_facts *r, const struct derived_line *m,
	              struct findings *out);
	/* Called once after all files, with log-probabilities from a trainer. */
	void (*finish)(const struct trained *t, struct findings *out);
};

#define CHECKS_MAX 64

#define CHECK(x) extern const struct check check_##x;
#include "check/checks.def"
#undef CHECK

extern const struct check *const checks[];
extern const size_t checks_count;
const struct check *check_find(struct str id); /* NULL: no such rule */
/* FAIL_USAGE: "unknown rule", with the nearest id. Returns -1. */
int check_unknown(struct str id, struct error *err);
/* Sets the flags of the rules in a comma-separated list, by index in `checks`. FAIL_USAGE: an
   unknown rule, with the nearest name. */
MUST_USE int checks_read_list(const char *list, bool named[CHECKS_MAX], struct error *err);
/* The rules that are named, or all if `only` is NULL, but those left out (may be NULL). FAIL_USAGE: an unknown
   rule, or none is left. */
MUST_USE int checks_choose(const char *only, const char *without, bool chosen[CHECKS_MAX],
                           struct error *err);

/* Does an imported recording lack facts that the rule needs? */
static inline bool check_lacks_facts(const struct check *c, const struct rollout_facts *r)
{
	return c->needs & ~r->known;
}

/* Appends "warning; error when .., info when ..": for lists, explanations and the manual. */
void check_describe_severity(const struct check *c, struct buf *out);

/* The first cause in the chain above f, a member of the list; f itself if nothing explains it. */
const struct finding *causes_root(const struct finding *list, size_t count,
                                  const struct finding *f);
