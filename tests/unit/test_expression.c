/* Conditions of the debugger: their value for a step, and the position of errors in them.
   */
#include "debug/expression.h"
#include "tap.h"

static const char step_text[] =
	"{\"type\":\"step\",\"rollout\":\"r.0\",\"turn\":3,\"step\":2,"
	"\"state\":{\"position\":4,\"bag\":[\"key\"],\"text\":\"{\\\"inner\\\":7}\"},"
	"\"tool_call\":{\"id\":\"c2\",\"name\":\"lake_move\",\"arguments\":{\"action\":\"DOWN\"}},"
	"\"observation\":null,\"outcome\":\"capacity\","
	"\"error\":{\"class\":\"capacity\",\"layer\":\"body\",\"code\":-32000,\"message\":\"full\"},"
	"\"reward\":0.50,\"terminated\":false}";

static bool begins(void *ctx, struct str rule, const struct moment *m)
{
	(void)ctx;
	(void)m;
	return !rule.n || str_is(rule, "capacity");
}

struct told {
	const char *text;
	bool holds;
};

static const struct told told[] = {
	{"turn == 3", true},
	{"turn 3", true},
	{"3", false}, /* a number alone is a step */
	{"2", true},
	{"step >= 2 && turn != 4", true},
	{"step > 2 || turn > 2", true},
	{"!(step > 2) && !terminated", true},
	{"! step == 2", false},
	{"tool == lake_move", true},
	{"tool lake_move", true},
	{"tool ~ lake_*", true},
	{"tool ~ move*", false},
	{"tool == \"lake_move\"", true},
	{"arguments.action == DOWN", true},
	{"tool_call.arguments./action == UP", false},
	{"outcome == capacity", true},
	{"error.class == capacity", true},
	{"error.code == -32000.0", true},
	{"error.code < 0", true},
	{"reward == 0.5", true},
	{"reward", true},
	{"terminated", false},
	{"raw == null", true},
	{"raw", false},
	{"raw > 0", false},
	{"raw < 0", false},
	{"state./position == 5", true},
	{"before./position == 4", true},
	{"state./position > before./position", true},
	{"./position == 5", true},
	{"/position 5", true},
	{"state.bag.0 == key", true},
	{"./text/inner == 7", true},
	{"./nowhere == null", true},
	{"./nowhere == 1", false},
	{"changed", true},
	{"changed ./position", true},
	{"changed /bag", false},
	{"changed ./position && !changed ./text", true},
	{"effect == changed", true},
	{"rule == capacity", true},
	{"rule capacity", true},
	{"rule != capacity", false},
	{"rule", true},
	{"rule == frozen-state", false},
	{"turn > 1 if reward > 0", true},
	{"turn > 1 || turn > 2 if reward > 9", false},
	{"(turn == 1 || turn == 3) && (step == 2)", true},
};

static void test_holds(void)
{
	struct buf id = BUF(BUF_MAX_SMALL);
	struct error err;
	struct line l;
	size_t used, at;

	ok(!line_parse(str_from(step_text), &id, &l, &used, &err), "the step is one");
	const struct moment m = {
		.position = 3,
		.line = &l,
		.after = STR("{\"position\":5,\"bag\":[\"key\"],\"text\":\"{\\\"inner\\\":7}\"}"),
		.effect = EFFECT_CHANGED};
	const struct known k = {.moment = &m, .begins = begins};

	for (size_t i = 0; i < ARRAY_LEN(told); i++) {
		struct expression *e = NULL;

		if (ok(!expression_parse(str_from(told[i].text), &e, &at, &err), "%s",
		       told[i].text)) {
			is_int(expression_holds(e, &k), told[i].holds, "%s: %s", told[i].text,
			       told[i].holds ? "holds" : "does not");
		}
		expression_free(e);
	}
	buf_release(&id);
}

struct wrong {
	const char *text;
	size_t column;
	const char *message; /* the beginning of the message */
};

static const struct wrong wrong[] = {
	{"", 0, "unexpected end of the expression"},
	{"reward >", 8, "expected a value"},
	{"reward > && turn", 9, "expected a value"},
	{"reward = 1", 7, "'=' is not an operator; use '=='"},
	{"rewrd > 1", 0, "unknown name 'rewrd'; did you mean 'reward'?"},
	{"turn == 1 && ", 12, "unexpected end of the expression"},
	{"turn == 1 & step", 10, "expected an operator"},
	{"turn == 1 step == 2", 10, "expected an operator"},
	{"(turn == 1", 10, "missing ')'"},
	{"turn == 1)", 9, "unmatched ')'"},
	{"()", 1, "expected a name"},
	{"outcome == okay", 11, "unknown outcome 'okay'"},
	{"outcome != capcity", 11, "unknown outcome 'capcity'; did you mean 'capacity'?"},
	{"rule frozen", 5, "unknown rule 'frozen'"},
	{"error.class == capcity", 15, "unknown error class 'capcity'"},
	{"error.clas == capacity", 5, "'error' has no member 'clas'; did you mean 'class'?"},
	{"effect == chnged", 10, "unknown effect 'chnged'"},
	{"tool == \"open", 8, "unterminated or invalid JSON string"},
};

static void test_wrong(void)
{
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct expression *e = NULL;
		struct error err = {0};
		size_t at = 999;
		int failed = expression_parse(str_from(wrong[i].text), &e, &at, &err);

		ok(failed && err.kind == FAIL_USAGE, "refused: %s", wrong[i].text);
		is_int(at, wrong[i].column, "at its column: %s", wrong[i].text);
		ok(!strncmp(err.text, wrong[i].message, strlen(wrong[i].message)), "%s",
		   wrong[i].message);
	}
}

/* Depth and length are limited; what exceeds the limit is refused. */
static void test_caps(void)
{
	struct buf deep = BUF(BUF_MAX_SMALL), lengthy = BUF(BUF_MAX_SMALL);
	struct expression *e;
	struct error err;
	size_t at;

	for (int i = 0; i < 5000; i++) {
		buf_text(&deep, "(");
		buf_text(&lengthy, i ? " && step" : "step");
	}
	ok(expression_parse(buf_view(&deep), &e, &at, &err), "5000 brackets are refused");
	is_str(err.text, "the expression is too long", "with the reason");
	ok(expression_parse(buf_view(&lengthy), &e, &at, &err), "5000 tests are refused");
	buf_release(&deep);
	buf_release(&lengthy);
}

static bool asks(const char *text, bool (*what)(const struct expression *e))
{
	struct expression *e = NULL;
	struct error err;
	size_t at;

	if (expression_parse(str_from(text), &e, &at, &err))
		return false;
	bool is = what(e);
	expression_free(e);
	return is;
}

static bool before(const char *text)
{
	return asks(text, expression_is_before);
}

static void test_before(void)
{
	ok(before("turn == 3 && tool lake_move"), "turn and tool are known before the call");
	ok(before("arguments.action == DOWN if step > 2"), "arguments are");
	ok(!before("turn == 3 && reward > 0"), "a reward is not");
	ok(!before("before./x == state./x"), "nor is the state after it");
}

/* Facts that are not used are not computed. */
static void test_asks(void)
{
	ok(asks("reward > 0 && rule capacity", expression_asks_rules), "rule needs findings");
	ok(!asks("changed", expression_asks_rules), "changed does not");
}

int main(void)
{
	test_holds();
	test_wrong();
	test_caps();
	test_before();
	test_asks();
	return done();
}
