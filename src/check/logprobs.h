/* Log-probabilities of sampled tokens, as a recording has them, and how far those of a
   trainer are from them. */
#ifndef ROLLDBG_CHECK_LOGPROBS_H
#define ROLLDBG_CHECK_LOGPROBS_H

#include "json/scan.h"

/* Walks through those of one turn; zeroed but for `llm`, the value of that key. */
struct logprob_walk {
	struct str llm, list;
	size_t cursor;
	bool plain; /* a list of numbers, not of objects */
};

/* *value is NaN where there is none: null, or the padding -9999 of some servers. */
bool logprob_next(struct logprob_walk *w, double *value);

/* Sampling parameters that were sent (policy.params.sent of a header's `policy`) and make
   what a server reports another thing than what it sampled with: "temperature 0.7, top_p
   0.9". False and "": none. */
bool logprobs_tempered(struct str policy, char *out, size_t size);

/* Sums over tokens, with lr = log p(trainer) - log p(sampled), bounded to +-20. */
struct ratios {
	int64_t tokens, first_tokens;
	double lr, k3, weight, squares; /* of lr, e^lr - 1 - lr, e^lr, e^2lr */
	double distance;                /* of |p(trainer) - p(sampled)| */
	double first, rest; /* of |lr|, at the beginning of a turn and behind it */
};

#define RATIOS_FIRST 8 /* tokens that are the beginning of a turn */

/* `place`: the token's in its turn, from 0. */
void ratios_add(struct ratios *r, size_t place, double trained, double sampled);
void ratios_merge(struct ratios *r, const struct ratios *other);

/* Compares one turn: how many tokens it has, 0 when nothing usable was recorded (all
   zeros are what is padded with). Adds those with a value on both sides; where the count
   is not the trainer's the sums are of no use. */
size_t ratios_turn(struct ratios *r, struct str llm, const double *trained, size_t count);

/* Means over all tokens; 0 without any. */
double ratios_k1(const struct ratios *r);     /* estimates KL(sampled, trainer) */
double ratios_k3(const struct ratios *r);     /* the same, and never negative */
double ratios_weight(const struct ratios *r); /* of the importance weights: 1 at best */
double ratios_ess(const struct ratios *r);    /* share of the sample that counts, to 1 */
double ratios_distance(const struct ratios *r);

/* Is any of these beyond what trainers' manuals call healthy? */
bool ratios_apart(const struct ratios *r);
/* Are turns wrong where they begin, and right behind it? So it is when what was scored
   is not what was sampled from; rounding spreads evenly. */
bool ratios_shifted(const struct ratios *r);
double ratios_first(const struct ratios *r); /* mean |lr| of beginnings */
double ratios_rest(const struct ratios *r);  /* and of all else */

#endif
