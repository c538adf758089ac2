/* The folder check/: the judge, and in rules/ one file a rule. Not here: facts that several
   rules want (facts/), and how findings look (report/). */

/* A rule is a fold over the facts of one rollout, with bounded state, the same live and
   offline. Facts that several rules need are derived once: a line is passed as a `struct
   derived_line`, the rollout so far as a `struct rollout_facts` (facts/rollout_facts.h). */
#ifndef ROLLDBG_CHECK_CHECK_H
#define ROLLDBG_CHECK_CHECK_H

#include "facts/rollout_facts.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

const char *severity_name(enum severity s);

/* A judgement of one rule over recorded facts. Steps and turns are -1 when there
   is none. */
struct finding {
	const char *rule;
	const char *cause; /* the rule whose finding in this rollout explains it; NULL */
	enum severity severity;
	enum severity urgency; /* the worst of it and of all that it explains */
	int depth;             /* how many causes are above it */
	int64_t first_turn, last_turn, first_step, last_step;
	uint64_t line;     /* of the file, where first_turn is; 0: not known */
	char pointer[96];  /* RFC 6901, rooted at the line of first_turn; "" when none */
	char message[320]; /* whole UTF-8; peers' text in it is escaped and cut */
};

/* Says one finding of the rule that is being asked. `where` NULL or never added
   to: a finding about the rollout as a whole. */
struct findings;
void finding_say(struct findings *out, enum severity severity, const struct span *where,
                 const char *pointer, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Called by a rule's `end`: something of this rollout was too large to be judged. The rule is among those that were not
   checked, for what is not said must not look clean. */
void rule_not_judged(struct findings *out);

/* The rollouts of one task that reached an end, each sample once. */
struct task_group {
	struct str task;     /* task.id */
	const char *name;    /* the same for messages */
	int64_t size;        /* the requested group_size; -1: unknown */
	int64_t count, lost; /* samples; rollouts that got no session or no end */
	int64_t rewarded;    /* samples whose reward is known */
	bool rewards_differ;
	double reward; /* of the first one that is known */
	/* Samples with the seed of the first one; those that began otherwise than it, though they
	   made the same calls; and after how many calls the first of these was seen to differ. */
	int64_t seed, seeded, seed_differ, seed_calls;
};

#define EXPLAINS_MAX 12

struct check {
	const char *id;    /* kebab-case, also the file's name with '-' as '_' */
	const char *title; /* one line for lists */
	/* Of its findings, unless something raises or lowers it. What finding_say is given is one of
	   the three. */
	enum severity severity;
	/* The condition under which it is one higher, or lower, worded to follow "when"; NULL:
	   never. */
	const char *raised, *lowered;
	/* Rules whose findings this one's explain if their turns overlap, or one has none: NULL
	   behind the last. No rings. One fact belongs to one rule: a rule that meets another's case
	   leaves it out in its code, or is explained by it or explains it. Before adding one, read the
	   list of rules. */
	const struct check *explains[EXPLAINS_MAX];
	/* A command that tells more of it, shown behind "cause: ..; more:"; NULL. An option's name
	   stands between \1 and \2 in all these texts (base/settings.h). */
	const char *more;
	/* For people who ask for the rule: what it means, where to look, how to fix it. */
	const char *why;
	bool needs_meta; /* strip takes some of its facts away */
	/* Bits of enum kind: the lines and steps that `line` and `completed` are called for. `end`,
	   `group` and `finish` are always called. */
	unsigned wants;
	size_t state_size; /* zeroed when a header opens the rollout */
	/* Each may be NULL. For one line `completed` is called before `line` or `end`; `r`
	   already includes that line (but r->previous). */
	void (*completed)(void *state, const struct rollout_facts *r,
	                  const struct completed_step *p, struct findings *out);
	void (*line)(void *state, const struct rollout_facts *r, const struct derived_line *m,
	             struct findings *out);
	/* Once for each task, when its file is done or, with a group size that one file
	   does not reach, when all are. */
	void (*group)(const struct task_group *g, struct findings *out);
	/* Once, for the end line (never given to `line`), or with m->line NULL
	   when none came. */
	void (*end)(void *state, const struct rollout_facts *r, const struct derived_line *m,
	            struct findings *out);
	/* Once, when all files are done, with what a trainer supplied. */
	void (*finish)(const struct trained *t, struct findings *out);
};

#define CHECKS_MAX 64

#define CHECK(x) extern const struct check check_##x;
#include "check/checks.def"
#undef CHECK

extern const struct check *const checks[];
extern const size_t checks_count;
const struct check *check_find(struct str id); /* NULL: no such rule */

/* "warning; error when .., info when ..": what lists, explanations and the manual say. */
void check_describe_severity(const struct check *c, struct buf *out);

#endif
