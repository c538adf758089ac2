/* Log-probabilities and their ratios: see logprobs.h. */
#include "recording/logprobs.h"

#include <math.h>
#include <stdio.h>

#define NO_VALUE  (-9999.0) /* used as padding by some trainers and servers */
#define LR_MAX    20.0
#define KL_MAX    0.1
#define WEIGHT_LO 0.5
#define WEIGHT_HI 2.0
#define ESS_MIN   0.3
#define SHIFT_MIN 0.1 /* a smaller mean |lr| is due to rounding */
#define SHIFT     3.0

static double number_of(struct str value)
{
	double v;

	return json_double(value, &v) && v > NO_VALUE ? v : (double)NAN;
}

/* {"content":[{"logprob":..}]}, or {"token_logprobs":[..]} in the older format. */
bool logprob_next(struct logprob_walk *w, double *value)
{
	struct str each;

	if (!w->list.p) {
		w->list = JSON_GET(w->logprobs, "content");
		w->plain = json_count(w->list) == 0;
		if (w->plain)
			w->list = JSON_GET(w->logprobs, "token_logprobs");
	}
	if (!json_next(w->list, &w->cursor, &each))
		return false;
	*value = number_of(w->plain ? each : JSON_GET(each, "logprob"));
	return true;
}

/* Each parameter with the values that disable it. */
static const struct {
	const char *name;
	double neutral, also;
} parameters[] = {{"temperature", 1, 1},
                  {"top_p", 1, 1},
                  {"top_k", 0, -1},
                  {"min_p", 0, 0},
                  {"frequency_penalty", 0, 0},
                  {"presence_penalty", 0, 0},
                  {"repetition_penalty", 1, 1}};

bool logprobs_incomparable(struct str sent, char *out, size_t size)
{
	size_t n = 0;
	double v;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(parameters) && n < size; i++) {
		struct str value = json_get(sent, str_from(parameters[i].name));

		if (!json_double(value, &v) || v == parameters[i].neutral ||
		    v == parameters[i].also) {
			continue;
		}
		n += (size_t)snprintf(out + n, size - n, "%s%s %g", n ? ", " : "",
		                      parameters[i].name, v);
	}
	return n > 0;
}

void ratios_add(struct ratios *r, size_t place, double trained, double sampled)
{
	double lr = fmax(-LR_MAX, fmin(LR_MAX, trained - sampled));
	bool first = place < RATIOS_FIRST;

	r->tokens++;
	r->first_tokens += first;
	r->lr += lr;
	r->k3 += expm1(lr) - lr;
	r->weight += exp(lr);
	r->squares += exp(2 * lr);
	r->distance += fabs(exp(trained) - exp(sampled));
	*(first ? &r->first : &r->rest) += fabs(lr);
}

size_t ratios_turn(struct ratios *r, struct str llm, const double *trained, size_t count)
{
	struct logprob_walk walk = {.logprobs = JSON_GET(llm, "logprobs")};
	size_t n = 0, zeros = 0;
	double sampled;

	for (; logprob_next(&walk, &sampled); n++) {
		zeros += sampled == 0;
		if (n < count && !isnan(sampled))
			ratios_add(r, n, trained[n], sampled);
	}
	return zeros == n && n > 1 ? 0 : n;
}

void ratios_merge(struct ratios *r, const struct ratios *other)
{
	r->tokens += other->tokens;
	r->first_tokens += other->first_tokens;
	r->lr += other->lr;
	r->k3 += other->k3;
	r->weight += other->weight;
	r->squares += other->squares;
	r->distance += other->distance;
	r->first += other->first;
	r->rest += other->rest;
}

static double mean(double sum, int64_t count)
{
	return count ? sum / (double)count : 0;
}

struct ratio_means ratios_means(const struct ratios *r)
{
	struct ratio_means m = {
		.k1 = r->lr != 0 ? -mean(r->lr, r->tokens) : 0, /* never -0 */
		.k3 = mean(r->k3, r->tokens),
		.weight = mean(r->weight, r->tokens),
		.ess = r->tokens ? r->weight * r->weight / r->squares / (double)r->tokens : 0,
		.distance = mean(r->distance, r->tokens),
		.first = mean(r->first, r->first_tokens),
		.rest = mean(r->rest, r->tokens - r->first_tokens),
	};

	m.out_of_range =
		r->tokens && (fabs(m.k1) > KL_MAX || m.k3 > KL_MAX || m.weight < WEIGHT_LO ||
	                      m.weight > WEIGHT_HI || m.ess < ESS_MIN);
	m.shifted = r->tokens > r->first_tokens && m.first > SHIFT_MIN && m.first > SHIFT * m.rest;
	return m;
}
