/* Rule kl-band: the trainer's probabilities of the sampled tokens differ too much from those of
   the engine that sampled them. */
#include "check/rule.h"
#include "recording/logprobs.h"
#include "recording/trained.h"

#include <math.h>

#define ROUNDING 0.01 /* mean difference of probabilities: more than rounding explains */

struct band {
	struct ratios sum;
	struct span compared, uneven, alone, unrecorded;
	int64_t here, there;   /* token counts of the first turn that differs in length */
	char incomparable[96]; /* why they cannot be compared; "": they can */
};

static bool has_any(struct str llm)
{
	struct logprob_walk walk = {.logprobs = JSON_GET(llm, "logprobs")};
	double v;

	return logprob_next(&walk, &v);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct band *s = state;
	struct str llm = m->line->value[KEY_LLM];
	int64_t turn = m->line->turn, step = m->line->step;
	struct ratios one = {.tokens = 0};

	if (!r->trained)
		return;
	if (m->line->type == LINE_HEADER) {
		struct str params = JSON_GET(m->line->value[KEY_POLICY], "params");

		logprobs_incomparable(JSON_GET(params, "sent"), s->incomparable,
		                      sizeof(s->incomparable));
		return;
	}
	if (JSON_GET(llm, "sent").p) { /* of a tap */
		logprobs_incomparable(JSON_GET(llm, "sent"), s->incomparable,
		                      sizeof(s->incomparable));
	}
	struct trained_turn *partner = trained_find(r->trained, r->id, turn);
	if (!partner) {
		if (has_any(llm))
			span_add(&s->alone, turn, step);
		return;
	}
	partner->uses++;
	size_t n = ratios_turn(&one, llm, partner->logprobs, partner->count);
	if (n == 0) {
		span_add(&s->unrecorded, turn, step);
	} else if (n != partner->count) {
		s->here = s->uneven.count ? s->here : (int64_t)n;
		s->there = s->uneven.count ? s->there : (int64_t)partner->count;
		span_add(&s->uneven, turn, step);
	} else {
		ratios_merge(&s->sum, &one);
		span_add(&s->compared, turn, step);
	}
}

static void report_mismatches(const struct band *s, struct findings *out)
{
	finding_add(
		out, SEVERITY_WARNING, &s->uneven, "/llm/logprobs",
		"in %" PRId64 " turn%s the trainer scored a different number of tokens than were "
		"sampled: %" PRId64 " instead of %" PRId64 " in turn %" PRId64,
		s->uneven.count, plural(s->uneven.count), s->there, s->here, s->uneven.first_turn);
	finding_add(out, SEVERITY_INFO, &s->alone, "/llm/logprobs",
	            "%" PRId64
	            " turn%s with log-probabilities %s no matching turn in the trainer's "
	            "file",
	            s->alone.count, plural(s->alone.count), s->alone.count == 1 ? "has" : "have");
	finding_add(out, SEVERITY_INFO, &s->unrecorded, "/llm/logprobs",
	            "%" PRId64
	            " turn%s of the trainer's file %s recorded without log-probabilities",
	            s->unrecorded.count, plural(s->unrecorded.count),
	            s->unrecorded.count == 1 ? "was" : "were");
}

/* Avoids "-0.000" for values that round to zero. */
static double shown(double v)
{
	return fabs(v) < 0.0005 ? 0 : v;
}

static void report_band(const struct band *s, struct findings *out)
{
	const struct ratio_means m = ratios_means(&s->sum);
	char shift[128] = "", incomparable[160] = "";

	if (m.shifted) {
		snprintf(shift, sizeof(shift),
		         "; conditioning_mismatch: mean |lr| is %.3f in the first %d tokens "
		         "of turns and %.3f after them",
		         m.first, RATIOS_FIRST, m.rest);
	}
	if (s->incomparable[0]) {
		snprintf(incomparable, sizeof(incomparable),
		         "; not comparable, because the policy sent %s", s->incomparable);
	}
	if (m.out_of_range || m.shifted) {
		finding_add(out, s->incomparable[0] ? SEVERITY_INFO : SEVERITY_WARNING,
		            &s->compared, "/llm/logprobs",
		            "KL of %" PRId64
		            " tokens: k1 %.3f, k3 %.3f, mean weight %.3f, ess %.3f%s%s",
		            s->sum.tokens, shown(m.k1), m.k3, m.weight, m.ess, shift, incomparable);
	} else if (m.distance > ROUNDING) {
		finding_add(out, SEVERITY_INFO, &s->compared, "/llm/logprobs",
		            "the probabilities of %" PRId64 " tokens differ by %.3g on average, "
		            "more than rounding explains%s",
		            s->sum.tokens, m.distance, incomparable);
	}
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	report_mismatches(state, out);
	report_band(state, out);
}

static void finish(const struct trained *t, struct findings *out)
{
	struct trained_use use = trained_use(t);

	if (use.unused) {
		finding_add(out, use.unused == use.turns ? SEVERITY_WARNING : SEVERITY_INFO, NULL,
		            "",
		            "%" PRId64 " of %" PRId64
		            " turns of the trainer's file are in none of the recordings%s",
		            use.unused, use.turns,
		            use.unused == use.turns ? ": do the rollout ids match?" : "");
	}
	if (use.several) {
		finding_add(out, SEVERITY_WARNING, NULL, "",
		            "%" PRId64 " of %" PRId64 " turns of the trainer's file were compared "
		            "with several recorded ones: check one run at a time",
		            use.several, use.turns);
	}
}

const struct check check_kl_band = {
	.id = "kl-band",
	.title = "the trainer's log-probabilities are too far from those of the sampling engine",
	.severity = SEVERITY_WARNING,
	.lowered = "the numbers are within the band, sampling settings differ, or turns have no "
		   "counterpart",
	.why = "With lr = log p(trainer) - log p(engine) of a sampled token, out of band are "
	       "|k1| (k1 is the mean of -lr) or k3 (of e^lr - 1 - lr) above 0.1, a mean weight "
	       "(e^lr) outside 0.5 to 2, and an effective sample size (ess) below 0.3. If only "
	       "the beginnings of turns differ (conditioning_mismatch), the trainer scored "
	       "another prompt.\n"
	       "Look at the turns named (show \1turn\2 N \1prompt\2): is that the trainer's "
	       "input?\n"
	       "Fix: use one chat template, token ids instead of text, the same weights and "
	       "precision, and a temperature of 1.",
	.needs = FACT(LLM),
	.wants = KIND_HEADER | KIND_LLM,
	.state_size = sizeof(struct band),
	.line = line,
	.end = end,
	.finish = finish,
};
