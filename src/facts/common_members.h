/* The members that all answers have in common, and whether another answer has any of them. */
#ifndef ROLLDBG_FACTS_COMMON_MEMBERS_H
#define ROLLDBG_FACTS_COMMON_MEMBERS_H

#include "base/base.h"

#define COMMON_MEMBERS_MAX 16

/* Ready for use if zeroed. */
struct common_members {
	uint64_t keys[COMMON_MEMBERS_MAX];
	size_t count;
	bool any; /* an answer was added */
};

/* Adds an answer, raw: keeps only the members that it also has. Members that are null or empty, and
   OpenEnv's metadata, are ignored. An answer that is not an object has one member: its type. Only
   the first COMMON_MEMBERS_MAX members of an answer are kept. */
void common_members_add(struct common_members *c, struct str answer);

/* Does the answer lack all members that the added ones have in common? False if there are none. */
bool common_members_lacks_all(const struct common_members *c, struct str answer);

#endif
