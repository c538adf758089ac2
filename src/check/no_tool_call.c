/* Rule no-tool-call: tools are offered, and turn after turn none is called. */
#include "check/peer.h"

#include <inttypes.h>

#define IN_A_ROW 2

/* Looks only at turns without a call: that one was sent in between is told by their
   count. */
struct silent {
	int64_t steps, turn; /* as of the last such turn; turn counted from 0: none yet */
	int64_t talked;      /* turns that nobody answered */
	bool begun;
	struct span run, longest;
	const char *cause;  /* of the run's first turn */
	const char *reason; /* of the longest run's */
};

/* The causes that a reader of replies tells, in words. */
static const struct {
	const char *cause, *words;
} causes[] = {
	{"finish-length", "the reply was cut off by its limit of tokens"},
	{"markup", "there is the markup of a call in it that nobody could read: a format "
                   "or a parser that does not fit the model"},
	{"refusal", "the model refused"},
	{"in-reasoning",
         "a call stands in its reasoning, where none is acted upon: its end "
         "mark is missing, or the server took the call for a thought"},
	{"empty", "the reply was empty"},
	{"names-a-tool", "a tool is named in prose: look at the format the model was "
                         "told"},
	{"prose", "the model answered in prose: does its prompt show the tools?"},
	{"unsent", "its calls could not be sent"},
};

static const char *words_of(const struct moment *m)
{
	struct str parse = JSON_GET(m->line->value[KEY_LLM], "parse");
	struct str cause = JSON_GET(parse, "cause");

	if (m->line->value[KEY_TOOL_CALL].p &&
	    !json_is_null(m->line->value[KEY_TOOL_CALL]))
		cause = STR("\"unsent\"");
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (peer_is(cause, str_from(causes[i].cause)))
			return causes[i].words;
	return "why is not recorded";
}

/* Does somebody answer the talk? What our own policy says to its model for a nudge is no
   answer. */
static bool is_answered(const struct rollout_facts *r, const struct line *l)
{
	struct str message;

	if (str_is(r->policy, "llm"))
		return false;
	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);)
		if (peer_is(JSON_GET(message, "role"), STR("user")))
			return true;
	return false;
}

static void close_run(struct silent *s)
{
	if (s->run.count > s->longest.count) {
		s->longest = s->run;
		s->reason = s->cause;
	}
	s->run.count = 0;
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	struct silent *s = state;
	bool same_turn = s->begun && s->turn == m->line->turn;
	bool called = r->steps > s->steps;

	(void)out;
	if (r->tool_count == 0 || m->after_terminal ||
	    JSON_GET(m->line->value[KEY_LLM], "error").p)
		return; /* no tool to call, or no model to call it */
	s->begun = true;
	s->turn = m->line->turn;
	s->steps = r->steps;
	if (called || is_answered(r, m->line))
		close_run(s);
	if (same_turn || is_answered(r, m->line))
		return; /* several calls of one turn that could not be sent */
	if (s->run.count == 0)
		s->cause = words_of(m);
	s->talked++;
	span_add(&s->run, s->turn, -1);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	struct silent *s = state;

	(void)m;
	close_run(s);
	bool never = r->steps == 0 && s->talked > 0 && s->longest.count == s->talked;
	if (!never && s->longest.count < IN_A_ROW)
		return;
	finding_say(out, never ? SEVERITY_ERROR : SEVERITY_WARNING, &s->longest,
	            "/tool_call", "no tool was called in %s%" PRId64 " turn%s%s: %s",
	            never && s->longest.count > 1 ? "any of " : "", s->longest.count,
	            s->longest.count == 1 ? "" : "s", never ? "" : " in a row",
	            s->reason);
}

const struct check check_no_tool_call = {
	.id = "no-tool-call",
	.title = "tools are offered and the model calls none",
	.why = "Turns went by in which the model called no tool although there are "
	       "some, and no user answered what it said instead. The conversation "
	       "grows, the environment stands still.\n"
	       "The cause of the first such turn is named where the recording has "
	       "it. Markup of a call in the reply means that the server has no "
	       "parser for this model's format, or that a call was malformed; prose "
	       "means that the prompt does not show the tools, or that the model "
	       "does not follow it.\n"
	       "Look first at the same command with --actions: if that works it is the "
	       "model. Then at the prompt (show --turn N --prompt). Cure: start the "
	       "server with its tool parser, or try --tool-mode text or json.",
	.wants = WANT_TURN,
	.state_size = sizeof(struct silent),
	.line = line,
	.end = end,
};
