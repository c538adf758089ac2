/* Facts read from the bytes of lines. */
#include "recording/by_rollout.h"
#include "recording/reader_internal.h"

#include "guard.h"
#include "tap.h"

#include <stdio.h>

#define STEP "{\"type\":\"step\",\"rollout\":\"r\""

static const struct {
	const char *name, *line;
	enum line_type type; /* LINE_UNKNOWN: the line must be parsed */
} lines[] = {
	{"a step", STEP ",\"turn\":0}", LINE_STEP},
	{"an end", "{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"finished\"}", LINE_END},
	{"a header is always read", "{\"type\":\"header\",\"rollout\":\"r\",\"version\":9}",
         LINE_UNKNOWN},
	{"an unknown type", "{\"type\":\"steps\",\"rollout\":\"r\"}", LINE_UNKNOWN},
	{"another order", "{\"rollout\":\"r\",\"type\":\"step\"}", LINE_UNKNOWN},
	{"blanks", "{\"type\": \"step\",\"rollout\":\"r\"}", LINE_UNKNOWN},
	{"an id with escapes", "{\"type\":\"step\",\"rollout\":\"a\\u0062\"}", LINE_UNKNOWN},
	{"no id", "{\"type\":\"step\",\"rollout\":\"\"}", LINE_UNKNOWN},
	{"two on one line", STEP "}" STEP "}", LINE_UNKNOWN},
	{"two with blanks between", STEP "}\t " STEP "}", LINE_UNKNOWN},
	{"one that is torn", STEP ",\"turn\":", LINE_UNKNOWN},
	{"objects in it", STEP ",\"a\":{\"b\":{}},\"c\":[{},{}]}", LINE_STEP},
	{"only the beginning", "{\"type\":\"step\",\"rollout\":\"", LINE_UNKNOWN},
	{"nothing", "", LINE_UNKNOWN},
};

static const struct {
	const char *name, *a, *b;
	bool same;
} pairs[] = {
	{"equal lines", STEP ",\"turn\":0}", STEP ",\"turn\":0}", true},
	{"another value", STEP ",\"turn\":0}", STEP ",\"turn\":1}", false},
	{"another meta", STEP ",\"meta\":{\"at\":1}}", STEP ",\"meta\":{\"at\":2,\"x\":{}}}", true},
	{"a meta that only one has", STEP "}", STEP ",\"meta\":{\"at\":2}}", false},
	{"a value before meta", STEP ",\"turn\":0,\"meta\":{\"at\":1}}",
         STEP ",\"turn\":1,\"meta\":{\"at\":1}}", false},
	{"a meta within a value", STEP ",\"state\":{\"a\":1,\"meta\":{\"x\":1}}}",
         STEP ",\"state\":{\"a\":1,\"meta\":{\"x\":2}}}", false},
	{"a meta that is not the last", STEP ",\"meta\":{\"x\":1},\"reward\":1}",
         STEP ",\"meta\":{\"x\":2},\"reward\":1}", false},
	{"a meta within meta", STEP ",\"meta\":{\"a\":1,\"meta\":{\"x\":1}}}",
         STEP ",\"meta\":{\"a\":1,\"meta\":{\"x\":2}}}", false},
	{"a meta that is not JSON", STEP ",\"meta\":{\"x\":1}}", STEP ",\"meta\":{\"x\":}}", false},
	{"a meta in a string", STEP ",\"a\":\"b,\\\"meta\\\":{1\"}",
         STEP ",\"a\":\"b,\\\"meta\\\":{2\"}", false},
	{"one is torn", STEP ",\"meta\":{\"x\":1}}", STEP ",\"meta\":{\"x\":1", false},
	{"nothing and nothing", "", "", true},
	{"nothing and a line", "", STEP "}", false},
};

/* Wherever in a block of bytes its braces are, a line is recognized alike. */
static void anywhere_in_a_block(void)
{
	static const struct {
		const char *end;
		bool skimmed;
	} ends[] = {
		{"}", true},           {"}" STEP "}", false},     {"}\t " STEP "}", false},
		{"} ", false},         {",\"c\":[{},{}]}", true}, {",\"s\":\"} {\"}", false},
		{",\"d\": {}}", true},
	};
	struct guard g = guard_new(1 << 12);
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		for (int blanks = 0; blanks < 70; blanks++) {
			char bytes[400];
			struct line l;
			int n = snprintf(bytes, sizeof(bytes), STEP ",\"a\":\"%*s\"%s", blanks, "",
			                 ends[i].end);

			wrong += line_skim(guard_put(&g, (struct str){bytes, (size_t)n}), &l) !=
			         ends[i].skimmed;
		}
	}
	is_int(wrong, 0, "lines whose braces are anywhere in a block");
	guard_free(&g);
}

int main(void)
{
	anywhere_in_a_block();
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct line l = {.type = LINE_UNKNOWN};
		struct str text = str_from(lines[i].line);

		is_int(line_skim(text, &l), lines[i].type != LINE_UNKNOWN, "%s", lines[i].name);
		is_int(l.type, lines[i].type, "%s: its type", lines[i].name);
		ok(l.type == LINE_UNKNOWN || (str_is(l.rollout, "r") && str_eq(l.text, text)),
		   "%s: its rollout and text", lines[i].name);
	}
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct str a = str_from(pairs[i].a), b = str_from(pairs[i].b);

		is_int(line_same_but_meta(a, b), pairs[i].same, "%s", pairs[i].name);
		is_int(line_same_but_meta(b, a), pairs[i].same, "%s, exchanged", pairs[i].name);
	}
	return done();
}
