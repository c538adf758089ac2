/* The table of worlds, and how their tools refuse: see world.h. */
#include "serve/world.h"

#include "json/scan.h"

#define WORLD(ident) &world_##ident,
const struct world *const worlds[] = {
#include "serve/worlds.def"
};
#undef WORLD
const size_t worlds_count = ARRAY_LEN(worlds);

void act_unknown_tool(struct act *a)
{
	a->is_error = true;
	buf_text(&a->text, "Unknown tool: ");
	json_decode(a->tool, &a->text);
}

void act_fail(struct act *a)
{
	a->is_error = true;
	buf_text(&a->text, "Error executing tool ");
	json_decode(a->tool, &a->text);
	buf_text(&a->text, ": ");
}
