/* The work of series and explanations is linear in what they read. */
#include "scaling.h"

#include "evidence/explain.h"
#include "evidence/rollout_facts.h"
#include "evidence/verdict.h"

#include <stdlib.h>

#define CALL "{\"way\":\"north\",\"n\":7}"

static void explain(struct series *s)
{
	explain_members(s, &(struct explaining){.names = true});
	series_release(s);
}

/* Two readings around a call. */
static void trial(struct buf *before, struct buf *after, const char *call)
{
	struct series s = {.has_last = false};

	series_start(&s, buf_view(before));
	series_call(&s, str_from(call), 0);
	series_trial(&s, buf_view(after));
	explain(&s);
	buf_release(before);
	buf_release(after);
}

/* One row n times, with another text or number in the second reading. */
static void pair(const char *first, const char *one, const char *other, const char *last, int n)
{
	struct buf before = text(), after = text();

	repeat(&before, first, one, last, n, false);
	repeat(&after, first, other, last, n, false);
	trial(&before, &after, CALL);
}

static void members(int n)
{
	pair("{", "\"k%d\":1", "\"k%d\":2", "}", n);
}

static void other_keys(int n)
{
	pair("{", "\"k%d\":1", "\"j%d\":1", "}", n);
}

static void entries(int n)
{
	pair("[", "{\"a\":%d}", "{\"a\":%d5}", "]", n);
}

static void new_list(int n)
{
	struct buf before = text(), after = text();

	buf_text(&before, "{\"l\":[]}");
	repeat(&after, "{\"l\":[", "[%d]", "]}", n, false);
	trial(&before, &after, CALL);
}

static void texts(int n)
{
	pair("{", "\"k%d\":\"hp 7 of\"", "\"k%d\":\"You go north 8\"", "}", n);
}

static void numbers(int n)
{
	pair("\"", "x %d ", "x %d1 ", "\"", n);
}

static void prose(int n)
{
	pair("\"", "north go %d' ", "north went %d` ", "\"", n);
}

static void held(int n)
{
	pair("{\"s\":\"[0", ",{\\\"a\\\":%d}", ",{\\\"a\\\":%d1}", "]\"}", n);
}

static void stamps(int n)
{
	pair("\"", "2026-01-01T00:00:00Z %d ", "2026-01-01T00:00:09Z %d ", "\"", n);
}

static void words_of_a_call(int n)
{
	struct buf call = text(), before = text(), after = text();

	repeat(&call, "{\"text\":\"", "w%d ", "\"}", n, false);
	repeat(&before, "\"", "v%d ", "\"", n, false);
	repeat(&after, "\"", "w%d ", "\"", n, false);
	trial(&before, &after, buf_cstr(&call));
	buf_release(&call);
}

/* As many readings, each of which differs. */
static void readings(int n)
{
	struct series s = {.has_last = false};
	char state[128];

	series_start(&s, STR("{\"x\":0}"));
	for (int i = 0; i < n; i++) {
		snprintf(
			state, sizeof(state),
			"{\"x\":%d,\"said\":\"You go north %d\",\"log%d\":[%d],\"last\":\"north\"}",
			i, i, i, i);
		series_call(&s, STR(CALL), i);
		series_trial(&s, str_from(state));
		series_control(&s, str_from(state), i % 2);
	}
	explain(&s);
}

/* The effects of as many steps. */
static void steps(int n)
{
	struct series s = {.has_last = false};
	struct completed_step *list = mem_array((size_t)n, sizeof(*list));
	struct explaining e = {.names = true};
	struct verdict v;
	char state[32];

	series_start(&s, STR("0"));
	for (int i = 0; i < n; i++) {
		snprintf(state, sizeof(state), "{\"x\":%d}", i * i % 7);
		series_call(&s, STR(CALL), i);
		series_trial(&s, str_from(state));
		list[i] = (struct completed_step){.trial = i};
	}
	verdict_decide(&v, &s,
	               &(struct deciding){.explaining = &e, .steps = list, .count = (size_t)n});
	series_release(&s);
	free(list);
}

static const struct scaling_case cases[] = {
	{"members that change", members}, {"members that are others", other_keys},
	{"entries that change", entries}, {"a list that is filled", new_list},
	{"texts that change", texts},     {"numbers of a text", numbers},
	{"words of a text", prose},       {"JSON in a string", held},
	{"dates in a text", stamps},      {"words of a call", words_of_a_call},
	{"readings", readings},           {"steps", steps},
};

int main(void)
{
	scaling_run(cases, ARRAY_LEN(cases));
	return done();
}
