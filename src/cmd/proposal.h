/* What a failed comparison proposes: the masks with which it would not have failed. */
#ifndef ROLLDBG_CMD_PROPOSAL_H
#define ROLLDBG_CMD_PROPOSAL_H

#include "base/names.h"
#include "compare/compare.h"

/* Zeroed is empty. */
struct mask_proposal {
	struct names pointers; /* of values that differ */
	bool withdrawn;        /* more differs than a mask should hide */
};

void mask_proposal_see(struct mask_proposal *p, const struct difference *d);
/* Appends a line with the command that masks them in GOLDEN.masks, where few values differ and none
   of them is an outcome, a reward or an end; then it is empty again. */
void mask_proposal_put(struct mask_proposal *p, const char *golden, struct buf *out);

#endif
