/* Which names a prompt presents as tools that the server does not offer. Prompts are full of names
   that are none: arguments, files, formats, code that is worked on; so a name counts by what
   surrounds it, not by its looks. */
#ifndef ROLLDBG_CHECK_PROMPT_TOOLS_H
#define ROLLDBG_CHECK_PROMPT_TOOLS_H

#include "facts/rollout_facts.h"

/* Fills `names`, slices of text, with at most `max` different ones; returns how many there are.
   *all: everything was looked at. They count where
   - the prompt defines a tool: JSON with a name and a schema of its parameters, <tool_name>;
   - a section headed as tools lists them;
   - one between backticks is called a tool, or is the name of one in another spelling;
   - one between backticks is told to be used or called, has the form of the server's own names, and
     shares a word with them or names an action;
   - one is called in backticks with an argument that a tool of the server has. */
size_t prompt_tools(const struct rollout_facts *r, struct str text, struct str *names, size_t max,
                    bool *all);

#endif
