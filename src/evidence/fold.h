/* The fold over the lines of one rollout: adds each line to its facts, and decides each step's
   effect. */
#pragma once

#include "evidence/rollout_table.h"

/* Call before the first line: sets the defaults for a missing header. */
void fold_begin(struct open_rollout *o);

/* Copies the needed values of a header into the rollout's facts. */
void fold_header(struct open_rollout *o, const struct line *header);

/* If this line shows what the last step changed, returns that step, else NULL. `l` is NULL if the
   rollout stops without an end line. The step is valid until the next call. */
const struct completed_step *fold_complete_step(struct open_rollout *o, const struct line *l);

/* Sets *m for any line and counts it; call after fold_complete_step. Returns its kinds. */
unsigned fold_line(struct open_rollout *o, const struct line *l, struct derived_line *m);

/* Notes a call that was sent, or an event, and at the end sets the failure of o->end
   (attribution.h). */
void fold_failure_step(struct open_rollout *o, const struct line *l, const struct derived_line *m);
void fold_failure_event(struct open_rollout *o, const struct line *l);
void fold_failure_end(struct open_rollout *o);

/* Ends the rollout; `end` may be NULL. */
const struct rollout_end *fold_end(struct open_rollout *o, const struct line *end);
