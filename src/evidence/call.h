/* Finds the tool and the arguments in a line's tool_call, and compares calls. */
#pragma once

#include "evidence/rollout_table.h"

/* Sets tool, tool_name and arguments of m from the value of `tool_call`. */
void call_parse(struct open_rollout *o, struct str call, struct derived_line *m);

/* A hash that is equal for the same tool with the same canonical arguments. Slow; m->call, which
   depends on their spelling, costs nothing. */
uint64_t call_hash(struct workspace *w, const struct derived_line *m);
