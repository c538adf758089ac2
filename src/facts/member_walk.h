/* A walk through two values at once, which visits the pairs of their members and elements. */
#ifndef ROLLDBG_FACTS_MEMBER_WALK_H
#define ROLLDBG_FACTS_MEMBER_WALK_H

#include "base/buf.h"

#define MEMBER_WALK_DEPTH 6 /* deeper containers are compared as one value */
/* longer arrays, and arrays of different lengths, are compared as one value */
#define MEMBER_WALK_ELEMENTS 8

struct walk_level {
	struct str before, after;
	size_t before_at, after_at, pointer_n;
	size_t index; /* of an array's element */
};

struct member_walk {
	struct walk_level levels[MEMBER_WALK_DEPTH];
	size_t depth;
	struct buf pointer;
};

/* Can it descend into the two values: objects, or short arrays, with the same number of members? */
bool member_walk_comparable(struct str before, struct str after);
/* Begins a level; at most MEMBER_WALK_DEPTH are open. */
void member_walk_descend(struct member_walk *w, struct str before, struct str after);
/* The next pair of members or elements of the innermost level, `pointer` being theirs; false at its
   end. `before` is absent if there is no such member. */
bool member_walk_next(struct member_walk *w, struct str *before, struct str *after);

/* Appends a key as a token of a pointer. */
void member_walk_put_token(struct buf *pointer, struct str key);

/* Is the pointer the other one, or one of a value inside it? */
static inline bool member_walk_is_below(struct str pointer, struct str top)
{
	return str_starts(pointer, top) && (pointer.n == top.n || pointer.p[top.n] == '/');
}

static inline bool member_walk_touches(struct str pointer, struct str other)
{
	return member_walk_is_below(pointer, other) || member_walk_is_below(other, pointer);
}

#endif
