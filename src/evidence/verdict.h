/* The effect of each step, and what they come to: decided once, when a rollout is over, and read by
   every rule, table, page and total. rolldbg-verdicts(7) has the theory. */
#ifndef ROLLDBG_EVIDENCE_VERDICT_H
#define ROLLDBG_EVIDENCE_VERDICT_H

#include "evidence/explain.h"

enum effect { EFFECT_UNKNOWN, EFFECT_CHANGED, EFFECT_UNCHANGED };

const char *effect_name(enum effect e); /* "unknown", "changed", "unchanged" */
/* Compares two states by their hashes, before anything else is known; an absent one: unknown. */
enum effect effect_between(struct str before, struct str after);

struct verdict {
	/* A state is informative if the user named its source, if a call changed it by an effect, or
	   if it names what the calls act on: only then is "unchanged" an answer. */
	bool informative;
	int64_t acting; /* answered calls in the episode of tools that are not read-only */
	int64_t moved, still,
		counted; /* of these: changed; unchanged; changed counts or echoes only */
	int64_t unknown; /* all other acting calls */
	int64_t revised; /* steps whose effect is another than it seemed while the rollout ran */
};

struct completed_step;

/* Sets the final effects of the steps. named: the user chose the state source. */
void verdict_decide(struct verdict *v, struct series *s, const struct explaining *e, bool named,
                    struct completed_step *steps, size_t count);

/* A member that counts or repeats the calls, in a rollout without any effect; NULL: none. */
const struct member *verdict_aside(const struct series *s);

#endif
