/* What to do with a golden that differs: options of `replay`. */
#ifndef ROLLDBG_CMD_GOLDEN_ACCEPT_H
#define ROLLDBG_CMD_GOLDEN_ACCEPT_H

#include "base/error.h"
#include "cmd/golden/goldens.h"

/* Embedded in a command's options struct. */
struct accept_options {
	const char *update;
	bool accept, review;
};
extern const struct option_group accept_group;

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

/* ---- sentences about goldens that differ ---- */

/* A change of a tool that is no difference, unless it was said before. */
void advise_tool(struct names *said, const struct golden *g, const struct tool_change *t);
/* The golden is of another environment; ctx: the golden. */
void advise_env(void *ctx, const char *sentence);
/* The episode began differently: nothing if the golden has a seed, or if masks of times and ids explain it. */
void advise_seed(const struct golden *g);
/* Why a rollout was not compared, or NULL. */
const char *advice_problem(const struct golden *g);
/* Is it in the reset or the first state? */
bool difference_is_at_begin(const struct difference *first);

#endif
