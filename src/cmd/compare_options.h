/* What may differ between recordings that are compared: options of `diff` and `replay`. */
#ifndef ROLLDBG_CMD_COMPARE_OPTIONS_H
#define ROLLDBG_CMD_COMPARE_OPTIONS_H

#include "cmd/options.h"
#include "compare/compare.h"

/* Embedded in a command's options struct. */
struct compare_options {
	struct opt_list masks, tolerances;
};

extern const struct option_group compare_group;

struct tolerances {
	struct tolerance list[OPT_LIST_MAX];
	size_t count;
	struct arena arena;
};

/* FAIL_USAGE: not POINTER=NUMBER. Zeroed is fine for tolerances_release. */
MUST_USE int tolerances_read(struct tolerances *t, const struct compare_options *o,
                             struct error *err);
void tolerances_release(struct tolerances *t);

#endif
