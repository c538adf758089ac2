/* The table of worlds, and errors common to their tools: see world.h. */
#include "serve/world/world.h"

#include "json/scan.h"

#include <stdlib.h>

#define WORLD(ident) &world_##ident,
const struct world *const worlds[] = {
#include "serve/world/worlds.def"
};
#undef WORLD
const size_t worlds_count = ARRAY_LEN(worlds);

void *world_begin(const struct world *w, const struct world_conf *conf, uint64_t seed,
                  struct clock clock)
{
	void *instance = mem_new(w->size);

	w->init(instance, conf, seed, clock.unix_ms(clock.ctx));
	return instance;
}

void world_end(const struct world *w, void *instance)
{
	if (instance && w->release)
		w->release(instance);
	free(instance);
}

void world_call_unknown_tool(struct world_call *a)
{
	a->is_error = true;
	buf_text(&a->text, "Unknown tool: ");
	json_decode(a->tool, &a->text);
}

void world_call_fail(struct world_call *a)
{
	a->is_error = true;
	buf_text(&a->text, "Error executing tool ");
	json_decode(a->tool, &a->text);
	buf_text(&a->text, ": ");
}

bool world_call_arguments(struct world_call *a, const struct parameter *list, size_t count,
                          struct str *values)
{
	struct str arguments = json_is_null(a->arguments) ? STR("{}") : a->arguments;
	AUTO_BUF validation_errors = BUF(BUF_MAX_MESSAGE);
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		values[i] = json_get(arguments, str_from(list[i].name));
		if (!values[i].p || (list[i].text && json_type(values[i]) != JSON_STRING)) {
			buf_printf(&validation_errors, "\n%s\n  %s", list[i].name,
			           values[i].p ? "Input should be a valid string"
			                       : "Field required");
			wrong++;
		}
	}
	if (wrong > 0) {
		world_call_fail(a);
		buf_printf(&a->text, "%zu validation error%s for ", wrong, wrong > 1 ? "s" : "");
		json_decode(a->tool, &a->text);
		buf_text(&a->text, "Arguments");
		buf_str(&a->text, buf_view(&validation_errors));
	}
	return wrong == 0;
}
