/* Patterns against pointers, every pointer of a value, and unordered arrays. */
#include "json/diff.h"
#include "json/paths.h"
#include "json/walk.h"

#include "tap.h"

static const struct {
	const char *pattern, *pointer;
	bool fits;
} patterns[] = {
	{"", "", true},
	{"", "/a", false},
	{"/a", "", false},
	{"/a", "/a", true},
	{"/a", "/ab", false},
	{"/ab", "/a", false},
	{"/a", "/a/b", false},
	{"/a/b", "/a", false},
	{"/*", "/anything", true},
	{"/*", "/", true},
	{"/*", "/a/b", false},
	{"/a/*/c", "/a/0/c", true},
	{"/a/*/c", "/a/c", false},
	{"/**", "", true},
	{"/**", "/a/b/c", true},
	{"/**/c", "/c", true},
	{"/**/c", "/a/b/c", true},
	{"/**/c", "/a/b/cc", false},
	{"/**/c", "/a/c/b", false},
	{"/a/**", "/a", true},
	{"/a/**", "/a/b", true},
	{"/a/**", "/b/a", false},
	{"/a/**/d", "/a/b/c/d", true},
	{"/**/b/*/d", "/b/b/c/d", true},
	{"/**/b/*/d", "/b/b/c/d/e", false},
	{"/**/a/**/b", "/x/a/y/a/z/b", true},
	{"/**/a/**/b", "/x/b/y/a", false},
	{"/~2", "/*", true},
	{"/~2", "/a", false},
	{"/~2~2", "/**", true},
	{"/a~1b", "/a~1b", true},
	{"/a~0b", "/a~0b", true},
	{"/a~02", "/a~02", true},
};

static bool list(void *ctx, struct str pointer, struct str value)
{
	struct buf *out = ctx;

	buf_printf(out, "%.*s=%.*s ", STR_ARG(pointer), STR_ARG(value));
	return !str_is(pointer, "/stop");
}

static void check_walk(struct buf *out)
{
	json_walk(STR("{\"a\":[1,{\"b/c\":2}],\"d\":\"{\\\"e\\\":3}\",\"f\":\"[\"}"), list, out);
	is_str(buf_cstr(out),
	       "/a=[1,{\"b/c\":2}] /a/0=1 /a/1={\"b/c\":2} /a/1/b~1c=2 /d=\"{\\\"e\\\":3}\" /d/e=3 "
	       "/f=\"[\" ",
	       "parents first, including JSON within strings");
	buf_clear(out);
	json_walk(STR("{\"a\":1,\"stop\":[2],\"b\":3}"), list, out);
	is_str(buf_cstr(out), "/a=1 /stop=[2] ", "stops when the callback says so");
	buf_clear(out);
	json_walk(STR("7"), list, out);
	is_str(buf_cstr(out), "", "a number has no members");
}

static bool print_difference(void *ctx, const struct json_difference *d)
{
	struct buf *out = ctx;

	buf_printf(out, "%.*s %.*s -> %.*s; ", STR_ARG(d->pointer), STR_ARG(d->before),
	           STR_ARG(d->after));
	return true;
}

/* "/set" is a set, "/by" and what "/deep/ *" holds go by the member id. */
static bool is_unordered(void *ctx, struct str pointer, struct str *key)
{
	(void)ctx;
	*key = str_is(pointer, "/set") ? STR("") : STR("id");
	return str_is(pointer, "/set") || str_is(pointer, "/by") ||
	       json_pattern_fits(STR("/deep/*"), pointer);
}

static const struct {
	const char *name, *before, *after, *want;
} unordered[] = {
	{"a set in another order", "{\"set\":[3,1,2]}", "{\"set\":[1,2,3]}", ""},
	{"elements that one set has", "{\"set\":[\"a\",\"b\"]}", "{\"set\":[\"c\",\"a\"]}",
         "/set/b \"b\" -> ; /set/c  -> \"c\"; "},
	{"an element that occurs twice", "{\"set\":[1,1,2]}", "{\"set\":[2,1]}", "/set/1 1 -> ; "},
	{"elements matched by a member", "{\"by\":[{\"id\":\"x\",\"n\":1},{\"id\":\"y\",\"n\":2}]}",
         "{\"by\":[{\"id\":\"y\",\"n\":3},{\"id\":\"x\",\"n\":1}]}", "/by/y/n 2 -> 3; "},
	{"keys that are numbers", "{\"by\":[{\"id\":10,\"n\":1},{\"id\":9,\"n\":2}]}",
         "{\"by\":[{\"id\":9,\"n\":2},{\"id\":10,\"n\":0}]}", "/by/10/n 1 -> 0; "},
	{"elements without the member", "{\"by\":[{\"n\":1},7]}", "{\"by\":[7,{\"n\":1}]}", ""},
	{"in JSON that a string holds",
         "{\"deep\":\"{\\\"a\\\":[{\\\"id\\\":1},{\\\"id\\\":2}]}\"}",
         "{\"deep\":\"{\\\"a\\\":[{\\\"id\\\":2},{\\\"id\\\":1}]}\"}", ""},
	{"other arrays have an order", "{\"list\":[1,2]}", "{\"list\":[2,1]}",
         "/list/0 1 -> 2; /list/1 2 -> 1; "},
	{"an array against something else", "{\"set\":[1]}", "{\"set\":{\"1\":1}}",
         "/set [1] -> {\"1\":1}; "},
};

static void sets(struct buf *out)
{
	const struct json_unordered how = {is_unordered, out};

	for (size_t i = 0; i < ARRAY_LEN(unordered); i++) {
		buf_clear(out);
		json_diff_unordered(str_from(unordered[i].before), str_from(unordered[i].after),
		                    &how, print_difference);
		is_str(buf_cstr(out), unordered[i].want, "%s", unordered[i].name);
	}
}

int main(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		is_int(json_pattern_fits(str_from(patterns[i].pattern),
		                         str_from(patterns[i].pointer)),
		       patterns[i].fits, "%s on %s", patterns[i].pattern, patterns[i].pointer);
	}
	check_walk(&out);
	sets(&out);
	buf_release(&out);
	return done();
}
