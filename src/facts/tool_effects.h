/* Observed effects of tools, over any number of recordings. */
#ifndef ROLLDBG_FACTS_TOOL_EFFECTS_H
#define ROLLDBG_FACTS_TOOL_EFFECTS_H

#include "facts/rollout_facts.h"

struct tool_effects;

struct tool_effects *tool_effects_new(void);
void tool_effects_free(struct tool_effects *t); /* NULL is fine */

/* Adds a step of the tool with that (decoded) name. */
void tool_effects_note(struct tool_effects *t, struct str name, const struct completed_step *p);

/* Did the tool's calls succeed without ever changing the state? False if t is NULL. */
bool tool_effects_is_read_only(const struct tool_effects *t, struct str name);

#endif
