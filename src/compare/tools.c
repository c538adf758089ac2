/* Compares the tools of two headers: see tools.h. */
#include "compare/tools.h"

#include "base/names.h"
#include "base/text.h"
#include "json/diff.h"

#include <stdio.h>

#define ENV_TEXT 120

struct tool_change {
	struct error text; /* the sentence to report */
	bool reported;
};

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

/* A golden of another environment: one sentence instead of one for each tool. */
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

static void set_removed(struct error *e, struct str name, struct str tools)
{
	struct names known = {.count = 0};
	struct arena arena = {0};
	struct str tool, text = json_text(&arena, name);

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		struct str one = json_text(&arena, JSON_GET(tool, "name"));

		if (one.p) {
			names_add(&known, one);
		}
	}
	error_set(e, FAIL_INPUT, "the server no longer has the tool '%s'", text.p ? text.p : "");
	names_suggest(e, text, known.text, known.count);
	names_release(&known);
	arena_release(&arena);
}

static bool take_first(void *ctx, const struct json_difference *d)
{
	struct tool_change *c = ctx;
	const char *how = !d->before.p ? "was added" : !d->after.p ? "was removed" : "changed";
	size_t n = strlen(c->text.text);
	struct buf end = BUF(BUF_MAX_SMALL);

	buf_text(&end, ": ");
	text_escape_cut(&end, d->pointer, 100);
	buf_printf(&end, " %s", how);
	text_copy(c->text.text + n, sizeof(c->text.text) - n, buf_view(&end));
	buf_release(&end);
	c->reported = true;
	return false;
}

static void set_changed(struct tool_change *c, struct str before, struct str after)
{
	struct arena arena = {0};
	struct str name = json_text(&arena, JSON_GET(before, "name"));

	error_set(&c->text, FAIL_INPUT, "the tool '%s' has a different input schema",
	          name.p ? name.p : "");
	json_diff(JSON_GET(before, "inputSchema"), JSON_GET(after, "inputSchema"), NULL, take_first,
	          c);
	arena_release(&arena);
}

void compare_tools(const struct rollout_copy *golden, const struct rollout_copy *got,
                   tool_change_fn *say, void *ctx)
{
	struct str before = golden->header.value[KEY_TOOLS], after = got->header.value[KEY_TOOLS];
	struct str tool;

	if (json_type(before) != JSON_ARRAY || json_type(after) != JSON_ARRAY) {
		return;
	}
	for (size_t cursor = 0; json_next(before, &cursor, &tool);) {
		struct str name = JSON_GET(tool, "name"), now = tool_named(after, name);
		struct tool_change c = {.reported = false};

		if (!is_called(golden, name)) {
			continue;
		}
		if (!now.p && set_other_env(&c.text, golden, got, name)) {
			say(ctx, c.text.text);
			return;
		}
		if (!now.p) {
			set_removed(&c.text, name, after);
			c.reported = true;
		} else {
			set_changed(&c, tool, now);
		}
		if (c.reported) {
			say(ctx, c.text.text);
		}
	}
}
