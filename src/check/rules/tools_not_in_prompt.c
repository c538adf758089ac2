/* Rule tools-not-in-prompt: the prompt is too short to contain the tools. */
#include "check/rule.h"

/* An upper bound for the bytes of a tool's JSON per token: words in schemas take three to five. */
#define BYTES_A_TOKEN 6
/* With fewer tools the result is certain only if the prompt is nearly empty. */
#define TOOLS_MIN_BYTES 512

struct prompt {
	bool native; /* the server adds the tools to the prompt */
	int64_t needed, tokens;
	struct span span;
};

/* The parts of a tool that templates show: its name, description and parameters. */
static size_t shown_bytes(struct str tool)
{
	struct str schema = JSON_GET(tool, "inputSchema");

	if (!schema.p)
		schema = JSON_GET(tool, "input_schema");
	return JSON_GET(tool, "name").n + JSON_GET(tool, "description").n + schema.n;
}

static void header(struct prompt *s, const struct line *l)
{
	struct str params = JSON_GET(l->value[KEY_POLICY], "params"), tool;
	size_t bytes = 0;

	for (size_t cursor = 0; json_next(l->value[KEY_TOOLS], &cursor, &tool);)
		bytes += shown_bytes(tool);
	s->native = json_is(JSON_GET(params, "tool_mode"), STR("native"));
	s->needed = bytes < TOOLS_MIN_BYTES ? 0 : (int64_t)(bytes / BYTES_A_TOKEN);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct prompt *s = state;
	int64_t tokens = 0;

	if (m->line->type == LINE_HEADER) {
		header(s, m->line);
		return;
	}
	if (!s->native || !json_i64(JSON_GET(m->llm[LLM_USAGE], "prompt_tokens"), &tokens) ||
	    tokens <= 0 || tokens >= s->needed) {
		return;
	}
	if (!s->span.count)
		s->tokens = tokens;
	span_add(&s->span, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct prompt *s = state;

	finding_add(out, SEVERITY_WARNING, &s->span, "/llm/usage/prompt_tokens",
	            "the prompt had %" PRId64 " tokens, but the %zu tool%s alone need at "
	            "least %" PRId64 ": the server leaves them out",
	            s->tokens, r->tool_count, plural((int64_t)r->tool_count), s->needed);
}

const struct check check_tools_not_in_prompt = {
	.id = "tools-not-in-prompt",
	.title = "the prompt is too short to contain the tools",
	.severity = SEVERITY_WARNING,
	.explains = {&check_no_tool_call, &check_unknown_tool},
	.why = "The tools were sent to the server with the messages, but the prompt it reports "
	       "has fewer tokens than their names, descriptions and schemas need. A server "
	       "started without a tool template drops them silently, and a model cannot call a "
	       "tool it never saw. Short tool lists are not checked, because the count proves "
	       "nothing there.\n"
	       "Look at /llm/usage of the turns named, and at the property tool-prompt of probe "
	       "\1policy\2, which compares prompts with and without the tools.\n"
	       "Fix: start the server with its tool template (--jinja for llama.cpp, the tool "
	       "parser for vLLM), or use \1tool_mode\2 text, which adds the tools to the prompt.",
	.needs = FACT(TOOLS) | FACT(LLM),
	.wants = KIND_HEADER | KIND_LLM,
	.state_size = sizeof(struct prompt),
	.line = line,
	.end = end,
};
