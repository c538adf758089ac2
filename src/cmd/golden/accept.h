/* What to do with a golden that differs: options of `replay`. */
#ifndef ROLLDBG_CMD_GOLDEN_ACCEPT_H
#define ROLLDBG_CMD_GOLDEN_ACCEPT_H

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

#endif
