/* Calls as text: words and quotes, values by the tool's schema, and the messages for what is wrong. */
#include "policy/call_text.h"
#include "policy/tool_set.h"
#include "tap.h"

#define TOOLS                                                                                        \
	"[{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"                   \
	"\"item\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"on\":{\"type\":\"boolean\"}," \
	"\"tags\":{\"type\":\"array\"},\"way\":{\"enum\":[\"up\",\"down\"]}}}},{\"name\":\"any\"}]"
#define ONE "[{\"name\":\"move\",\"inputSchema\":{\"properties\":{\"way\":{\"type\":\"string\"}}}}]"

static const struct {
	const char *tools, *text, *name, *arguments; /* arguments NULL: name is the message */
} rows[] = {
	{TOOLS, "add", "add", "{}"},
	{TOOLS, "  add\titem=milk n=2 ", "add", "{\"item\":\"milk\",\"n\":2}"},
	{TOOLS, "add item=2 n=2", "add", "{\"item\":\"2\",\"n\":2}"},
	{TOOLS, "add item=", "add", "{\"item\":\"\"}"},
	{TOOLS, "add item=a=b", "add", "{\"item\":\"a=b\"}"},
	{TOOLS, "add item='two words'", "add", "{\"item\":\"two words\"}"},
	{TOOLS, "add 'item=two words'", "add", "{\"item\":\"two words\"}"},
	{TOOLS, "add item=\"a \\\"b\\\" \\\\\"", "add", "{\"item\":\"a \\\"b\\\" \\\\\"}"},
	{TOOLS, "add item='a \\\" b'", "add", "{\"item\":\"a \\\\\\\" b\"}"},
	{TOOLS, "add item=a\\ b", "add", "{\"item\":\"a b\"}"},
	{TOOLS, "add item='a\nb'", "add", "{\"item\":\"a\\nb\"}"},
	{TOOLS, "add on=true way=up", "add", "{\"on\":true,\"way\":\"up\"}"},
	{TOOLS, "add tags:=[1, \"x\"] n:=3", "add", "{\"tags\":[1, \"x\"],\"n\":3}"},
	{TOOLS, "any a:=[{\"b\": \"]' c=\\\"}\"}] d=1", "any",
         "{\"a\":[{\"b\": \"]' c=\\\"}\"}],\"d\":\"1\"}"},
	{TOOLS, "any a:=[1, 2] d='x y'", "any", "{\"a\":[1, 2],\"d\":\"x y\"}"},
	{TOOLS, "any a:=[\\\"b\\\"]", "any", "{\"a\":[\"b\"]}"},
	{TOOLS, "add tags:='[1, \"x\"]' n:=3", "add", "{\"tags\":[1, \"x\"],\"n\":3}"},
	{TOOLS, "add 'tags=[1]'", "add", "{\"tags\":[1]}"},
	{TOOLS, "any a=1 b:=1", "any", "{\"a\":\"1\",\"b\":1}"},
	{ONE, "way=up", "move", "{\"way\":\"up\"}"},
	{ONE, "move way=up", "move", "{\"way\":\"up\"}"},
	{TOOLS, " {\"name\":\"add\",\"arguments\":{\"n\":1e0}}", "add", "{\"n\":1e0}"},
	{TOOLS, "{\"name\":\"add\"}", "add", "{}"},
	{TOOLS, "", "an empty call: write \1call\2 'TOOL key=value'", NULL},
	{TOOLS, "ad item=x", "call 'ad item=x': the server has no tool 'ad'; did you mean 'add'?",
         NULL},
	{TOOLS, "item=x",
         "call 'item=x': the server has several tools: choose one with \1tool\2 NAME; available: "
         "add, any",
         NULL},
	{ONE, "up", "call 'up': the server has no tool 'up'; available: move", NULL},
	{TOOLS, "add itm=x",
         "call 'add itm=x': the tool has no argument 'itm'; did you mean 'item'?", NULL},
	{TOOLS, "add n=two", "call 'add n=two': the argument 'n' must be of type \"integer\"",
         NULL},
	{TOOLS, "add n=", "call 'add n=': the argument 'n' must be of type \"integer\"", NULL},
	{TOOLS, "add way=upp",
         "call 'add way=upp': argument 'way' does not accept 'upp'; did you mean 'up'?", NULL},
	{TOOLS, "add tags=[\"a\"]",
         "call 'add tags=[\"a\"]': the argument 'tags' must be of type \"array\"; tags:=JSON keeps its quotes",
         NULL},
	{TOOLS, "add n=1 n=2", "call 'add n=1 n=2': the argument 'n' is given twice", NULL},
	{TOOLS, "add n",
         "call 'add n': 'n' is no key=value, key:=JSON or key=@FILE; a value with blanks is quoted: key=\"two words\"",
         NULL},
	{TOOLS, "add :=1",
         "call 'add :=1': ':=1' is no key=value, key:=JSON or key=@FILE; a value with blanks is quoted: key=\"two words\"",
         NULL},
	{TOOLS, "add n:=[\"a\" 1",
         "call 'add n:=[\"a\" 1': n:=[\"a\" 1 is not JSON: expected ',' or ']'", NULL},
	{TOOLS, "add n:=x", "call 'add n:=x': n:=x is not JSON: expected a value", NULL},
	{TOOLS, "add item='x", "call 'add item='x': ' is not closed", NULL},
	{TOOLS, "add item=@/nowhere/at-all",
         "call 'add item=@/nowhere/at-all': cannot read file /nowhere/at-all: No such file or directory",
         NULL},
	{TOOLS, "{\"name\":1}", "call '{\"name\":1}': write {\"name\":\"TOOL\",\"arguments\":{..}}",
         NULL},
	{TOOLS, "{\"name\":\"add\"", "call '{\"name\":\"add\"': unexpected end of input", NULL},
};

/* Arguments, as they are written in a call that gives the same ones. */
static const struct {
	const char *arguments, *text;
} spelled[] = {
	{"{}", "add"},
	{"{\"item\":\"milk\",\"n\":2,\"on\":true}", "add item=milk n=2 on=true"},
	{"{\"item\":\"two words\",\"tags\":[1,2]}", "add item=\"two words\" tags=[1,2]"},
	{"{\"item\":\"a\\\"b\"}", "{\"name\":\"add\",\"arguments\":{\"item\":\"a\\\"b\"}}"},
	{"{\"item\":\"@x\"}", "{\"name\":\"add\",\"arguments\":{\"item\":\"@x\"}}"},
	{"{\"item\":\"\"}", "{\"name\":\"add\",\"arguments\":{\"item\":\"\"}}"},
	{"{\"tags\":[\"x\"]}", "add tags:=[\"x\"]"},
	{"{\"tags\":[{\"a b\":\"c'\"}],\"n\":1}", "add tags:=[{\"a b\":\"c'\"}] n=1"},
};

static void test_spelled(void)
{
	struct policy_conf conf = {.tools = STR(TOOLS)};

	for (size_t i = 0; i < ARRAY_LEN(spelled); i++) {
		struct str arguments = str_from(spelled[i].arguments);
		struct buf text = BUF(BUF_MAX_MESSAGE);
		struct arena arena = {0};
		struct script_call call = {.name = STR_NONE};
		struct error err = {0};

		call_spell(tool_find(conf.tools, STR("add")), STR("add"), arguments, &text);
		is_str(buf_cstr(&text), spelled[i].text, "spelled");
		ok(!call_text_read(&conf, buf_cstr(&text), &arena, &call, &err) &&
		           str_eq(call.arguments, arguments),
		   "read again: %s", spelled[i].arguments);
		arena_release(&arena);
		buf_release(&text);
	}
}

/* Languages whose lists may be absent write null first. */
static void test_example(void)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	call_example(
		STR("{\"name\":\"put\",\"inputSchema\":{\"properties\":{\"of\":{\"type\":[\"null\","
	            "\"array\"],\"items\":{\"type\":\"string\"}},\"at\":{\"anyOf\":[{\"type\":\"null\"},"
	            "{\"type\":\"integer\"}]}},\"required\":[\"of\",\"at\"]}}"),
		&text);
	is_str(buf_cstr(&text), "put of:=[\"TEXT\"] at=1", "an example is not null");
	buf_release(&text);
}

int main(void)
{
	test_example();
	test_spelled();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy_conf conf = {.tools = str_from(rows[i].tools)};
		struct arena arena = {0};
		struct script_call call = {.name = STR_NONE};
		struct error err = {0};
		int failed = call_text_read(&conf, rows[i].text, &arena, &call, &err);

		ok(!failed == !!rows[i].arguments, "%s", rows[i].text);
		if (failed) {
			is_str(err.text, rows[i].name, "the message");
		} else {
			ok(str_is(call.name, rows[i].name), "the tool");
			ok(str_is(call.arguments, rows[i].arguments ? rows[i].arguments : ""),
			   "the arguments: %.*s", STR_ARG(call.arguments));
		}
		arena_release(&arena);
	}
	return done();
}
