/* The first states of an episode, for comparison: at the start, and after each of the first
   calls. The same seed and the same calls give the same trace. */
#pragma once

#include "evidence/explain.h"

#define TRACE_CALLS 4

struct trace_point {
	uint64_t seen;     /* hash of the value; 0: unknown */
	uint64_t left_out; /* hash of the names of omitted members */
};

struct trace {
	/* hash of texts and lists in the reply to the reset; 0: unknown, or none */
	uint64_t start;
	size_t calls;
	uint64_t call[TRACE_CALLS];                /* hashes */
	struct trace_point point[TRACE_CALLS + 1]; /* before the first call, and after each */
};

/* Adds the value after the calls so far, unless there is one already. Points in time, ids, and
   members that are volatile or bookkeeping are omitted. */
void trace_add(struct trace *t, const struct series *s, const struct explaining *e,
               struct str value, struct buf *scratch);
/* Adds the reply to the reset, if states are traced: a state need not show all that was drawn. Its
   lists and texts are compared, apart from points in time and from texts with digits, which may be
   ids. */
void trace_add_start(struct trace *t, struct str reply, struct buf *scratch);

/* As trace_add(), for a hash. */
void trace_add_hash(struct trace *t, uint64_t hash);

void trace_call(struct trace *t, uint64_t call);

enum trace_similarity { TRACE_EQUAL, TRACE_DIFFERENT_START, TRACE_DIFFERENT_STEPS };

/* Compares as long as both made the same calls. *calls: number of calls before the first
   difference. */
enum trace_similarity trace_compare(const struct trace *a, const struct trace *b, size_t *calls);
