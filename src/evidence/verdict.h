/* The effect of each step, and what they come to: decided once, when a rollout is over, and read by
   every rule, table, page and total. rolldbg-verdicts(7) has the theory. */
#pragma once

#include "evidence/explain.h"

enum effect { EFFECT_UNKNOWN, EFFECT_CHANGED, EFFECT_UNCHANGED };

const char *effect_name(enum effect e); /* "unknown", "changed", "unchanged" */
/* Compares two states by their hashes, before anything else is known; an absent one: unknown. */
enum effect effect_between(struct str before, struct str after);

struct verdict {
	/* A state is informative if the user named its source, if a call changed it by an effect, if it
	   names what the calls act on, or if something in it could have changed while all replies were
	   one: only then is "unchanged" an answer. */
	bool informative;
	bool silent;    /* the last of these holds */
	int64_t acting; /* answered calls in the episode of tools that are not read-only */
	int64_t moved, still, counted; /* of these: changed; unchanged; `counted` */
	int64_t unknown;               /* all other acting calls */
	int64_t revised; /* steps whose effect is another than it seemed while the rollout ran */
};

/* Did no call that acts change anything, as far as is known? Of some it may be unknown where all replies are
   one. */
static inline bool verdict_is_still(const struct verdict *v)
{
	return v->still + v->unknown == v->acting && (v->unknown == 0 || v->silent);
}

/* A step. Its effect is final when the rollout is over; before, it says whether the call changed a
   member that is not known to be volatile or bookkeeping. */
struct completed_step {
	bool failed;
	bool expected;        /* it failed as expected: `failed` is false */
	bool by_content;      /* only its content indicates the failure, not the protocol */
	bool idle;            /* as in struct derived_line */
	bool outside_episode; /* sent after its end, or interrupted */
	bool counted;         /* unknown because only counts, echoes or what is paced changed */
	enum effect effect;
	int64_t turn, step;
	int64_t position; /* 1: the rollout's first line of type step, .. */
	int64_t trial;    /* its index in the series; -1: no later line could have a state */
	int tool;
	uint64_t call;
	/* if it failed: the first error since the last step that was answered ok; else "" */
	const char *error;
};

/* What the steps that act got as replies. */
struct replies {
	int64_t count;
	uint64_t first, first_call,
		wordless; /* hashes; of the first reply without the call's words */
	bool differ, vary,
		unlike;  /* the replies differ; in more than words of the calls; the calls do */
	bool show_state; /* the first one has a member of the state, of the same value */
};

/* Unlike calls all got one reply; or the same call did, and the environment counted none. */
bool replies_are_one(const struct replies *r, bool uncounted);

struct deciding {
	const struct explaining *explaining;
	bool named;  /* the user chose the state source, or another recorder */
	bool silent; /* replies_are_one() */
	bool shown;  /* and they show the state */
	struct completed_step *steps;
	size_t count;
};

/* Sets the final effects of the steps. */
void verdict_decide(struct verdict *v, struct series *s, const struct deciding *d);

/* A member that counts or repeats the calls, in a rollout without any effect; NULL: none. */
const struct member *verdict_aside(const struct series *s);
/* Or one that does so without a call, too. */
const struct member *verdict_counter(const struct series *s);
