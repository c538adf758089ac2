/* What to do with a golden that differs: options of `replay`. */
#pragma once

#include "base/error.h"
#include "cmd/golden/goldens.h"

#define MEMBERS accept
#include "cmd/options/members.h"

enum update { UPDATE_NONE, UPDATE_NEW, UPDATE_ALL, UPDATE_REVIEW };

/* In CI, nothing is written unless requested. FAIL_USAGE: two options, or --review without a
   terminal. */
MUST_USE int accept_choose(const struct accept_options *o, const struct context *c,
                           enum update *out, struct error *err);

/* May the replay of the golden replace it? Otherwise warns, with the reason. */
bool accept_may_replace(const struct golden *g);

/* ---- on the terminal ---- */

enum review_answer {
	REVIEW_NONE, /* not asked */
	REVIEW_ACCEPT,
	REVIEW_REJECT,
	REVIEW_SKIP,
	REVIEW_ACCEPT_ALL, /* this one and all that follow */
	REVIEW_QUIT,       /* skip this one and all that follow */
};

/* Asks on standard error and reads a key from standard input; ? explains the keys. End of
   input is REVIEW_SKIP. FAIL_INTERRUPTED once stop_fd is readable. */
MUST_USE int review_ask(const char *question, int stop_fd, enum review_answer *out,
                        struct error *err);
