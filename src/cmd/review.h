/* Asking, with one key for an answer, what is to become of a golden. */
#ifndef ROLLDBG_CMD_REVIEW_H
#define ROLLDBG_CMD_REVIEW_H

#include "base/error.h"

enum review_answer { REVIEW_ACCEPT, REVIEW_REJECT, REVIEW_SKIP };

/* Can anybody be asked? FAIL_USAGE without a terminal. */
MUST_USE int review_possible(struct error *err);

/* Asks on standard error and reads a key from standard input: a, r or s. The end of the input is
   `skip`. FAIL_INTERRUPTED once stop_fd is readable. */
MUST_USE int review_ask(const char *question, int stop_fd, enum review_answer *out,
                        struct error *err);

#endif
