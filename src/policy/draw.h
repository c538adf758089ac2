/* Random arguments that match a tool's schema, from a seed. Where the schema allows anything,
   values come from the server's own texts: defaults, examples, words in descriptions. */
#ifndef ROLLDBG_POLICY_DRAW_H
#define ROLLDBG_POLICY_DRAW_H

#include "base/rng.h"
#include "json/scan.h"
#include "policy/action_candidates.h"
#include "policy/parameter_values.h"

/* Returns one element of an array; absent if it is empty. */
struct str draw_any(struct rng *r, struct str array);

/* What a server's texts say beyond the schema. */
struct draw_texts {
	const struct action_candidates *words; /* for strings whose values no text lists */
	const struct parameter_values *listed; /* NULL: none */
	struct str tool;                       /* decoded name, for `listed` */
};

/* Appends an object with all required arguments and each optional one with probability 1/2;
   arrays and objects in it are not empty unless the schema requires it. Where an error has listed
   the values of a parameter, one of those; where a description lists them, usually. */
void draw_arguments(struct rng *r, struct str schema, const struct draw_texts *texts,
                    struct buf *out);

#endif
