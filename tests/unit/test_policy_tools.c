/* Tools and their schemas: valid arguments, the messages for invalid ones, and how an
   action becomes arguments. */
#include "json/schema.h"
#include "policy/tool_set.h"
#include "tap.h"

/* The schema of one tool, arguments, and the message; NULL: valid. */
static const struct {
	const char *schema, *arguments, *message;
} calls[] = {
	{"{}", "{\"any\":1}", NULL},
	{"null", "{\"any\":1}", NULL},
	{"{\"properties\":{}}", "{\"any\":1}", NULL},
	{"{}", "[1]", "the arguments are an array, not an object"},
#define XY(x, y) "{\"properties\":{\"x\":" x ",\"yes\":" y "},\"required\":[\"x\"]}"
	{XY("{}", "{}"), "{}", "the required argument \"x\" is missing"},
	{XY("{}", "{}"), "{\"x\":1,\"yess\":2}",
         "the tool has no argument 'yess'; did you mean 'yes'?"},
	{"{\"properties\":{\"x\":{}},\"additionalProperties\":true}", "{\"y\":1}", NULL},
	{"{\"properties\":{\"x\":{}},\"additionalProperties\":{}}", "{\"y\":1}", NULL},
	{"{\"properties\":{\"x\":{}},\"additionalProperties\":false}", "{\"y\":1}",
         "the tool has no argument 'y'; available: x"},
#define X(schema) "{\"properties\":{\"x\":" schema "}}"
#define TYPE(t)   X("{\"type\":\"" t "\"}")
	{TYPE("string"), "{\"x\":\"\"}", NULL},
	{TYPE("string"), "{\"x\":1}",
         "argument 'x' is a number, but the schema requires \"string\""},
	{TYPE("integer"), "{\"x\":1.0}", NULL},
	{TYPE("integer"), "{\"x\":1e2}", NULL},
	{TYPE("integer"), "{\"x\":-99999999999999999999}", NULL},
	{TYPE("integer"), "{\"x\":1e-2}",
         "argument 'x' is a number, but the schema requires "
         "\"integer\""},
	{TYPE("integer"), "{\"x\":1.5}",
         "argument 'x' is a number, but the schema requires "
         "\"integer\""},
	{TYPE("number"), "{\"x\":1.5}", NULL},
	{TYPE("boolean"), "{\"x\":false}", NULL},
	{TYPE("boolean"), "{\"x\":\"true\"}",
         "argument 'x' is a string, but the schema requires \"boolean\""},
	{TYPE("null"), "{\"x\":null}", NULL},
	{TYPE("array"), "{\"x\":[]}", NULL},
	{TYPE("object"), "{\"x\":{}}", NULL},
	{TYPE("object"), "{\"x\":[]}",
         "argument 'x' is an array, but the schema requires \"object\""},
	{X("{\"type\":[\"string\",\"null\"]}"), "{\"x\":null}", NULL},
	{X("{\"type\":[\"string\",\"null\"]}"), "{\"x\":2}",
         "argument 'x' is a number, but the schema requires [\"string\",\"null\"]"},
	{X("{\"enum\":[\"caf\\u00e9\",1]}"), "{\"x\":\"caf\xc3\xa9\"}", NULL},
	{X("{\"enum\":[\"a\",1]}"), "{\"x\":1.0}", NULL},
	{X("{\"enum\":[\"LEFT\",\"UP\"]}"), "{\"x\":\"LEFTT\"}",
         "argument 'x' does not accept 'LEFTT'; did you mean 'LEFT'?"},
	{X("{\"const\":\"go\"}"), "{\"x\":\"go\"}", NULL},
	{X("{\"const\":\"go\"}"), "{\"x\":\"stop\"}", "argument 'x' can only be \"go\""},
	{X("{\"minimum\":1,\"maximum\":3}"), "{\"x\":3}", NULL},
	{X("{\"minimum\":1}"), "{\"x\":0}", "argument 'x' is 0, below the minimum 1"},
	{X("{\"maximum\":3}"), "{\"x\":3.5}", "argument 'x' is 3.5, above the maximum 3"},
	{X("{\"exclusiveMinimum\":1}"), "{\"x\":1}", "argument 'x' is 1, not above 1"},
	{X("{\"exclusiveMaximum\":1}"), "{\"x\":1}", "argument 'x' is 1, not below 1"},
	{X("{\"exclusiveMinimum\":true,\"minimum\":1}"), "{\"x\":2}", NULL},
#define MAYBE X("{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"null\"}]}")
	{MAYBE, "{\"x\":null}", NULL},
	{MAYBE, "{\"x\":4}", NULL},
	{MAYBE, "{\"x\":-4}", "argument 'x' is -4, below the minimum 0"},
	{MAYBE, "{\"x\":\"4\"}", "argument 'x' is a string, but the schema requires \"integer\""},
#define REF                                                                                        \
	"{\"properties\":{\"x\":{\"$ref\":\"#/$defs/Way\"}},\"$defs\":{\"Way\":"                   \
	"{\"enum\":[\"N\",\"S\"],\"type\":\"string\"}}}"
	{REF, "{\"x\":\"N\"}", NULL},
	{REF, "{\"x\":\"W\"}", "argument 'x' does not accept 'W'; available: N, S"},
	{"{\"properties\":{\"x\":{\"$ref\":\"#/properties/x\"}}}", "{\"x\":1}", NULL},
	{X("{\"$ref\":\"http://elsewhere/schema\"}"), "{\"x\":1}", NULL},
	{X("{\"$ref\":7}"), "{\"x\":1}", NULL},
	{"{\"properties\":{\"\\u0078\":{\"type\":\"string\"}},\"required\":[\"x\"]}", "{\"x\":1}",
         "argument 'x' is a number, but the schema requires \"string\""},
	{"{\"properties\":[],\"required\":{}}", "{\"x\":1}", NULL},
};

static void make_tool(struct buf *tool, const char *schema)
{
	buf_clear(tool);
	buf_printf(tool, "{\"name\":\"move\",\"inputSchema\":%s}", schema);
}

static void test_calls(void)
{
	struct buf tool = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct error err = {0};

		make_tool(&tool, calls[i].schema);
		int failed =
			tool_check_arguments(buf_view(&tool), str_from(calls[i].arguments), &err);
		is_str(failed ? err.text : NULL, calls[i].message, "%s with %s", calls[i].schema,
		       calls[i].arguments);
		ok(!failed || err.kind == FAIL_USAGE, "usage");
	}
	buf_release(&tool);
}

/* A schema, an action, and the arguments made from it; otherwise the message. */
static const struct {
	const char *schema, *action, *arguments, *message;
} actions[] = {
	{X("{\"type\":\"string\"}"), "UP", "{\"x\":\"UP\"}", NULL},
	{X("{\"type\":\"string\"}"), "3", "{\"x\":\"3\"}", NULL},
	{X("{\"type\":\"string\"}"), "say \"hi\"\n", "{\"x\":\"say \\\"hi\\\"\\n\"}", NULL},
	{X("{}"), "3", "{\"x\":\"3\"}", NULL},
	{X("{\"enum\":[\"a\",\"b\"]}"), "a", "{\"x\":\"a\"}", NULL},
	{X("{\"type\":\"integer\"}"), "3", "{\"x\":3}", NULL},
	{X("{\"type\":\"integer\"}"), "UP", NULL,
         "action 'UP': the argument 'x' must be of type \"integer\""},
	{X("{\"type\":\"integer\"}"), "3.5", NULL,
         "action '3.5': argument 'x' is a number, but the schema requires \"integer\""},
	{X("{\"type\":[\"integer\",\"string\"]}"), "3", "{\"x\":\"3\"}", NULL},
	{X("{\"type\":\"boolean\"}"), "true", "{\"x\":true}", NULL},
	{X("{\"type\":\"array\"}"), "[1]", "{\"x\":[1]}", NULL},
	{MAYBE, "3", "{\"x\":3}", NULL},
	{MAYBE, "null", "{\"x\":null}", NULL},
	{MAYBE, "UP", NULL,
         "action 'UP': the argument 'x' must be of type "
         "[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"null\"}]"},
	{REF, "S", "{\"x\":\"S\"}", NULL},
	{REF, "E", NULL, "action 'E': argument 'x' does not accept 'E'; available: N, S"},
	{XY("{\"type\":\"integer\"}", "{}"), "3", "{\"x\":3}", NULL},
	{"{\"properties\":{\"x\":{},\"y\":{}}}", "3", NULL,
         "\1actions\2 fills one argument, but the tool \"move\" has 2 (0 required): "
         "choose it with \1argument\2 NAME, or use \1call\2 'move x=.. y=..'"},
	{"{\"properties\":{\"x\":{},\"y\":{}},\"required\":[\"x\",\"y\"]}", "3", NULL,
         "\1actions\2 fills one argument, but the tool \"move\" has 2 (2 required): "
         "use \1call\2 'move x=.. y=..'"},
	{"{}", "3", NULL,
         "\1actions\2 fills one argument, but the tool \"move\" has 0 (0 required): "
         "use \1call\2 'move'"},
	{"{\"required\":[\"w\"]}", "3", "{\"w\":\"3\"}", NULL},
	{X("{\"type\":\"array\"}"), "[1,[2,3]]", "{\"x\":[1,[2,3]]}", NULL},
	{X("{\"type\":[\"string\",\"array\"]}"), "[1,2]", "{\"x\":[1,2]}", NULL},
	{X("{\"type\":\"string\"}"), "[1,2]", "{\"x\":\"[1,2]\"}", NULL},
	{X("{\"type\":\"string\"}"), "\"a,b\"", "{\"x\":\"a,b\"}", NULL},
	{X("{}"), "{\"a\":1}", "{\"x\":{\"a\":1}}", NULL},
	{X("{}"), "[crane", "{\"x\":\"[crane\"}", NULL},
	{"{\"properties\":{\"a\\/b\":{\"type\":\"integer\"}}}", "3", "{\"a\\/b\":3}", NULL},
};

static void test_actions(void)
{
	struct buf tool = BUF(BUF_MAX_SMALL), out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		struct error err = {0};
		struct str key, schema;

		make_tool(&tool, actions[i].schema);
		buf_clear(&out);
		int failed = tool_action_property(buf_view(&tool), NULL, &key, &schema, &err) ||
		             tool_action_arguments(buf_view(&tool), key, schema,
		                                   str_from(actions[i].action), &out, &err);
		is_str(failed ? NULL : buf_cstr(&out), actions[i].arguments, "%s for %s",
		       actions[i].action, actions[i].schema);
		is_str(failed ? err.text : NULL, actions[i].message, "and why");
	}
	buf_release(&tool);
	buf_release(&out);
}

static void test_named_argument(void)
{
	struct str tool =
		STR("{\"name\":\"move\",\"inputSchema\":{\"properties\":{\"x\":{},\"why\":{}}}}");
	struct error err = {0};
	struct str key, schema;

	ok(!tool_action_property(tool, "why", &key, &schema, &err) && str_is(key, "why") &&
	           str_is(schema, "{}"),
	   "the argument that is named: %s", err.text);
	ok(tool_action_property(tool, "wy", &key, &schema, &err) &&
	           strstr(err.text, "\1argument\2: the tool has no argument") &&
	           strstr(err.text, "why"),
	   "and one that is not there: %s", err.text);
}

#define THREE "[{\"name\":\"look\"},{\"name\":\"m\\u00f6ve\"},{\"noname\":1}]"

static void test_names(void)
{
	struct error err = {0};
	struct buf name = BUF(BUF_MAX_SMALL);
	struct str tools = STR(THREE);

	ok(tool_find(tools, STR("m\xc3\xb6ve")).p != NULL, "found by its decoded name");
	ok(!tool_find(tools, STR("jump")).p, "not found");
	ok(!tool_find(STR_NONE, STR("look")).p, "not found without a list");
	ok(!tool_schema(tool_find(tools, STR("look"))).p, "no schema");
	ok(tool_require(tools, STR("look"), &err) == 0, "required and there");
	ok(tool_require(tools, STR("lok"), &err) < 0, "required and not there");
	is_str(err.text, "the server has no tool 'lok'; did you mean 'look'?", "the nearest");
	ok(tool_only(tools, &name, &err) < 0 && err.kind == FAIL_USAGE, "not the only one");
	ok(tool_only(STR("[]"), &name, &err) < 0, "none");
	is_str(err.text, "the server offers no tools", "why");
	ok(tool_only(STR("[{\"name\":\"a\\/b\"}]"), &name, &err) == 0, "the only one");
	is_str(buf_cstr(&name), "a/b", "decoded");
	ok(tool_only(STR("[{\"noname\":1}]"), &name, &err) < 0, "the only one, without a name");
	is_str(err.text, "the server's only tool has no name", "why");
	buf_release(&name);
}

static void test_schema(void)
{
	struct str root = STR("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
	                      "\"b\":{\"type\":\"null\"},\"s\":\"{}\"}}");

	ok(str_is(schema_resolve(root, STR("{\"$ref\":\"#/$defs/a\"}")), "{\"type\":\"null\"}"),
	   "a chain of references");
	ok(!schema_resolve(root, STR("{\"$ref\":\"#/$defs/s\"}")).p, "into a string");
	ok(!schema_resolve(root, STR("{\"$ref\":\"#/nowhere\"}")).p, "to nowhere");
	struct arena arena = {0};
	struct references r;

	references_begin(&r, root, &arena);
	ok(!schema_names_any(&r, STR("{\"enum\":[1]}")), "no type is named");
	arena_release(&arena);
}

/* Repeated references into a schema give the same results as a single lookup. */
static void test_references(void)
{
	struct str root = STR("{\"a/b\":{\"m~n\":1},\"list\":[{\"x\":2},3],\"d\":{\"k\":4,"
	                      "\"k\":5,\"\\u0061\":6},\"s\":\"{\\\"k\\\":7}\",\"\":{\"\":8}}");
	static const char *const pointers[] = {"",        "/d",        "/d/k",       "/d/a",
	                                       "/list/0", "/list/0/x", "/list/1",    "/list/01",
	                                       "/list/2", "/list/-",   "/a~1b/m~0n", "/a~1b/m~2n",
	                                       "/s/k",    "/s",        "//",         "/",
	                                       "d/k",     "/d/k/",     "/no/k",      "/d/no"};
	struct arena arena = {0};
	struct references r;

	references_begin(&r, root, &arena);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
			struct buf scratch = BUF(BUF_MAX_SMALL);
			struct str pointer = str_from(pointers[i]);
			struct str once = json_point(root, pointer, &scratch);
			struct str got = references_point(&r, pointer);

			ok(got.p == (scratch.n ? NULL : once.p), "\"%s\": %.*s", pointers[i],
			   STR_ARG(got.p ? got : STR("nothing")));
			buf_release(&scratch);
		}
	}
	arena_release(&arena);
}

int main(void)
{
	test_calls();
	test_actions();
	test_named_argument();
	test_names();
	test_schema();
	test_references();
	return done();
}
