/* Rule special-tokens: special tokens of a chat template appear as text. */
#define _GNU_SOURCE /* memmem */
#include "check/rule.h"

/* As spelled in templates. Markup of tool calls is covered by the parser's notes. */
static const char *const marks[] = {
	"<|im_start|>",        "<|im_end|>",      "<|endoftext|>", "<|eot_id|>",
	"<|start_header_id|>", "<start_of_turn>", "<end_of_turn>", "<|channel|>",
	"<|python_tag|>",      "[TOOL_CALLS]",    "<|tool_call",   "[/INST]",
	"</tool_call>",        "</think>",
};

enum place { IN_REPLY, IN_PROMPT, IN_OBSERVATION, PLACES };

struct marked {
	struct span spans[PLACES];
	const char *mark[PLACES]; /* the first token found in each place */
	/* tool calls in text were requested, so their markup is expected */
	bool own;
};

static const char *find_mark(struct str text)
{
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (memmem(text.p, text.n, marks[i], strlen(marks[i])))
			return marks[i];
	return NULL;
}

static void check_text(struct marked *s, enum place place, struct str text, const struct line *l)
{
	const char *mark = text.n ? find_mark(text) : NULL;

	if (!mark)
		return;
	if (!s->spans[place].count)
		s->mark[place] = mark;
	span_add(&s->spans[place], l->turn, l->step);
}

/* A tool's message is the observation, which is checked separately. */
static void check_messages(struct marked *s, const struct line *l)
{
	enum { ROLE, CONTENT, MEMBERS };
	static const struct str keys[MEMBERS] = {STR_INIT("role"), STR_INIT("content")};
	struct str values[MEMBERS], messages = l->value[KEY_MESSAGES];

	for (size_t cursor = 0; json_next_picked(messages, &cursor, keys, MEMBERS, values);) {
		struct str role = values[ROLE];
		bool reply = json_is(role, STR("assistant"));

		if (json_is(role, STR("tool")) || (s->own && l->type != LINE_RESET))
			continue;
		check_text(s, reply ? IN_REPLY : IN_PROMPT, values[CONTENT], l);
	}
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct marked *s = state;
	struct str mode = JSON_GET(JSON_GET(m->line->value[KEY_POLICY], "params"), "tool_mode");

	if (m->line->type == LINE_HEADER) {
		s->own = mode.p && !json_is(mode, STR("native"));
		return;
	}
	if (s->own && m->line->type == LINE_RESET)
		return; /* the prompt describes these tokens */
	check_messages(s, m->line);
	check_text(s, IN_OBSERVATION, m->line->value[KEY_OBSERVATION], m->line);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	static const struct {
		enum severity severity;
		const char *pointer, *what;
	} places[] = {
		[IN_REPLY] = {SEVERITY_WARNING, "/messages",
	                      "the model's reply: its server has no tool parser, or the wrong one"},
		[IN_PROMPT] = {SEVERITY_WARNING, "/messages",
	                       "a prompt: it was already rendered with a template"},
		[IN_OBSERVATION] = {SEVERITY_INFO, "/observation",
	                            "an observation: the environment echoes it, or it was "
	                            "injected"},
	};
	struct marked *s = state;

	for (size_t i = 0; i < PLACES; i++) {
		finding_add(out, places[i].severity, &s->spans[i], places[i].pointer,
		            "the special token %s appears as text in %s", s->mark[i],
		            places[i].what);
	}
}

const struct check check_special_tokens = {
	.id = "special-tokens",
	.title = "special tokens of a chat template appear as text",
	.severity = SEVERITY_WARNING,
	.lowered = "the token is in an observation",
	.explains = {&check_no_tool_call},
	.why = "Special tokens such as <|im_start|> or </tool_call> belong in the output of a chat "
	       "template, not in messages. In a reply they mean that the server parses a format "
	       "other than the model's; in a prompt, that a rendered prompt is rendered again; in "
	       "an observation, that the environment echoes its input. Tasks about chat templates "
	       "cause false alarms.\n"
	       "Look at the messages of the turns named (show \1turn\2 N).\n"
	       "Fix: start the server with the model's own tool parser, send messages instead of "
	       "rendered text, and escape what the environment returns.",
	.wants = KIND_HEADER | KIND_RESET | KIND_LLM,
	.state_size = sizeof(struct marked),
	.line = line,
	.end = end,
};
