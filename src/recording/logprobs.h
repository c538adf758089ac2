/* Recorded log-probabilities of sampled tokens, and how far a trainer's differ from them. */
#pragma once

#include "json/scan.h"

/* An iterator over the log-probabilities of one turn; zeroed except for `logprobs`, that member of
   the line's `llm`. */
struct logprob_walk {
	struct str logprobs, list;
	size_t cursor;
	bool plain; /* a list of numbers, not of objects */
};

/* *value is NaN if there is none: null, or -9999, which some servers use as padding. */
bool logprob_next(struct logprob_walk *w, double *value);

/* Lists the sent sampling parameters (policy.params.sent of a header, or llm.sent) that make the
   reported log-probabilities differ from those sampled with: "temperature 0.7, top_p 0.9".
   Returns false, with "", if there are none. */
bool logprobs_incomparable(struct str sent, char *out, size_t size);

/* Sums over tokens, with lr = log p(trainer) - log p(sampled), clamped to +-20. */
struct ratios {
	int64_t tokens, first_tokens;
	double lr, k3, weight, squares; /* sums of lr, e^lr - 1 - lr, e^lr, e^2lr */
	double distance;                /* sum of |p(trainer) - p(sampled)| */
	double first, rest; /* sum of |lr|, in the first tokens of a turn and after them */
};

#define RATIOS_FIRST 8 /* number of tokens that count as the beginning of a turn */

/* `place`: the token's index in its turn. */
void ratios_add(struct ratios *r, size_t place, double trained, double sampled);
void ratios_merge(struct ratios *r, const struct ratios *other);

/* Compares one turn. Returns its number of tokens, 0 if nothing usable was recorded (only zeros
   are padding). Adds the tokens with a value on both sides; if the count differs from the
   trainer's, the sums are useless. */
size_t ratios_turn(struct ratios *r, struct str llm, const double *trained, size_t count);

/* Means over all tokens; 0 without any. */
struct ratio_means {
	double k1;     /* estimates KL(sampled, trainer) */
	double k3;     /* the same, never negative */
	double weight; /* mean importance weight; ideally 1 */
	double ess;    /* effective sample size as a fraction, at most 1 */
	double distance;
	double first, rest; /* mean |lr| at beginnings, and elsewhere */
	bool out_of_range; /* some of these is outside the range that trainers' manuals recommend */
	/* Turns differ at their beginning only: the scored prompt is not the one sampled from, because
	   rounding errors are spread evenly. */
	bool shifted;
};
struct ratio_means ratios_means(const struct ratios *r);
