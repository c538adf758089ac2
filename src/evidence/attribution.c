/* Attribution of failures: see attribution.h. */
#include "evidence/attribution.h"

#include "base/text.h"
#include "evidence/limits.h"

static const struct {
	const char *word, *meaning;
	char whose;
} causes[FAILURE_CAUSES] = {
#define FAILURE_CAUSE(id, word, whose, meaning) [FAILURE_##id] = {word, meaning, whose},
#include "evidence/attribution.def"
};

static const struct {
	enum error_class class;
	enum error_layer layer;
	enum failure_cause cause;
} by_class[] = {
#define CLASS_CAUSE(class, layer, cause) {CLASS_##class, LAYER_##layer, FAILURE_##cause},
#include "evidence/attribution.def"
};

static const enum failure_cause by_status[END_STATUSES] = {
#define STATUS_CAUSE(status, cause) [END_##status] = FAILURE_##cause,
#include "evidence/attribution.def"
};

static const struct {
	const char *words;
	enum failure_cause cause;
} by_reason[] = {
#define REASON_CAUSE(words, cause) {words, FAILURE_##cause},
#include "evidence/attribution.def"
};

const char *failure_cause_name(enum failure_cause c)
{
	return causes[c].word;
}

const char *failure_cause_meaning(enum failure_cause c)
{
	return causes[c].meaning;
}

bool failure_of_environment(enum failure_cause c)
{
	return causes[c].whose == 'e';
}

static bool is_policys(enum failure_cause c)
{
	return c == FAILURE_NONE || c == FAILURE_POLICY;
}

static enum failure_cause of_line(const struct line *l)
{
	enum error_class class = line_error_class(l);
	enum error_layer layer = line_error_layer(l);

	if (json_is(JSON_GET(l->value[KEY_ERROR], "code"), STR("interrupted")))
		return FAILURE_HARNESS;
	for (size_t i = 0; i < ARRAY_LEN(by_class); i++) {
		if (by_class[i].class == class &&
		    (by_class[i].layer == layer || by_class[i].layer == LAYER_NONE)) {
			return by_class[i].cause;
		}
	}
	return l->outcome == OUTCOME_CAPACITY ? FAILURE_CAPACITY : FAILURE_POLICY;
}

void attribution_reset(struct attribution *a, const struct line *l)
{
	bool ok = l->outcome == OUTCOME_OK || l->outcome == OUTCOME_NONE;
	bool unfit = line_error_class(l) == CLASS_ARGUMENTS; /* no policy chose them */

	*a = (struct attribution){.reset = ok      ? FAILURE_NONE
	                                   : unfit ? FAILURE_HARNESS
	                                           : of_line(l),
	                          .answered = a->answered};
}

void attribution_failed(struct attribution *a, const struct line *l, bool sent)
{
	enum failure_cause cause = sent ? of_line(l) : FAILURE_POLICY;

	enum error_class class = line_error_class(l);

	a->tool_failures += sent && (class == CLASS_TOOL || class == CLASS_OTHER);
	if (is_policys(a->calls)) /* what failed first explains the rest */
		a->calls = cause;
}

void failure_count_take(struct failure_count *c, enum failure_cause cause, bool no_reward)
{
	c->of[cause]++;
	c->no_rewards += no_reward;
}

void failure_count_add(struct failure_count *to, const struct failure_count *from)
{
	for (size_t i = 0; i < FAILURE_CAUSES; i++)
		to->of[i] += from->of[i];
	to->no_rewards += from->no_rewards;
}

int64_t failures_of_environment(const struct failure_count *c)
{
	int64_t n = 0;

	for (size_t i = 0; i < FAILURE_CAUSES; i++)
		n += failure_of_environment((enum failure_cause)i) ? c->of[i] : 0;
	return n;
}

static enum failure_cause of_end(const struct attribution_end *e)
{
	for (size_t i = 0; e->reason.p && i < ARRAY_LEN(by_reason); i++)
		if (find_in(e->reason, str_from(by_reason[i].words)))
			return by_reason[i].cause;
	return by_status[e->status];
}

enum failure_cause attribution_find(const struct attribution *a, const struct attribution_end *e)
{
	bool reached = a->answered || e->effective;
	enum failure_cause end =
		by_status[e->status] || e->status == END_UNKNOWN ? of_end(e) : FAILURE_NONE;

	if (a->reset && !reached)
		return is_policys(a->reset) ? FAILURE_ENVIRONMENT : a->reset;
	if (!is_policys(a->calls))
		return a->calls;
	if (a->model_failed)
		return FAILURE_HARNESS;
	if (end)
		return end;
	if (a->replaced)
		return FAILURE_ENVIRONMENT;
	if (!reached) {
		/* tools that fail at every call are no mistake of the policy */
		bool broken = e->no_tools || a->tool_failures >= STILL_CALLS;

		return e->talk ? FAILURE_NONE : broken ? FAILURE_ENVIRONMENT : FAILURE_POLICY;
	}
	return a->unread && !e->rewarded ? FAILURE_VERIFIER : FAILURE_NONE;
}
