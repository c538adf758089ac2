/* What a rule is: a fold over the lines of one rollout, with bounded state. The judge (check/judge.h)
   works out once what every rule wants to know about a line, live and offline alike. */
#ifndef ROLLDBG_CHECK_CHECK_H
#define ROLLDBG_CHECK_CHECK_H

#include "base/mem.h"
#include "trajectory/line.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

const char *severity_name(enum severity s);

/* A judgement of one rule over recorded facts. Steps and turns are -1 when there is none. */
struct finding {
	const char *rule;
	enum severity severity;
	int64_t first_turn, last_turn, first_step, last_step;
	char pointer[96];  /* RFC 6901, rooted at the line of first_turn; "" when none */
	char message[320]; /* peers' text in it is escaped and cut */
};

struct findings; /* collects what the rules of one rollout say; check/judge.c */
void finding_add(struct findings *out, const struct finding *f);

/* Did a step change the state? Unknown is not unchanged. */
enum effect { EFFECT_NONE, EFFECT_CHANGED, EFFECT_UNCHANGED, EFFECT_UNKNOWN };

/* What is known of the step before the current line, now that this line's state is known too. */
struct past_step {
	bool exists;
	int64_t turn, step;
	bool failed;
	bool after_terminal; /* it was itself sent after the episode had ended */
	enum effect effect;
};

/* One line with what the judge derived from it. Slices live for the call only: copy what must stay,
   into the rule's own bounded state or the rollout's arena. */
struct moment {
	const struct line *line;
	const struct line *header_facts; /* NULL before the header; only the copies in `rollout` are promised */
	bool is_step;        /* a step line whose call was sent (it has a step number) */
	bool failed;         /* is_step and outcome is not ok */
	bool after_terminal; /* an earlier step of the episode said terminated or truncated */
	struct past_step past;
};

struct rollout_facts; /* header facts kept for the rules: state source kind, tools, ...; check/judge.h */

struct check {
	const char *id;    /* kebab-case, also the file's name with '-' as '_' */
	const char *title; /* one line for lists */
	const char *why;   /* a paragraph for `check --explain` : what it means, what to do */
	size_t state_size; /* zeroed at each header */
	/* line: any line of the rollout, header included. end: after its last line, also when no end
	   line came. Both may be NULL. needs: keys (of meta or others) without which the rule cannot speak
	   is reported by returning false from `can`. */
	void (*line)(void *state, const struct rollout_facts *r, const struct moment *m, struct findings *out);
	void (*end)(void *state, const struct rollout_facts *r, struct findings *out);
};

extern const struct check *const checks[];
extern const size_t checks_count;
const struct check *check_find(struct str id);

#endif
