/* On a terminal, long results are shown in the user's pager, as in git: ROLLDBG_PAGER, else PAGER,
   else less; no pager if that is empty or "cat", with --no-pager, or on a dumb terminal. */
#ifndef ROLLDBG_CMD_PAGER_H
#define ROLLDBG_CMD_PAGER_H

#include "cmd/cmd.h"

#include <sys/types.h>

/* Zeroed: no pager. */
struct pager {
	bool asked; /* pager_start was called */
	pid_t pid;  /* 0: no pager */
	int terminal;
};

/* Redirects standard output to the pager, which then also handles interrupts. Only the first
   call has an effect. FAIL_SYSTEM on failure. */
MUST_USE int pager_start(struct pager *p, const struct context *c, struct error *err);

/* Waits until the pager exits. Call it before writing to standard error. */
void pager_finish(struct pager *p);

#endif
