/* The members that all replies have in common, and whether another reply has any of them. */
#ifndef ROLLDBG_FACTS_COMMON_MEMBERS_H
#define ROLLDBG_FACTS_COMMON_MEMBERS_H

#include "base/base.h"

#define COMMON_MEMBERS_MAX 16

/* Ready for use if zeroed. */
struct common_members {
	uint64_t keys[COMMON_MEMBERS_MAX];
	size_t count;
	bool any; /* a reply was added */
};

/* Adds a reply, raw: keeps only the members that it also has. Members that are null or empty, and
   OpenEnv's metadata, are ignored. A reply that is not an object has one member: its type. Only
   the first COMMON_MEMBERS_MAX members of a reply are kept. */
void common_members_add(struct common_members *c, struct str reply);

/* Does the reply lack all members that the added ones have in common? False if there are none. */
bool common_members_lacks_all(const struct common_members *c, struct str reply);

#endif
