/* Asks on the terminal what to do with a golden; each answer is one key. */
#ifndef ROLLDBG_CMD_REVIEW_H
#define ROLLDBG_CMD_REVIEW_H

#include "base/error.h"

enum review_answer { REVIEW_ACCEPT, REVIEW_REJECT, REVIEW_SKIP };

/* FAIL_USAGE without a terminal. */
MUST_USE int review_possible(struct error *err);

/* Asks on standard error and reads a key from standard input: a, r or s. End of input is
   REVIEW_SKIP. FAIL_INTERRUPTED once stop_fd is readable. */
MUST_USE int review_ask(const char *question, int stop_fd, enum review_answer *out,
                        struct error *err);

#endif
