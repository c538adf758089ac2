/* Replies that are refusals although they do not say so in a known form: whatever the call, the same
   words with other numbers ("Rate limited. Retry after 610 ms"), and nothing of what the reset's
   observation showed of the state. */
#ifndef ROLLDBG_FACTS_UNIFORM_REPLIES_H
#define ROLLDBG_FACTS_UNIFORM_REPLIES_H

#include "facts/common_members.h"

#define UNIFORM_VALUES      16
#define UNIFORM_REPLIES_MIN 3

/* Ready for use if zeroed. */
struct uniform_replies {
	struct common_members reset;     /* of the reset's observation */
	uint64_t values[UNIFORM_VALUES]; /* hashes of its members with their values */
	size_t value_count;
	bool shown;     /* the first state contains one of them */
	uint64_t words; /* hash of the first reply without its digits */
	uint64_t call;  /* the first call */
	int64_t replies;
	bool calls_differ;
	/* the state contains none, or a reply differed in words or had a member of the reset's
	   observation */
	bool excluded;
};

/* Adds the reset's observation; a second reset excludes the rollout. */
void uniform_replies_reset(struct uniform_replies *u, struct str observation);
/* Adds a state; only the first one matters. */
void uniform_replies_state(struct uniform_replies *u, struct str state);
/* Adds the reply to a call; `call` distinguishes calls. */
void uniform_replies_add(struct uniform_replies *u, uint64_t call, struct str reply);

/* Are there at least UNIFORM_REPLIES_MIN such replies, to different calls, and no others? */
bool uniform_replies_found(const struct uniform_replies *u);

#endif
