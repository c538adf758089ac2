/* Differences to allow between recordings that are compared: options of `diff` and `replay`. */
#pragma once

#include "cmd/options/options.h"
#include "compare/compare.h"
#include "compare/patterns.h"
#include "compare/proposals.h"
#include "recording/strip/strip.h"

#define MEMBERS compare
#include "cmd/options/members.h"

/* How changes of the tools count: for `replay` and `bisect`. */
#define MEMBERS tools_rule
#include "cmd/options/members.h"
enum tools_rule tools_rule_of(const struct tools_rule_options *o);

/* The parsed options, and whether each pattern matched anything. */
struct compare_rules {
	struct tolerance tolerances[OPT_LIST_MAX];
	struct unordered unordered[OPT_LIST_MAX];
	size_t tolerance_count, unordered_count;
	struct patterns patterns; /* from all three options */
	struct arena arena;
};

/* FAIL_USAGE: not POINTER=NUMBER, or not a pointer. Call compare_rules_release in any case; a
   zeroed struct is fine. */
MUST_USE int compare_rules_read(struct compare_rules *r, const struct compare_options *o,
                                struct error *err);
/* Sets the rules in conf, which borrows them. */
void compare_rules_apply(const struct compare_rules *r, struct compare_conf *conf);
/* Warns of each pattern that matched nothing; `seen` names the input: "the goldens". */
void compare_rules_warn(const struct compare_rules *r, const char *seen);
void compare_rules_release(struct compare_rules *r);

/* "if that may differ from run to run: --mask /state/clock --tolerance /reward=1e-9", quoted for a
   shell, and a sentence that names the unstable values, each without a line feed at its end; nothing
   if there is neither. */
void proposals_say(const struct proposals *p, struct buf *out);

/* ---- masks from options and files ---- */

/* Creates a strip with these masks. FAIL_USAGE if one is not a pointer. */
MUST_USE int masks_strip(const char *const *masks, size_t count, struct strip **out,
                         struct error *err);

/* The masks of a golden: those of the options, then those of its file. Zeroed is empty. */
struct mask_list {
	const char **items;
	size_t count;
	struct arena arena;
};

/* Adds the masks of the options, borrowed. */
void mask_list_options(struct mask_list *l, const struct opt_list *masks);
/* Adds the masks of GOLDEN.masks, if it exists: one pattern of JSON Pointers per line; blank lines
   and lines that begin with # are skipped. Also adds them to `uses` unless NULL. FAIL_INPUT,
   "FILE:LINE: .."; FAIL_SYSTEM if it cannot be read. */
MUST_USE int mask_list_file(struct mask_list *l, const char *golden, struct patterns *uses,
                            struct error *err);
void mask_list_release(struct mask_list *l);
