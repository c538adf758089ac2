/* Which recorded calls are sent, and as calls of which tools: options of `run` and `replay`. */
#ifndef ROLLDBG_CMD_GOLDEN_TOOL_MAP_H
#define ROLLDBG_CMD_GOLDEN_TOOL_MAP_H

#include "cmd/options/options.h"
#include "recording/line.h"

/* Embedded in a command's options struct. */
struct recorded_options {
	struct opt_list tool_map; /* "move=step" */
	const char *rollout;      /* of tool_map_group always NULL */
};

extern const struct option_group recorded_group;
extern const struct option_group tool_map_group;

/* Appends the line of a step with the name of its tool replaced as the map says; false: it is none
   that the map names. FAIL_USAGE in tool_map_check: an entry is not NAME=TOOL. */
bool tool_map_apply(const struct opt_list *map, const struct line *l, struct buf *text);
MUST_USE int tool_map_check(const struct opt_list *map, struct error *err);

#endif
