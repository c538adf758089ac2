/* Formats that are described by the places of their facts: JSON Pointers in arbitrary JSON or JSONL.
   A description is a file of the user, or a row of maps.def. */
#ifndef ROLLDBG_CONVERT_MAP_H
#define ROLLDBG_CONVERT_MAP_H

#include "convert/convert.h"

/* JSON Pointers, or "=text" for a literal. Absent: not recorded. */
struct map_paths {
	/* of a value; within each of its rollouts if it has a list of them */
	struct str rollouts, rollout, seed, policy, tools, prompt, messages, steps, total_reward,
		reason, failure;
	/* each value is a message of a rollout, or a step */
	struct str message;
	/* within a step; end also of a value with messages */
	struct str tool, arguments, observation, error, state, state_after, reward, end, truncated;
	/* of maps.def only */
	struct str branch; /* true: another rollout of the same task */
	struct str only;   /* a condition for values with a message */
	bool one_rollout;  /* all values of the file are one */
	bool may_be_empty; /* a rollout without messages is one */
};

#define MAP_CONDITIONS 5

struct mapping {
	struct map_paths paths;
	const char *conditions[MAP_CONDITIONS][3]; /* see maps.def */
};

/* Functions of a format that is a map. */
bool map_is(const struct mapping *map, struct str value);
int map_take(struct import *m, struct str value, struct error *err);
int map_list_end(struct import *m, struct error *err);

/* Reads the description. FAIL_INPUT, with file, line and key. Free the format with map_free. */
MUST_USE int map_read(const char *path, struct format **out, struct error *err);
void map_free(struct format *format); /* NULL is fine */

#endif
