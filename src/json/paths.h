/* Which values a set of pointer patterns picks, followed token by token: a pattern that
   may still match below a value is one number, the place in the pattern. Private to
   src/json/. */
#ifndef ROLLDBG_JSON_PATHS_H
#define ROLLDBG_JSON_PATHS_H

#include "json/canon.h"

/* The open patterns of the values from the root to the current one, one behind the other.
 */
struct path_states {
	uint32_t *at;
	size_t n, cap;
	uint32_t first[64];
};

void path_states_init(struct path_states *s);
void path_states_release(struct path_states *s);

/* Appends what is open at the root; true when a pattern picks the root. NULL paths:
 * nothing. */
bool paths_root(const struct json_paths *paths, struct path_states *s);

/* Appends what is open at the child `token` of the value whose open patterns are `count`
   numbers from `from` on; true when a pattern picks the child. */
bool paths_child(const struct json_paths *paths, struct path_states *s, size_t from,
                 size_t count, struct str token);

#endif
