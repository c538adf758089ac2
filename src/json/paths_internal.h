/* Tracks which values a set of pointer patterns selects, token by token: a pattern that may
   still match below a value is represented by its position. Private to src/json/. */
#pragma once

#include "json/paths.h"

/* The open positions of the values from the root to the current one, concatenated. */
struct path_states {
	uint32_t *at;
	size_t n, cap;
};

bool paths_are_wild(const struct json_paths *p);

void path_states_release(struct path_states *s); /* zeroed is fine */

/* Appends the positions open at the root; true if a pattern selects the root. `paths` may be
   NULL. */
bool paths_root(const struct json_paths *paths, struct path_states *s);

/* Appends the positions open at the child `token` of the value whose open positions are `count`
   numbers starting at `from`; true if a pattern selects the child. */
bool paths_child(const struct json_paths *paths, struct path_states *s, size_t from, size_t count,
                 struct str token);
