/* Finds the tool and the arguments in a line's tool_call. */
#ifndef ROLLDBG_FACTS_CALL_H
#define ROLLDBG_FACTS_CALL_H

#include "facts/rollout_table.h"

/* Sets tool, tool_name and arguments of m from the value of `tool_call`. */
void call_parse(struct open_rollout *o, struct str call, struct derived_line *m);

#endif
