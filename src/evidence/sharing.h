/* Relations between rollouts: ids of environments that two of them report, rollouts that begin
   where the last one ended, and members that change while only others act. The detector of shared
   environments, used by rules and by probe. */
#pragma once

#include "evidence/limits.h"
#include "evidence/rollout_table.h"

struct sharing {
	const struct rollout_table *open;
	const struct open_rollout *current; /* the rollout of the last line */
	struct map owners;                  /* by environment id */
	struct arena arena;
	int64_t clock; /* number of lines so far */
	int64_t begun; /* rollouts started in this file */
	int64_t files; /* files completed */
	/* The number of the rollout that last called a tool, the time of that call, and of the
	   last call of another rollout. */
	int64_t caller, called, other_called;
	/* The states in which the file's first rollouts began (hashes), as long as they ran one after
	   the other, each began where the one before had ended, and no two in the same state
	   (else `broken`). */
	uint64_t starts[CONTINUED_ROLLOUTS], end;
	int64_t started;
	bool broken;
	struct map shared;   /* by pointer */
	int64_t busy, shown; /* controls of the file; those that showed the newest such member */
	/* Fingerprints of the last header's tool list: of its text, and of names and arguments. */
	uint64_t tools_text, tools_names;
};

void sharing_release(struct sharing *s); /* a zeroed one is fine */
/* Starts a new file. Ids are kept. */
void sharing_forget(struct sharing *s);

/* Would the ids claimed in `other`, for another file, have had the same results after ours? */
bool sharing_can_absorb(const struct sharing *s, const struct sharing *other);
/* Registers all ids of `other`; only if it can be absorbed. */
void sharing_absorb(struct sharing *s, const struct sharing *other);

/* Calls `take` for each id claimed so far, with four numbers: its hash, the rollout, the mark, and
   whether it is contested. sharing_claimed registers one again. */
void sharing_each(const struct sharing *s, void (*take)(void *ctx, const int64_t number[4]),
                  void *ctx);
void sharing_claimed(struct sharing *s, const int64_t number[4]);

/* Registers an environment's id for the current rollout. `kind` separates ids of different
   kinds; `mark` is the same for copies of one rollout, which may share an id. True if another
   rollout used the id before: *owner is that rollout's id, absent if it has ended. */
bool sharing_claim(struct sharing *s, char kind, struct str id, uint64_t mark, struct str *owner);

/* Records a tool call of that rollout. */
void sharing_called(struct sharing *s, const struct open_rollout *o);
/* Did another rollout call a tool since the current rollout's last line? */
bool sharing_others_called(const struct sharing *s);

/* The current rollout's first state, and its last one (hashes). Returns how many rollouts, up to
   this one and CONTINUED_ROLLOUTS, each began where the one before had ended; 0: not all did. */
int64_t sharing_begin(struct sharing *s, uint64_t state, bool alone);
void sharing_end(struct sharing *s, uint64_t state);

/* Adds a rollout that is over. Returns the member that other rollouts change, too: this rollout's own
   calls change it by an effect, it never changed while nobody acted, and it did in at least
   SHARED_CONTROLS (`shown`), and half (of `busy`), of the file's controls so far in which others
   acted. NULL: none. After explain_members(). */
const struct member *sharing_add(struct sharing *s, const struct series *x);
