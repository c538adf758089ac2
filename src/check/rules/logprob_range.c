/* Rule logprob-range: log-probabilities are missing or invalid. */
#include "check/rule.h"
#include "recording/logprobs.h"

#include <math.h>

struct ranges {
	bool asked; /* log-probabilities were requested, by the parameters sent */
	struct span missing, positive, unset, zero, uneven;
};

static void header(struct ranges *s, const struct line *l)
{
	struct str sent = JSON_GET(JSON_GET(l->value[KEY_POLICY], "params"), "sent");
	struct str asked = JSON_GET(sent, "logprobs");

	s->asked = asked.p && json_type(asked) != JSON_FALSE && !json_is_null(asked);
}

/* Statistics of one turn's values. */
struct logprob_counts {
	int64_t count, positive, unset, zero;
};

static struct logprob_counts read_tokens(struct str logprobs)
{
	struct logprob_walk walk = {.logprobs = logprobs};
	struct logprob_counts t = {.count = 0};
	double v;

	for (; logprob_next(&walk, &v); t.count++) {
		t.unset += isnan(v);
		t.positive += v > 0;
		t.zero += v == 0;
	}
	return t;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct ranges *s = state;
	struct str ids = m->llm[LLM_TOKEN_IDS];
	int64_t turn = m->line->turn, step = m->line->step;

	if (m->line->type == LINE_HEADER) {
		header(s, m->line);
		return;
	}
	if (m->llm[LLM_ERROR].p)
		return;
	struct logprob_counts t = read_tokens(m->llm[LLM_LOGPROBS]);
	if (t.count == 0) {
		if (s->asked)
			span_add(&s->missing, turn, step);
		return;
	}
	if (t.positive)
		span_add(&s->positive, turn, step);
	if (t.unset)
		span_add(&s->unset, turn, step);
	if (t.zero == t.count && t.count > 1)
		span_add(&s->zero, turn, step);
	if (ids.p && json_count(ids) != (size_t)t.count)
		span_add(&s->uneven, turn, step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct ranges *s = state;
	const struct {
		const struct span *span;
		const char *what;
	} all[] = {
		{&s->missing, "log-probabilities were requested but not returned"},
		{&s->positive, "a log-probability is above zero, which is impossible"},
		{&s->unset, "a log-probability is null or -9999 (padding)"},
		{&s->zero, "every log-probability is exactly zero: padding, not recorded values"},
		{&s->uneven, "the number of log-probabilities differs from the number of "
	                     "token ids"},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		finding_add(out, SEVERITY_WARNING, all[i].span, "/llm/logprobs",
		            "%s (%" PRId64 " turn%s)", all[i].what, all[i].span->count,
		            plural(all[i].span->count));
	}
}

const struct check check_logprob_range = {
	.id = "logprob-range",
	.title = "log-probabilities are missing, zero, positive or padding",
	.severity = SEVERITY_WARNING,
	.why = "A trainer that computes probability ratios needs a log-probability for every "
	       "sampled token: finite, at most zero, one per token. Zeros for a whole reply are "
	       "what trainers and servers use as padding when nothing was recorded; -9999 is how "
	       "vLLM encodes minus infinity or a missing value.\n"
	       "Look at /llm/logprobs and /llm/token_ids of the turns named, and at policy.params "
	       "in the header: what was requested and what was sent.\n"
	       "Fix: use \1tokens\2 with the right \1profile\2; some servers return none unless "
	       "top_logprobs is requested too, or only if started with an option for it.",
	.needs = FACT(LLM),
	.wants = KIND_HEADER | KIND_LLM,
	.state_size = sizeof(struct ranges),
	.line = line,
	.end = end,
};
