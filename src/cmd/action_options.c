/* The options --tool and --argument: see action_options.h. */
#include "cmd/action_options.h"

#define FIELD(f) offsetof(struct action_options, f)

static const struct opt rows[] = {
	OPT_STRING(
		't', "tool", OPT_REACH + OPT_COMMON, "NAME", FIELD(tool),
		"the tool that --actions or --policy random calls (default: the only one, or any)"),
	OPT_STRING(0, "argument", OPT_REACH, "NAME", FIELD(argument),
                   "the argument that --actions fills (default: the only, or only required one)"),
};

const struct option_group action_group = {rows, ARRAY_LEN(rows), NULL};
