/* A range of turns and steps, and how often something occurred in it. */
#ifndef ROLLDBG_EVIDENCE_SPAN_H
#define ROLLDBG_EVIDENCE_SPAN_H

#include <stdint.h>

struct span {
	int64_t first_turn, last_turn, first_step, last_step;
	int64_t count; /* 0: never */
};

static inline void span_add(struct span *s, int64_t turn, int64_t step)
{
	if (s->count++ == 0) {
		s->first_turn = turn;
		s->first_step = step;
	}
	s->last_turn = turn;
	s->last_step = step;
}

#endif
