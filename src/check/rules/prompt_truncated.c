/* Rule prompt-truncated: the conversation grew but the prompt did not. */
#include "check/rule.h"

#define NOISE_BYTES 128 /* minimum growth in bytes: less may be only a few tokens */

struct growth {
	int64_t tokens; /* tokens of the last prompt; 0: unknown */
	size_t bytes;   /* bytes of messages since then */
	bool thought;   /* the last reply had reasoning, which templates remove later */
	int64_t from, to, grown;
	struct span span;
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct growth *s = state;
	int64_t tokens = 0;

	json_i64(JSON_GET(m->llm[LLM_USAGE], "prompt_tokens"), &tokens);
	if (tokens > 0 && s->tokens > 0 && tokens <= s->tokens && s->bytes > NOISE_BYTES &&
	    !s->thought) {
		if (!s->span.count) {
			s->from = s->tokens;
			s->to = tokens;
			s->grown = (int64_t)s->bytes;
		}
		span_add(&s->span, m->line->turn, m->line->step);
	}
	if (tokens > 0) {
		s->tokens = tokens;
		s->bytes = 0;
	}
	s->thought = m->llm[LLM_REASONING].p != NULL;
	s->bytes += m->line->value[KEY_MESSAGES].n;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct growth *s = state;

	finding_add(out, SEVERITY_WARNING, &s->span, "/llm/usage/prompt_tokens",
	            "the prompt %s %" PRId64 " tokens although %" PRId64 " bytes of messages "
	            "were added: the server truncates it",
	            s->to == s->from ? "stayed at" : "fell to", s->to, s->grown);
}

const struct check check_prompt_truncated = {
	.id = "prompt-truncated",
	.title = "the conversation grew but the prompt did not",
	.severity = SEVERITY_WARNING,
	.explains = {&check_no_tool_call, &check_loop},
	.why = "Each turn adds messages, so the server should report more prompt tokens each turn. "
	       "If the number stays the same or decreases, the server silently drops part of the "
	       "conversation: Ollama the oldest messages at num_ctx, Fireworks by default, vLLM if "
	       "configured to.\n"
	       "Look at /llm/usage of the turns named; a number that stays at a power of two is "
	       "the context length.\n"
	       "Fix: use a longer context, shorter observations, or a server that refuses instead "
	       "of truncating.",
	.needs = FACT(LLM),
	.wants = KIND_LLM,
	.state_size = sizeof(struct growth),
	.line = line,
	.end = end,
};
