/* Which members of a state each call changes. */
#include "evidence/series.h"

#include "evidence/limits.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

#define READINGS_MAX 5

/* Readings around calls (NULL: unknown), and what each call changed: "/a /b#" (#: the number of
   entries of that list; ".": the state itself), sorted within a call; calls are separated by "|"; "?": not known. */
struct row {
	const char *name, *ignore;
	const char *readings[READINGS_MAX + 1];
	const char *changed;
};

static const struct row rows[] = {
	{"numbers of an object", NULL, {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}"}, "/b"},
	{"nothing", NULL, {"{\"a\":1}", "{\"a\":1}", "{\"a\":2}"}, "|/a"},
	{"an unknown reading", NULL, {"{\"a\":1}", "-", "{\"a\":2}", "{\"a\":3}"}, "?|?|/a"},
	{"another spelling is a change of bytes only",
         NULL,
         {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"},
         ""},
	{"another spelling of a number", NULL, {"[1,0.0,100]", "[1.0,-0.0,1e2]"}, ""},
	{"numbers that a double cannot tell apart",
         NULL,
         {"[9007199254740993132]", "[9007199254740993133]"},
         "/0"},
	{"members that are added and removed", NULL, {"{\"a\":1}", "{\"b\":1}"}, "/a /b"},
	{"another type", NULL, {"{\"a\":1}", "{\"a\":\"1\"}"}, "/a"},
	{"null is a value", NULL, {"{\"a\":null}", "{\"a\":0}"}, "/a"},
	{"a scalar", NULL, {"1", "2", "2"}, ".|"},
	{"nested", NULL, {"{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3]}}"}, "/a/b/1"},
	{"a list that grows", NULL, {"[1]", "[1,2]", "[1,2,3,4]"}, "# /1|# /2 /3"},
	{"a list that shrinks", NULL, {"{\"l\":[1,2,3]}", "{\"l\":[1,3]}"}, "/l# /l/1"},
	{"a list whose entries change places", NULL, {"[1,2]", "[2,1]"}, "/0 /1"},
	{"JSON in a string",
         NULL,
         {"{\"t\":\"{\\\"a\\\":1}\"}", "{\"t\":\"{\\\"a\\\":2}\"}"},
         "/t/a"},
	{"a text with a number", NULL, {"\"door 1, hp 3\"", "\"door 1, hp 4\""}, "/3"},
	{"two numbers of a text", NULL, {"\"a 1 b 2\"", "\"a 5 b 3\""}, "/1 /3"},
	{"a number before a stop", NULL, {"{\"t\":\"hp 3.\"}", "{\"t\":\"hp 4.\"}"}, "/t/1"},
	{"a negative number", NULL, {"\"x -1 y\"", "\"x 2.5 y\""}, "/1"},
	{"prose", NULL, {"{\"t\":\"a hall\"}", "{\"t\":\"a hill\"}"}, "/t"},
	{"prose and a number", NULL, {"\"hall 1\"", "\"hill 2\""}, ". /1"},
	{"more numbers than before", NULL, {"\"at 1\"", "\"at 1 2\""}, "."},
	{"the same number in another spelling", NULL, {"\"hp 3\"", "\"hp 3.0\""}, ""},
	{"ignored",
         "[\"/a\",\"/c\"]",
         {"{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":1}", "{\"a\":3,\"b\":2}"},
         "|/b"},
	{"ignored with all below", "[\"/a\"]", {"{\"a\":{\"x\":1}}", "{\"a\":{\"x\":2}}"}, ""},
	{"ignored in JSON in a string",
         "[\"/t/a\"]",
         {"{\"t\":\"{\\\"a\\\":1}\"}", "{\"t\":\"{\\\"a\\\":2}\"}"},
         ""},
	{"not a pointer", "[\"a\",3]", {"{\"a\":1}", "{\"a\":2}"}, "/a"},
	{"an empty object is a state", NULL, {"{}", "{}", "{\"a\":1}"}, "|/a"},
	{"keys that pointers escape", NULL, {"{\"a/b\":1}", "{\"a/b\":2}"}, "/a~1b"},
};

static int by_pointer(const void *left, const void *right)
{
	const struct member *a = *(struct member *const *)left, *b = *(struct member *const *)right;
	int order = str_order(a->pointer, b->pointer);

	return order ? order : b->is_list - a->is_list;
}

static void put_changed(struct series *s, struct buf *out)
{
	for (size_t i = 0; i < s->trial_count; i++) {
		const struct call_trial *t = &s->trials[i];

		buf_text(out, i ? "|" : "");
		if (!t->known) {
			buf_char(out, '?');
			continue;
		}
		if (t->count > 1)
			qsort(&s->changed[t->first], t->count, sizeof(struct member *), by_pointer);
		for (size_t k = 0; k < t->count; k++) {
			const struct member *m = s->changed[t->first + k];

			buf_printf(out, "%s%.*s%s", k ? " " : "", STR_ARG(m->pointer),
			           m->is_list     ? "#"
			           : m->pointer.n ? ""
			                          : ".");
		}
	}
}

static struct str reading(const char *text)
{
	return strcmp(text, "-") == 0 ? STR_NONE : str_from(text);
}

static void check_row(const struct row *r)
{
	struct series s = {.has_last = false};
	struct buf out = BUF(BUF_MAX_SMALL);

	if (r->ignore)
		series_ignore(&s, str_from(r->ignore), STR_NONE);
	series_start(&s, reading(r->readings[0]));
	for (size_t i = 1; r->readings[i]; i++) {
		series_call(&s, STR("{}"), -1);
		series_trial(&s, reading(r->readings[i]));
	}
	put_changed(&s, &out);
	is_str(buf_cstr(&out), r->changed, "%s", r->name);
	buf_release(&out);
	series_release(&s);
}

static const struct member *member(const struct series *s, const char *pointer)
{
	return map_find(&s->members, map_hash_with(map_hash(str_from(pointer)), 0), STR_NONE);
}

/* What changes between readings without a call, alone or while others act. */
static void test_controls(void)
{
	struct series s = {.has_last = false};

	series_control(&s, STR("{\"a\":1}"), false);
	is_int(s.quiet + s.busy, 0, "a first reading has none to be compared with");
	series_control(&s, STR("{\"a\":2}"), false);
	series_control(&s, STR("{\"a\":2,\"b\":1}"), true);
	series_control(&s, STR_NONE, true);
	series_control(&s, STR("{\"a\":9,\"b\":9}"), true);
	is_int(s.quiet, 1, "one quiet control");
	is_int(s.busy, 1, "one while others acted");
	is_int(member(&s, "/a")->controls, 1, "/a changed by itself");
	is_int(member(&s, "/a")->shared, 0, "and not while others acted");
	is_int(member(&s, "/b")->shared, 1, "/b did");
	is_int(member(&s, "/b")->trials, 0, "no call changed it");
	series_release(&s);
}

/* Two entries more are one change. */
static void test_control_of_a_list(void)
{
	struct series s = {.has_last = false};

	series_start(&s, STR("{\"l\":[]}"));
	series_control(&s, STR("{\"l\":[1,2]}"), true);
	const struct member *list =
		map_find(&s.members, map_hash_with(map_hash(STR("/l")), 1), STR_NONE);
	is_int(list ? list->shared : -1, 1, "the list grew once while others acted");
	series_release(&s);
}

static void test_start(void)
{
	struct series s = {.has_last = false};

	series_start(&s, STR("{\"a\":1}"));
	series_call(&s, STR("{}"), -1);
	series_trial(&s, STR("{\"a\":2}"));
	series_start(&s, STR_NONE);
	series_call(&s, STR("{}"), -1);
	series_trial(&s, STR("{\"a\":9}"));
	ok(s.trials[0].known && !s.trials[1].known, "after a reset nothing is compared");
	is_int((long long)s.known_count, 1, "one trial is known");
	series_release(&s);
}

static void put_list(struct buf *out, int value)
{
	buf_clear(out);
	for (int i = 0; i < 400000; i++)
		buf_printf(out, "%c%d", i ? ',' : '[', value);
	buf_char(out, ']');
}

/* A state with more members than memory allows: what came before it is kept. */
static void test_over(void)
{
	struct series s = {.has_last = false};
	struct buf state = BUF(BUF_MAX_MESSAGE);

	put_list(&state, 0);
	series_start(&s, buf_view(&state));
	put_list(&state, 1);
	series_call(&s, STR("{}"), -1);
	series_trial(&s, buf_view(&state));
	ok(s.over, "over %zu bytes", SERIES_BYTES);
	ok(!s.trials[0].known, "what the call changed is unknown");
	ok(s.arena.bytes < 2 * SERIES_BYTES, "%zu bytes are used", s.arena.bytes);
	series_call(&s, STR("{}"), -1);
	series_trial(&s, STR("[]"));
	ok(!s.trials[1].known, "and so is all that follows");
	buf_release(&state);
	series_release(&s);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
	test_controls();
	test_control_of_a_list();
	test_start();
	test_over();
	return done();
}
