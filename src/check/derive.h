/* From lines to moments: what the rules share is worked out here, once a line,
   and the counters of the rollout are kept on the way. No judgement is made here. */
#ifndef ROLLDBG_CHECK_DERIVE_H
#define ROLLDBG_CHECK_DERIVE_H

#include "check/open.h"

/* Takes what rules ask of a header into the rollout's facts, copied. */
void derive_header(struct open_rollout *o, const struct line *header);

/* Does this line (NULL: there is none, the rollout just stops) tell the effect of the
   newest step? Then o->newest is complete until derive_line, and what kind of past it is
   comes back; else 0. */
unsigned derive_past(struct open_rollout *o, const struct line *l);

/* Fills *m for any line but the header and counts it; after derive_past. Returns
   what kind of line this is: a want, or 0. */
unsigned derive_line(struct open_rollout *o, const struct line *l, struct moment *m);

/* The counters as they stand; end may be NULL. */
void derive_tally(struct open_rollout *o, const struct line *end);

/* A number as short as it reads back the same; "null" when it is not known. */
void derive_number(bool known, double value, char out[32]);

#endif
