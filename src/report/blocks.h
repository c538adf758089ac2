/* A recording as text for line diffs (textconv of git): a block of lines for each line, a member of a
   value on a line of its own. A state follows as what changed since the one before. Numbers of steps and
   turns are left out, so that one more call is one more block. */
#ifndef ROLLDBG_REPORT_BLOCKS_H
#define ROLLDBG_REPORT_BLOCKS_H

#include "recording/line.h"

/* Empty if zeroed. */
struct blocks {
	struct buf rollout; /* whose line was the last one */
	struct buf state;   /* the last one known in it; empty: none */
	bool any;           /* a block was printed */
};

/* Appends the block of a stripped line. Lines of a rollout must follow each other. */
void blocks_line(struct blocks *b, const struct line *l, struct buf *out);
void blocks_release(struct blocks *b);

#endif
