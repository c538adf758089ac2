/* The beginning of an episode, for comparison: what it started with, and what it was after each
   of the first calls. The same seed and the same calls give the same trace. */
#ifndef ROLLDBG_FACTS_TRACE_H
#define ROLLDBG_FACTS_TRACE_H

#include "facts/member_changes.h"

#define TRACE_CALLS 4

struct trace_point {
	uint64_t seen;     /* a hash of what was seen; 0: unknown */
	uint64_t left_out; /* of the members that were not looked at */
};

struct trace {
	size_t calls;
	uint64_t call[TRACE_CALLS];                /* hashes */
	struct trace_point point[TRACE_CALLS + 1]; /* before the first call, and after each */
};

/* What is seen after the calls so far; the first time counts. Points in time, ids, and members
   that `c` knows to change by themselves are left out. */
void trace_see(struct trace *t, const struct member_changes *c, struct str value,
               struct buf *scratch);
/* The same for a value that is hashed already. */
void trace_see_hash(struct trace *t, uint64_t hash);

void trace_call(struct trace *t, uint64_t call);

enum trace_likeness { TRACE_ALIKE, TRACE_OTHER_START, TRACE_OTHER_STEPS };

/* As far as both made the same calls. *calls: after how many of them they first differ. */
enum trace_likeness trace_compare(const struct trace *a, const struct trace *b, size_t *calls);

#endif
