/* What may differ between recordings that are compared: options of `diff` and `replay`. */
#ifndef ROLLDBG_CMD_COMPARE_OPTIONS_H
#define ROLLDBG_CMD_COMPARE_OPTIONS_H

#include "cmd/options.h"
#include "compare/compare.h"
#include "compare/patterns.h"

/* Embedded in a command's options struct. */
struct compare_options {
	struct opt_list masks, tolerances, unordered;
};

extern const struct option_group compare_group;

/* What the options say, and whether it meets anything. */
struct compare_rules {
	struct tolerance tolerances[OPT_LIST_MAX];
	struct unordered unordered[OPT_LIST_MAX];
	size_t tolerance_count, unordered_count;
	struct patterns patterns; /* of all three options */
	struct arena arena;
};

/* FAIL_USAGE: not POINTER=NUMBER, not a pointer. Zeroed is fine for compare_rules_release. */
MUST_USE int compare_rules_read(struct compare_rules *r, const struct compare_options *o,
                                struct error *err);
/* Sets what a comparison takes from them; borrowed. */
void compare_rules_apply(const struct compare_rules *r, struct compare_conf *conf);
/* Warns of each pattern that met nothing in what was seen, "the goldens". */
void compare_rules_warn(const struct compare_rules *r, const char *seen);
void compare_rules_release(struct compare_rules *r);

#endif
