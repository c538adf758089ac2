/* One rollout of a recording in memory: its lines as recorded, or without volatile facts
   (recording/strip.h), ready to be compared. */
#pragma once

#include "base/mem.h"
#include "recording/strip/strip.h"

/* Empty if zeroed. Missing lines have no text. Events are not kept. */
struct rollout_copy {
	struct str id;
	struct line header, reset, end;
	struct line *steps;
	size_t count;
	size_t dropped;     /* steps that were compared while reading and are not kept */
	struct arena arena; /* owns the text of the lines */
	/* if not NULL, every stripped line is appended to it, including events */
	struct buf *text;
};

/* Adds a line of the rollout. `strip` must have seen the rollout from its header on. FAIL_INPUT
   as in strip_line. */
MUST_USE int rollout_copy_add(struct rollout_copy *c, struct strip *strip, const struct line *l,
                              struct error *err);
/* The same, but a step is not kept: it is set, as a slice of *text, which is overwritten. *is_step
   says whether there was one. */
MUST_USE int rollout_copy_take(struct rollout_copy *c, struct strip *strip, const struct line *l,
                               struct buf *text, struct line *step, bool *is_step,
                               struct error *err);
/* Adds a line as it is. */
MUST_USE int rollout_copy_keep(struct rollout_copy *c, struct str text, uint64_t number,
                               struct error *err);
/* Its lines in order, from 0: a missing one has no text; NULL after the last one. */
const struct line *rollout_copy_line(const struct rollout_copy *c, size_t index);
void rollout_copy_release(struct rollout_copy *c); /* ready for reuse; may be called twice */
