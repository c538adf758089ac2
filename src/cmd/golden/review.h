/* Asks on the terminal what to do with a golden; each answer is one key. */
#ifndef ROLLDBG_CMD_GOLDEN_REVIEW_H
#define ROLLDBG_CMD_GOLDEN_REVIEW_H

#include "base/error.h"

enum review_answer {
	REVIEW_NONE, /* not asked */
	REVIEW_ACCEPT,
	REVIEW_REJECT,
	REVIEW_SKIP,
	REVIEW_ACCEPT_ALL, /* this one and all that follow */
	REVIEW_QUIT,       /* skip this one and all that follow */
};

/* FAIL_USAGE without a terminal. */
MUST_USE int review_possible(struct error *err);

/* Asks on standard error and reads a key from standard input; ? explains the keys. End of
   input is REVIEW_SKIP. FAIL_INTERRUPTED once stop_fd is readable. */
MUST_USE int review_ask(const char *question, int stop_fd, enum review_answer *out,
                        struct error *err);

#endif
