/* All values within a value in one flat list, in the order of the text: for descending into it
   level by level without scanning its bytes again. Private to src/json/. */
#ifndef ROLLDBG_JSON_TAPE_H
#define ROLLDBG_JSON_TAPE_H

#include "base/base.h"

struct json_node {
	struct str key; /* of a member, as spelled, without its quotes */
	struct str value;
	size_t count; /* number of its elements or members */
	size_t size;  /* number of nodes: its own and all within it, which follow it */
};

/* Zeroed is empty. */
struct json_tape {
	struct json_node *nodes; /* the first is the value itself */
	size_t count, room;
};

/* The node after a value and all within it: its next sibling, if there is one. */
static inline const struct json_node *json_node_after(const struct json_node *node)
{
	return node + node->size;
}

/* Lists a validated value, which is borrowed. */
void json_tape_read(struct json_tape *t, struct str value);
void json_tape_release(struct json_tape *t);

#endif
