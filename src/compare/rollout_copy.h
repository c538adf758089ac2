/* The folder compare/: two rollouts side by side: which calls are the same, and what differs in
   what the environment answered. Not here: where rollouts come from, printing, sending calls. */

/* One rollout of a recording in memory, without volatile facts (trajectory/strip.h): what is
   compared. */
#ifndef ROLLDBG_COMPARE_ROLLOUT_COPY_H
#define ROLLDBG_COMPARE_ROLLOUT_COPY_H

#include "base/mem.h"
#include "trajectory/strip.h"

/* Zeroed is empty. Lines that are not there have no text. Events are left out. */
struct rollout_copy {
	struct str id;
	struct line header, reset, end;
	struct line *steps;
	size_t count, room;
	struct arena arena; /* owns the text of the lines */
	struct buf *text;   /* every stripped line is appended, events too; NULL: is not */
};

/* Adds a line of the rollout, which strip has seen from its header on. FAIL_INPUT: as
   strip_line. */
MUST_USE int rollout_copy_add(struct rollout_copy *c, struct strip *strip, const struct line *l,
                              struct error *err);
void rollout_copy_release(struct rollout_copy *c); /* empty again; twice is fine */

#endif
