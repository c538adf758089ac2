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

double ratios_k1(const struct ratios *r)
{
	return r->lr != 0 ? -mean(r->lr, r->tokens) : 0; /* never -0 */
}

double ratios_k3(const struct ratios *r)
{
	return mean(r->k3, r->tokens);
}

double ratios_weight(const struct ratios *r)
{
	return mean(r->weight, r->tokens);
}

double ratios_ess(const struct ratios *r)
{
	return r->tokens ? r->weight * r->weight / r->squares / (double)r->tokens : 0;
}

double ratios_distance(const struct ratios *r)
{
	return mean(r->distance, r->tokens);
}

double ratios_first(const struct ratios *r)
{
	return mean(r->first, r->first_tokens);
}

double ratios_rest(const struct ratios *r)
{
	return mean(r->rest, r->tokens - r->first_tokens);
}

bool ratios_out_of_range(const struct ratios *r)
{
	double weight = ratios_weight(r);

	return r->tokens && (fabs(ratios_k1(r)) > KL_MAX || ratios_k3(r) > KL_MAX ||
	                     weight < WEIGHT_LO || weight > WEIGHT_HI || ratios_ess(r) < ESS_MIN);
}

bool ratios_shifted(const struct ratios *r)
{
	double first = ratios_first(r);

	return r->tokens > r->first_tokens && first > SHIFT_MIN && first > SHIFT * ratios_rest(r);
}
