/* Any states and calls give the same members, explanations and effects again; a state that did not
   change changes no member, and an effect has a member that shows it. */
#include "evidence/explain.h"
#include "evidence/verdict.h"

#include "evidence/rollout_facts.h"
#include "json/scan.h"

#include <stdlib.h>

#define STEPS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct str next_line(struct str *rest)
{
	const char *lf = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct str line = {rest->p, lf ? (size_t)(lf - rest->p) : rest->n};

	*rest = str_skip(*rest, lf ? line.n + 1 : line.n);
	return line;
}

/* The line after its mark, if it is JSON. */
static struct str json_of(struct str line)
{
	struct json_fault fault;
	struct str text = str_skip(line, line.n > 0);

	return text.n && json_validate(text, &fault) == 0 ? text : STR_NONE;
}

/* Lines: ">" arguments of a call, "=" a control, "~" one while others act, else a reading after a
   call ("." before it). The first line has the pointers to ignore. */
static size_t feed(struct series *s, struct str input)
{
	struct str ignored = json_of(next_line(&input)), arguments = STR("{}");
	size_t steps = 0;

	series_ignore(s, json_type(ignored) == JSON_ARRAY ? ignored : STR("[]"), STR_NONE);
	while (input.n && steps < STEPS_MAX) {
		struct str line = next_line(&input), value = json_of(line);
		char mark = line.n ? line.p[0] : '\0';

		if (mark == '>') {
			arguments = json_type(value) == JSON_OBJECT ? value : STR("{}");
		} else if (mark == '=' || mark == '~') {
			series_control(s, value, mark == '~');
		} else {
			series_call(s, arguments, INT64_C(1767225600000));
			series_trial(s, value);
			steps++;
		}
	}
	return steps;
}

static void check_member(const struct member *m, const struct series *s)
{
	char text[160];

	require(m->trials <= (int64_t)s->known_count && m->explanation != MEMBER_UNEXPLAINED);
	require(m->controls <= s->quiet && m->shared <= s->busy);
	explain_sentence(m, text, sizeof(text));
	require(text[0] != '\0' && strlen(text) < sizeof(text));
}

static uint64_t judge(struct str input)
{
	struct series s = {.has_last = false};
	struct completed_step steps[STEPS_MAX] = {0};
	struct explaining e = {.names = true};
	struct verdict v;
	size_t count = feed(&s, input);
	uint64_t sum = count;

	for (size_t i = 0; i < count; i++)
		steps[i] = (struct completed_step){.trial = (int64_t)i, .failed = i % 5 == 4};
	verdict_decide(&v, &s,
	               &(struct deciding){.explaining = &e, .steps = steps, .count = count});
	for (size_t i = 0; i < s.changed_count; i++)
		check_member(s.changed[i], &s);
	for (size_t i = 0; i < count; i++) {
		require(s.trials[i].known || steps[i].effect == EFFECT_UNKNOWN);
		require(steps[i].effect != EFFECT_CHANGED || s.trials[i].count > 0);
		require(!steps[i].counted || steps[i].effect == EFFECT_UNKNOWN);
		sum = 31 * sum + (uint64_t)steps[i].effect;
		sum = 31 * sum + s.trials[i].count;
	}
	require(v.moved + v.still + v.counted + v.unknown == v.acting);
	series_release(&s);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size};

	uint64_t first = judge(input), second = judge(input);

	require(first == second);
	return 0;
}
