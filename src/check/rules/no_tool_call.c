/* Rule no-tool-call: tools are offered, but the model calls none. */
#include "check/rule.h"

#define IN_A_ROW 2

/* Only called for turns without a call: calls in between are visible in the step count. */
struct uncalled {
	int64_t steps, turn; /* of the rollout, at the last such turn */
	int64_t talked;      /* turns that no user replied to */
	bool begun;
	struct span run, longest;
	const char *cause;  /* of the first turn of the run */
	const char *reason; /* of the longest run */
	bool unparsed;      /* some reply has markup of a call that was not parsed */
};

#define CAUSE_MARKUP 3

/* The causes reported by the parser of replies, with their messages. */
static const struct {
	const char *cause, *words;
} causes[] = {
	{"finish-length", "the reply was truncated by its token limit"},
	{"content-filter", "the server's content filter cut off the reply: look at the prompt and "
                           "the reply"},
	{"finish-error", "the server reports that generation failed (finish_reason error): look at "
                         "its log"},
	[CAUSE_MARKUP] =
		{"markup",
                 "the reply contains tool call markup that was not parsed: the tool format or "
                 "parser does not match the model"},
	{"refusal", "the model refused"},
	{"in-reasoning", "the reasoning contains a call, which is not executed: the end tag of "
                         "the reasoning is missing, or the server parsed the call as reasoning"},
	{"calls-not-a-list", "tool_calls is not a list: the server violates the API"},
	{"calls-missing", "finish_reason is tool_calls, but the reply has none: the server's tool "
                          "parser lost them"},
	{"only-reasoning", "the reply consists of reasoning only: the model stopped too early, or "
                           "the server's reasoning parser took the rest"},
	{"empty", "the reply was empty"},
	{"names-a-tool", "the model named a tool in prose: check the call format that the prompt "
                         "describes"},
	{"prose", "the model replied in prose: check that its prompt contains the tools"},
	{"unsent", "the calls of the reply could not be sent"},
};

static const char *cause_text(const struct derived_line *m)
{
	struct str parse = JSON_GET(m->line->value[KEY_LLM], "parse");
	struct str cause = JSON_GET(parse, "cause");

	if (m->line->value[KEY_TOOL_CALL].p && !json_is_null(m->line->value[KEY_TOOL_CALL]))
		cause = STR("\"unsent\"");
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (json_is(cause, str_from(causes[i].cause)))
			return causes[i].words;
	return "the cause was not recorded";
}

/* Did a user reply to the text? The policy's own reminder does not count. */
static bool is_answered(const struct rollout_facts *r, const struct line *l)
{
	struct str message;

	if (r->policy == POLICY_LLM)
		return false;
	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);)
		if (json_is(JSON_GET(message, "role"), STR("user")))
			return true;
	return false;
}

static void close_run(struct uncalled *s)
{
	if (s->run.count > s->longest.count) {
		s->longest = s->run;
		s->reason = s->cause;
	}
	s->run.count = 0;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct uncalled *s = state;
	bool same_turn = s->begun && s->turn == m->line->turn;
	bool called = r->steps > s->steps;

	if ((r->tool_count == 0 && !rollout_is_unlisted(r)) || m->outside_episode ||
	    m->llm[LLM_ERROR].p)
		return; /* without tools to call, or without a model */
	s->begun = true;
	s->turn = m->line->turn;
	s->steps = r->steps;
	if (called || is_answered(r, m->line))
		close_run(s);
	if (same_turn || is_answered(r, m->line))
		return; /* several calls of one turn that could not be sent */
	if (s->run.count == 0)
		s->cause = cause_text(m);
	s->talked++;
	s->unparsed = s->unparsed || s->cause == causes[CAUSE_MARKUP].words;
	span_add(&s->run, s->turn, -1);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct uncalled *s = state;

	close_run(s);
	bool never = r->steps == 0 && s->talked > 0 && s->longest.count == s->talked;
	bool offered = r->tool_count > 0 || s->unparsed;
	if (!never && (s->longest.count < IN_A_ROW || !offered))
		return;
	if (!offered && s->talked < r->turns)
		return; /* an environment that is played in text */
	if (!offered) {
		finding_add(out, SEVERITY_WARNING, &s->longest, "/tool_call",
		            "no tool was called in %" PRId64
		            " turn%s; the log does not say whether "
		            "any was offered: name them with \1tools\2 FILE",
		            s->longest.count, plural(s->longest.count));
		return;
	}
	finding_add(out, never ? SEVERITY_ERROR : SEVERITY_WARNING, &s->longest, "/tool_call",
	            "no tool was called in %s%" PRId64 " turn%s%s: %s",
	            never && s->longest.count > 1 ? "any of " : "", s->longest.count,
	            plural(s->longest.count), never ? "" : " in a row", s->reason);
}

const struct check check_no_tool_call = {
	.id = "no-tool-call",
	.title = "tools are offered but the model calls none",
	.severity = SEVERITY_WARNING,
	.raised = "no turn of the rollout called a tool",
	.explains = {&check_one_step_episode},
	.why = "In these turns the model called no tool although tools were offered, and no "
	       "simulated user replied to its text. The message names the recorded cause of the "
	       "first: markup means that the server has no parser for the model's format, or "
	       "that the call was malformed; prose, that the prompt does not show the tools, or "
	       "that the model ignores them. In a trainer's log without a list of tools it is "
	       "an error only with markup, or with \1tools\2.\n"
	       "Look first at the same command with \1actions\2: if that works, the model is the "
	       "cause. Then look at the prompt (show \1turn\2 N \1prompt\2).\n"
	       "Fix: start the server with its tool parser, or try \1tool_mode\2 text or json.",
	.wants = KIND_TURN,
	.state_size = sizeof(struct uncalled),
	.line = line,
	.end = end,
};
