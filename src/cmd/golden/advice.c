/* Sentences about goldens: see advice.h. */
#include "cmd/golden/advice.h"

#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/options/compare_options.h"
#include "compare/tool_changes.h"

void advise_tool(struct names *said, const struct golden *g, const struct tool_change *t)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	tool_change_say(t, &text);
	if (!names_know(said, buf_view(&text))) {
		names_add(said, buf_view(&text));
		log_warn("%s: %s", g->file, buf_cstr(&text));
	}
	buf_release(&text);
}

static void advise_env(void *ctx, const char *sentence)
{
	const struct golden *const *golden = ctx;
	const struct golden *g = *golden;

	log_warn("%s: rollout %.*s: %s", g->file, STR_ARG(g->want.id), sentence);
}

static bool has_tool(struct str tools, struct str name)
{
	struct str tool;

	for (size_t at = 0; json_next(tools, &at, &tool);)
		if (json_same_text(JSON_GET(tool, "name"), name))
			return true;
	return false;
}

/* A golden of another program calls what the environment does not have: names the map that may help. */
static void advise_map(struct names *said, const struct golden *g)
{
	struct str tools = g->got.header.value[KEY_TOOLS], tool;
	struct buf from = BUF(BUF_MAX_SMALL), to = BUF(BUF_MAX_SMALL);
	size_t at = 0, i = 0;
	struct str name = STR_NONE;

	while (i < g->want.count && (!name.p || has_tool(tools, name)))
		name = JSON_GET(g->want.steps[i++].value[KEY_TOOL_CALL], "name");
	if (JSON_GET(g->want.header.value[KEY_ENV], "facts").p && json_type(name) == JSON_STRING &&
	    json_next(tools, &at, &tool) && !has_tool(tools, name)) {
		text_escape(&from, json_inner(name));
		text_escape(&to, json_inner(JSON_GET(tool, "name")));
		if (!names_know(said, buf_view(&from))) {
			names_add(said, buf_view(&from));
			log_warn("%s calls '%s', and the environment has no such tool; if its '%s' "
			         "is meant: --tool-map %s=%s",
			         g->file, buf_cstr(&from), buf_cstr(&to), buf_cstr(&from),
			         buf_cstr(&to));
		}
	}
	BUFS_RELEASE(&from, &to);
}

void advise_tools(struct names *said, const struct golden *g)
{
	compare_tools(&g->want, &g->got, advise_env, &g);
	advise_map(said, g);
}

void advise_not_compared(const struct golden *g)
{
	if (g->started) {
		log_warn("%s: rollout %.*s was not replayed in full; not compared", g->file,
		         STR_ARG(g->want.id));
	}
}

bool difference_is_at_begin(const struct difference *first)
{
	return first->line && (first->line->type == LINE_RESET ||
	                       (first->line->type == LINE_STEP && first->line->step == 0 &&
	                        str_starts(first->pointer, STR("/state"))));
}

const char *advice_problem(const struct golden *g)
{
	return g->compared  ? NULL
	       : g->lost.n  ? buf_cstr(&g->lost)
	       : g->started ? "not replayed in full"
	                    : "not tried after the environment could not be reached";
}
