/* Finds the names that a prompt presents as tools but the server does not offer. Prompts also
   contain many names of other things: arguments, files, formats, code. What surrounds a name
   decides whether it is presented as a tool, not the form of the name. */
#pragma once

#include "evidence/rollout_facts.h"

/* Fills `names`, slices of text, with at most `max` different names; returns their number. *all:
   the whole text was searched. A name is presented as a tool if
   - the prompt defines it: JSON with a name and a schema of its parameters, <tool_name>;
   - a section with a heading such as "Tools" lists it;
   - it is in backticks and called a tool, or is a tool's name in another spelling;
   - it is called in backticks with an argument that a tool of the server has. */
size_t prompt_tools(const struct rollout_facts *r, struct str text, struct str *names, size_t max,
                    bool *all);
