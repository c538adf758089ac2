/* What the files of rules/ include: the interface of a rule, the facts of peers in a form for
   messages, and what messages are made with. */
#pragma once

#include "check/check.h"
#include "evidence/limits.h"
#include "evidence/peer.h"

#include <inttypes.h>
#include <stdio.h>

/* The reset, or steps, that failed in one way. */
struct failed_lines {
	bool reset;
	struct span steps;
	char error[ERROR_TEXT]; /* of the first one */
};

static inline void failed_lines_add(struct failed_lines *s, const struct rollout_facts *r,
                                    const struct derived_line *m, enum outcome outcome,
                                    enum error_class class)
{
	if (m->line->outcome != outcome && line_error_class(m->line) != class)
		return;
	if (!s->reset && s->steps.count == 0)
		peer_error(r->work, m->line, s->error);
	if (m->is_step)
		span_add(&s->steps, m->line->turn, m->line->step);
	s->reset = s->reset || !m->is_step;
}
