/* What the changes of a member are: volatile, bookkeeping, count, echo or effect. */
#include "evidence/explain.h"

#include "observed.h"
#include "tap.h"

static const char *const names[] = {"unexplained", "volatile", "bookkeeping",
                                    "count",       "echo",     "effect"};

struct row {
	const char *name, *readings;
	const char *pointer; /* "/l#": the number of entries of /l */
	const char *wanted;
};

#define GO(way) "{\"way\":\"" way "\"}|"
#define N(n)    "{\"n\":" #n "}|"

static const struct row rows[] = {
	{"a value that calls change", "{\"x\":1} > {\"x\":2} > {\"x\":5}", "/x", "effect"},
	{"and that is read again", "{\"x\":1} > {\"x\":2} > ={\"x\":2} > {\"x\":5}", "/x",
         "effect"},
	/* volatile */
	{"it changes without a call", "{\"x\":1} > {\"x\":2} > ={\"x\":3} > {\"x\":5}", "/x",
         "volatile"},
	{"it changes while others act", "{\"x\":1} > {\"x\":2} > ~{\"x\":3} > {\"x\":5}", "/x",
         "effect"},
	{"the present time", "{\"at\":1767225600} > {\"at\":1767225601.5}", "/at", "volatile"},
	{"in milliseconds", "{\"at\":1767225600000} > {\"at\":1767225601500}", "/at", "volatile"},
	{"as a date", "{\"at\":\"2026-01-01T00:00:00Z\"} > {\"at\":\"2026-01-01T00:00:01Z\"}",
         "/at", "volatile"},
	{"a time of another year",
         "{\"at\":\"1926-01-01T00:00:00Z\"} > {\"at\":\"1927-01-01T00:00:00Z\"}", "/at", "effect"},
	{"a generated id",
         "{\"id\":\"10223344-0000-4000-8000-000000000000\"} > "
         "{\"id\":\"20223344-0000-4000-8000-000000000000\"}",
         "/id", "volatile"},
	{"a text that differs in a date only",
         "\"at 2026-01-01T00:00:00Z up\" > \"at 2026-01-01T00:00:09Z up\"", "", "volatile"},
	{"volatile before bookkeeping", "{\"t\":1} > {\"t\":2} > ={\"t\":3}", "/t", "volatile"},
	/* bookkeeping */
	{"its name", "{\"step_count\":1} > {\"step_count\":2}", "/step_count", "bookkeeping"},
	{"in any case of letters", "{\"Step_Count\":1} > {\"Step_Count\":2}", "/Step_Count",
         "bookkeeping"},
	{"the last name", "{\"a\":{\"uptime\":1}} > {\"a\":{\"uptime\":7}}", "/a/uptime",
         "bookkeeping"},
	{"not a name above", "{\"steps\":{\"x\":1}} > {\"steps\":{\"x\":5}}", "/steps/x", "effect"},
	{"not a part of a name", "{\"steps_left\":9} > {\"steps_left\":3}", "/steps_left",
         "effect"},
	{"bookkeeping before count", "{\"turn\":1} > {\"turn\":2} > {\"turn\":3} > {\"turn\":4}",
         "/turn", "bookkeeping"},
	/* count */
	{"by one at each of three calls", "{\"x\":1} > {\"x\":2} > {\"x\":3} > {\"x\":4}", "/x",
         "count"},
	{"two calls are too few", "{\"x\":1} > {\"x\":2} > {\"x\":3}", "/x", "effect"},
	{"down, by fractions", "{\"x\":0.7} > {\"x\":0.6} > {\"x\":0.5} > {\"x\":0.4}", "/x",
         "count"},
	{"by unequal amounts", "{\"x\":1} > {\"x\":2} > {\"x\":3} > {\"x\":5}", "/x", "effect"},
	{"not at each call", "{\"x\":1} > {\"x\":2} > {\"x\":2} > {\"x\":3} > {\"x\":4}", "/x",
         "effect"},
	{"a call whose readings are unknown",
         "{\"x\":1} > {\"x\":2} > ? > {\"x\":4} > {\"x\":5} > {\"x\":6}", "/x", "count"},
	{"a number in a text", "\"hp 9\" > \"hp 8\" > \"hp 7\" > \"hp 6\"", "/1", "count"},
	{"a number in JSON in a string",
         "{\"s\":\"{\\\"x\\\":1}\"} > {\"s\":\"{\\\"x\\\":2}\"} > {\"s\":\"{\\\"x\\\":3}\"} > "
         "{\"s\":\"{\\\"x\\\":4}\"}",
         "/s/x", "count"},
	{"a list that logs", "{\"l\":[]} > {\"l\":[5]} > {\"l\":[5,7]} > {\"l\":[5,7,1]}", "/l#",
         "count"},
	{"and its entries", "{\"l\":[]} > {\"l\":[5]} > {\"l\":[5,7]} > {\"l\":[5,7,1]}", "/l/1",
         "count"},
	{"a list that logs objects",
         "{\"l\":[]} > {\"l\":[{\"a\":1}]} > {\"l\":[{\"a\":1},{\"a\":5}]} > "
         "{\"l\":[{\"a\":1},{\"a\":5},{\"a\":2}]}",
         "/l/2", "count"},
	{"what changes within an entry of it",
         "{\"l\":[]} > {\"l\":[{\"a\":1}]} > {\"l\":[{\"a\":5},{\"a\":2}]} > "
         "{\"l\":[{\"a\":5},{\"a\":2},{\"a\":1}]}",
         "/l/0/a", "effect"},
	{"a list that logs the newest first",
         "{\"l\":[]} > {\"l\":[5]} > {\"l\":[7,5]} > {\"l\":[1,7,5]}", "/l/0", "count"},
	{"a list that grows by two",
         "{\"l\":[]} > {\"l\":[1,2]} > {\"l\":[1,2,3,4]} > {\"l\":[1,2,3,4,5,6]}", "/l/5",
         "effect"},
	{"a list that shrinks", "{\"l\":[1,2,3]} > {\"l\":[1,2]} > {\"l\":[1]} > {\"l\":[]}", "/l#",
         "effect"},
	{"one that shrinks in between",
         "{\"l\":[]} > {\"l\":[1]} > {\"l\":[1,2]} > {\"l\":[1]} > {\"l\":[1,4]}", "/l#", "effect"},
	/* echo */
	{"the word of the call",
         "{\"x\":\"\"} > " GO("north") "{\"x\":\"north\"} > " GO("south") "{\"x\":\"south\"}", "/x",
         "echo"},
	{"of one call", "{\"x\":\"\"} > " GO("north") "{\"x\":\"north\"}", "/x", "echo"},
	{"in a sentence",
         "{\"x\":\"\"} > " GO("north") "{\"x\":\"You go north.\"} > " GO(
		 "south") "{\"x\":\"You go south.\"}",
         "/x", "echo"},
	{"in a sentence after one call", "{\"x\":\"\"} > " GO("north") "{\"x\":\"You go north.\"}",
         "/x", "effect"},
	{"in a sentence of the same call again",
         "{\"x\":\"\"} > " GO("up") "{\"x\":\"You go up\"} > " GO("up") "{\"x\":\"You go up\"}",
         "/x", "effect"},
	{"in capitals",
         "{\"x\":\"\"} > " GO("north") "{\"x\":\"NORTH\"} > " GO("west") "{\"x\":\"WEST\"}", "/x",
         "echo"},
	{"a number of the call", "{\"x\":0} > " N(4) "{\"x\":4} > " N(9) "{\"x\":9}", "/x", "echo"},
	{"spelled as a fraction", "{\"x\":0.0} > " N(4) "{\"x\":4.0} > " N(9) "{\"x\":9.0}", "/x",
         "echo"},
	{"and in a text",
         "{\"x\":\"off\"} > " N(4) "{\"x\":\"at 4.0 C\"} > " N(9) "{\"x\":\"at 9.0 C\"}", "/x/1",
         "echo"},
	{"not in one of them", "{\"x\":0} > " N(4) "{\"x\":4} > " N(9) "{\"x\":8}", "/x", "effect"},
	{"unchanged by a call with another word",
         "{\"x\":0} > " N(4) "{\"x\":4} > " N(9) "{\"x\":4} > " N(7) "{\"x\":7}", "/x", "effect"},
	{"unchanged by a call with the same word",
         "{\"x\":0} > " N(4) "{\"x\":4} > " N(4) "{\"x\":4} > " N(7) "{\"x\":7}", "/x", "echo"},
	{"other words differ, too",
         "{\"x\":\"\"} > " GO("north") "{\"x\":\"a lake north\"} > " GO(
		 "south") "{\"x\":\"a hill south\"}",
         "/x", "effect"},
};

static const struct member *member(const struct series *s, const char *pointer)
{
	struct str text = str_from(pointer);
	bool list = text.n && text.p[text.n - 1] == '#';

	text.n -= list;
	return map_find(&s->members, map_hash_with(map_hash(text), list), STR_NONE);
}

static void explains(const struct row *r, const struct explaining *e, const char *wanted)
{
	struct series s = {.has_last = false};

	observe(&s, r->readings);
	explain_members(&s, e);
	const struct member *m = member(&s, r->pointer);
	is_str(m ? names[m->explanation] : "no change", wanted, "%s: %s", r->name, r->readings);
	series_release(&s);
}

/* What the user says comes before what is seen. */
static void test_told(void)
{
	static const struct row count = {
		"a count",
		"{\"x\":{\"y\":1}} > {\"x\":{\"y\":2}} > {\"x\":{\"y\":3}} > "
		"{\"x\":{\"y\":4}}",
		"/x/y", NULL};
	static const struct row step = {"a step count", "{\"steps\":1} > {\"steps\":2}", "/steps",
	                                NULL};
	const char *const x[] = {"/x"}, *const xx[] = {"/xx", "/x/yy"}, *const steps[] = {"/steps"};
	struct explaining all = {.names = true};

	explains(&count, &all, "count");
	explains(&count, &(struct explaining){.effects = x, .effect_count = 1}, "effect");
	explains(&count, &(struct explaining){.ignored = x, .ignored_count = 1}, "bookkeeping");
	explains(&count, &(struct explaining){.effects = xx, .effect_count = 2}, "count");
	explains(&step, &all, "bookkeeping");
	explains(&step, &(struct explaining){.names = false}, "effect");
	explains(&step, &(struct explaining){.names = true, .effects = steps, .effect_count = 1},
	         "effect");
}

static void test_sentence(void)
{
	struct series s = {.has_last = false};
	char text[160], small[12];

	observe(&s, "{\"x\":1} > {\"x\":2} > {\"x\":3} > {\"x\":4}");
	explain_members(&s, &(struct explaining){.names = true});
	explain_sentence(member(&s, "/x"), text, sizeof(text));
	ok(strstr(text, "/x") && strstr(text, "1 -> 2"), "names member and values: %s", text);
	explain_sentence(member(&s, "/x"), small, sizeof(small));
	is_int((long long)strlen(small), 11, "and is cut where there is no room");
	series_release(&s);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		explains(&rows[i], &(struct explaining){.names = true}, rows[i].wanted);
	for (size_t i = 0; i < bookkeeping_names_count; i++) {
		struct series s = {.has_last = false};
		char text[160];

		snprintf(text, sizeof(text), "{\"%s\":1} > {\"%s\":7}", bookkeeping_names[i],
		         bookkeeping_names[i]);
		observe(&s, text);
		explain_members(&s, &(struct explaining){.names = true});
		is_int(s.changed[0]->explanation, MEMBER_BOOKKEEPING, "%s", bookkeeping_names[i]);
		series_release(&s);
	}
	test_told();
	test_sentence();
	return done();
}
