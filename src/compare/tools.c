/* Is it another environment? See tools.h. */
#include "compare/tools.h"

#include <stdio.h>

#define ENV_TEXT 120

static struct str tool_named(struct str tools, struct str name)
{
	struct str tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		if (json_same_text(JSON_GET(tool, "name"), name)) {
			return tool;
		}
	}
	return STR_NONE;
}

static bool is_called(const struct rollout_copy *r, struct str name)
{
	for (size_t i = 0; i < r->count; i++) {
		struct str called = JSON_GET(r->steps[i].value[KEY_TOOL_CALL], "name");

		if (json_same_text(called, name)) {
			return true;
		}
	}
	return false;
}

static void put_env(struct arena *a, const struct rollout_copy *r, char out[ENV_TEXT])
{
	struct str env = r->header.value[KEY_ENV];
	struct str name = json_text(a, JSON_GET(env, "name"));
	struct str protocol = json_text(a, JSON_GET(env, "protocol"));

	snprintf(out, ENV_TEXT, "%.*s (%.*s)", STR_ARG(name), STR_ARG(protocol));
}

static bool set_other_env(struct error *e, const struct rollout_copy *golden,
                          const struct rollout_copy *got, struct str name)
{
	char before[ENV_TEXT], after[ENV_TEXT];
	struct arena arena = {0};
	struct str text = json_text(&arena, name);

	put_env(&arena, golden, before);
	put_env(&arena, got, after);
	bool other = strcmp(before, after) != 0;
	if (other) {
		error_set(e, FAIL_INPUT,
		          "this golden is of %s; the environment is %s and has no tool '%s'",
		          before, after, text.p ? text.p : "");
	}
	arena_release(&arena);
	return other;
}

void compare_tools(const struct rollout_copy *golden, const struct rollout_copy *got,
                   other_env_fn *say, void *ctx)
{
	struct str before = golden->header.value[KEY_TOOLS], after = got->header.value[KEY_TOOLS];
	struct str tool;
	struct error text;

	if (json_type(before) != JSON_ARRAY || json_type(after) != JSON_ARRAY) {
		return;
	}
	for (size_t cursor = 0; json_next(before, &cursor, &tool);) {
		struct str name = JSON_GET(tool, "name");

		if (is_called(golden, name) && !tool_named(after, name).p &&
		    set_other_env(&text, golden, got, name)) {
			say(ctx, text.text);
			return;
		}
	}
}
