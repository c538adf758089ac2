/* Things found by name: an intrusive hash table, so that a thousand open sessions cost a
   request no more than one does. */
#ifndef ROLLDBG_SERVE_INDEX_H
#define ROLLDBG_SERVE_INDEX_H

#include "base/base.h"

/* First member of whatever is kept. */
struct named {
	struct named *next;
	uint64_t hash;
	struct str name; /* points into its owner, which the index does not own */
};

struct index {
	struct named **chains;
	size_t mask, count;
};

struct named *index_find(const struct index *x, struct str name);
void index_add(struct index *x, struct named *n); /* n->name is set and not in yet */
void index_remove(struct index *x, struct named *n);
/* All of them, in no order: start with NULL. n may be removed and freed after its
   successor was asked for. */
struct named *index_next(const struct index *x, const struct named *n);
void index_release(struct index *x); /* its own memory only; zeroed is fine */

#endif
