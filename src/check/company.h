/* What the rollouts of one judge have to do with each other: who holds which environment,
   and who acted while another one's state moved. */
#ifndef ROLLDBG_CHECK_COMPANY_H
#define ROLLDBG_CHECK_COMPANY_H

#include "check/open.h"

struct company {
	const struct open_table *open;
	const struct open_rollout *current; /* the one whose line is being judged */
	struct claim *claims;               /* ids of environments by their hash */
	size_t size, count;
	int64_t clock; /* lines judged so far */
};

void company_release(struct company *c); /* zeroed is fine */

/* Takes an id of an environment for the current rollout. `kind` keeps ids of different
   kinds apart; `mark` is the same for copies of one rollout, which share an id rightly.
   True when another rollout took it before: *owner is that one's id, absent when it has
   ended. */
bool company_claim(struct company *c, char kind, struct str id, uint64_t mark,
                   struct str *owner);

/* When the current rollout strayed: the id of an open one that acted since its last line,
   and was in the state it strayed from or is in the one it strayed to; else absent. */
struct str company_mover(const struct company *c);

/* When the environment counted more than one step since the current rollout's last one:
   the id of an open one whose newest count is between, one below; else absent. */
struct str company_counter(const struct company *c, int64_t before, int64_t now);

#endif
