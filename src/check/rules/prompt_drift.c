/* Rule prompt-drift: the tokens of a prompt do not continue those of the previous turn (the
   classes are those of Agent Lightning). */
#include "check/rule.h"

#define IDS_MAX ((size_t)1 << 20) /* tokens of one prompt; longer ones are not compared */
#define SHOWN   3                 /* ids shown in the message on either side */

enum drift { DRIFT_TEMPLATE, DRIFT_RETOKEN, DRIFT_OTHERS, DRIFT_REASONING, DRIFTS };

static const char *const words[DRIFTS] = {
	[DRIFT_TEMPLATE] = "template_mismatch: earlier turns are rendered differently",
	[DRIFT_RETOKEN] = "retoken_mismatch: the same text is tokenized differently",
	[DRIFT_OTHERS] = "others_mismatch: the reply was parsed and rewritten",
	[DRIFT_REASONING] = "reasoning_stripped: the template drops earlier reasoning",
};

struct token_ids {
	int32_t *at; /* in the rollout's arena */
	size_t n, room;
};

struct drifts {
	struct token_ids expected; /* the last prompt and the tokens sampled after it */
	struct token_ids prompt;   /* tokens of the current line */
	size_t prompt_n;           /* number of tokens of `expected` that are prompt */
	bool known, thought, verbatim;
	bool prompt_left_out; /* a prompt was too long to compare */
	int64_t compared, count[DRIFTS];
	struct span span;
	enum drift first;
	char where[96];
};

/* Grows by doubling, so that a rollout's arena holds at most twice its longest prompt. */
static void add(struct token_ids *ids, struct arena *a, int64_t id)
{
	if (ids->n == ids->room) {
		size_t room = ids->room ? 2 * ids->room : 256;
		int32_t *more = arena_new(a, room * sizeof(*more));

		if (ids->n)
			memcpy(more, ids->at, ids->n * sizeof(*more));
		ids->at = more;
		ids->room = room;
	}
	ids->at[ids->n++] = (int32_t)id;
}

/* Appends the ids. False: not a list of ids, or too long. */
static bool read_ids(struct token_ids *ids, struct arena *a, struct str list)
{
	struct str each;
	int64_t id;

	if (json_type(list) != JSON_ARRAY)
		return false;
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		if (ids->n == IDS_MAX || !json_i64(each, &id) || id < 0 || id > INT32_MAX)
			return false;
		add(ids, a, id);
	}
	return true;
}

static size_t common(const int32_t *a, size_t a_n, const int32_t *b, size_t b_n)
{
	size_t i = 0;

	while (i < a_n && i < b_n && a[i] == b[i])
		i++;
	return i;
}

/* Do the remaining sampled tokens follow after some are left out? */
static bool only_cut(const struct drifts *s, size_t at)
{
	const struct token_ids *e = &s->expected, *p = &s->prompt;

	for (size_t from = at + 1; from + 1 < e->n; from++) {
		size_t left = e->n - from;

		if (e->at[from] == p->at[at] && left <= p->n - at &&
		    common(e->at + from, left, p->at + at, p->n - at) >= left - 1) {
			return true;
		}
	}
	return false;
}

static enum drift class_of(const struct drifts *s, size_t at)
{
	if (s->thought && at < s->prompt.n && only_cut(s, at))
		return DRIFT_REASONING;
	if (at < s->prompt_n)
		return DRIFT_TEMPLATE;
	return s->verbatim ? DRIFT_RETOKEN : DRIFT_OTHERS;
}

static void show(const struct token_ids *ids, size_t at, char *out, size_t size)
{
	size_t from = at > SHOWN ? at - SHOWN : 0, used = 0;

	out[0] = '\0';
	for (size_t i = from; i < ids->n && i < at + SHOWN && used < size; i++) {
		used += (size_t)snprintf(out + used, size - used, "%s%" PRId32, i > from ? " " : "",
		                         ids->at[i]);
	}
}

static void compare_prompts(struct drifts *s, const struct line *l)
{
	const struct token_ids *e = &s->expected, *p = &s->prompt;
	size_t at = common(e->at, e->n, p->at, p->n);
	char was[40], is[40];

	s->compared++;
	/* templates write the end-of-turn token, so the last sampled one may differ */
	if (at + 1 >= e->n)
		return;
	enum drift drift = class_of(s, at);
	if (!s->span.count) {
		s->first = drift;
		show(e, at, was, sizeof(was));
		show(p, at, is, sizeof(is));
		snprintf(s->where, sizeof(s->where), "token %zu: %s became %s", at, was, is);
	}
	s->count[drift]++;
	span_add(&s->span, l->turn, l->step);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct drifts *s = state;

	s->prompt.n = 0;
	if (!read_ids(&s->prompt, r->arena, m->llm[LLM_PROMPT_TOKEN_IDS])) {
		s->known = false;
		s->prompt_left_out = s->prompt_left_out || s->prompt.n == IDS_MAX;
		return;
	}
	if (s->known)
		compare_prompts(s, m->line);
	struct str parse = JSON_GET(m->line->value[KEY_LLM], "parse");
	struct token_ids spare = s->expected;
	s->expected = s->prompt;
	s->prompt = spare;
	s->prompt_n = s->expected.n;
	s->known = read_ids(&s->expected, r->arena, m->llm[LLM_TOKEN_IDS]);
	s->thought = m->llm[LLM_REASONING].p != NULL;
	s->verbatim = !json_is(JSON_GET(parse, "source"), STR("native"));
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct drifts *s = state;
	bool harmless = s->count[DRIFT_REASONING] == s->span.count;

	if (s->prompt_left_out)
		rule_not_judged(out);
	finding_add(out, harmless ? SEVERITY_INFO : SEVERITY_WARNING, &s->span,
	            "/llm/prompt_token_ids",
	            "in %" PRId64 " of %" PRId64 " turns the prompt does not continue the "
	            "previous one; %s (%s)",
	            s->span.count, s->compared, words[s->first], s->where);
}

const struct check check_prompt_drift = {
	.id = "prompt-drift",
	.title = "a prompt's tokens do not continue those of the previous turn",
	.severity = SEVERITY_WARNING,
	.lowered = "only the model's reasoning is missing",
	.explains = {&check_prompt_truncated},
	.why = "A trainer treats a rollout as one sequence of tokens: each prompt must start "
	       "with the previous prompt and exactly the tokens sampled after it. If text is "
	       "tokenized again (template_mismatch, retoken_mismatch) or rewritten "
	       "(others_mismatch), log-probabilities belong to tokens that were never sampled. A "
	       "template that drops reasoning (reasoning_stripped) breaks the sequence, too.\n"
	       "Look at /llm/prompt_token_ids and /llm/token_ids of the turns named, around the "
	       "given token.\n"
	       "Fix: train and sample with one template that preserves prefixes, or pass token "
	       "ids instead of text.",
	.needs = FACT(LLM),
	.wants = KIND_LLM,
	.state_size = sizeof(struct drifts),
	.line = line,
	.end = end,
};
