/* Replies to elicitations: the defaults of a form, or a refusal. */
#include "env/mcp/input.h"
#include "tap.h"

#define SCHEMA(properties, required)                                                               \
	"{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"              \
	"{" properties "},\"required\":[" required "]}}"
#define ACCEPT(content) "{\"action\":\"accept\",\"content\":{" content "}}"
#define DECLINE         "{\"action\":\"decline\"}"

static const struct {
	const char *name, *params, *result, *why;
} cases[] = {
	{"each type's default is taken as spelled",
         SCHEMA("\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
                "\"age\":{\"type\":\"integer\",\"default\":30},"
                "\"score\":{\"type\":\"number\",\"default\":95.50},"
                "\"big\":{\"type\":\"integer\",\"default\":9007199254740993},"
                "\"yes\":{\"type\":\"boolean\",\"default\":true}",
                "\"name\",\"yes\""),
         ACCEPT("\"name\":\"John Doe\",\"age\":30,\"score\":95.50,"
                "\"big\":9007199254740993,\"yes\":true"),
         ""},
	{"enum, titled and not",
         SCHEMA("\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"],\"default\":\"y\"},"
                "\"b\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"p\",\"title\":\"P\"},"
                "{\"const\":\"q\",\"title\":\"Q\"}],\"default\":\"q\"}",
                "\"a\",\"b\""),
         ACCEPT("\"a\":\"y\",\"b\":\"q\""), ""},
	{"several of an enum",
         SCHEMA("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":"
                "[\"x\",\"y\"]},\"default\":[\"x\",\"y\"]},"
                "\"b\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"p\"}]},"
                "\"default\":[]}",
                "\"a\""),
         ACCEPT("\"a\":[\"x\",\"y\"],\"b\":[]"), ""},
	{"a field without default that need not be there",
         SCHEMA("\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\",\"default\":"
                "\"\"}",
                ""),
         ACCEPT("\"b\":\"\""), ""},
	{"no fields at all", SCHEMA("", ""), ACCEPT(""), ""},
	{"a form by name",
         "{\"mode\":\"form\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}"
         "}",
         ACCEPT(""), ""},
	{"a required field without default", SCHEMA("\"a\":{\"type\":\"string\"}", "\"a\""),
         DECLINE, "no default for the required field \"a\""},
	{"a required field that is not there", SCHEMA("", "\"a\""), DECLINE,
         "no default for the required field \"a\""},
	{"names with escapes, and twice",
         SCHEMA("\"\\u0061\":{\"type\":\"string\",\"default\":\"1\"},"
                "\"a\":{\"type\":\"string\",\"default\":\"2\"},"
                "\"q\\\"\":{\"type\":\"string\",\"default\":\"3\"}",
                "\"a\""),
         ACCEPT("\"a\":\"2\",\"q\\\"\":\"3\""), ""},
	{"a URL to open", "{\"mode\":\"url\",\"url\":\"http://a\",\"elicitationId\":\"1\"}",
         DECLINE, "not a form: mode \"url\""},
	{"nothing asked", "{\"message\":\"?\"}", DECLINE, "the request has no requestedSchema"},
	{"required is not a list of names",
         "{\"requestedSchema\":{\"properties\":{},\"required\":[1]}}", DECLINE,
         "no default for the required field 1"},
	{"no parameters", "null", DECLINE, "the request has no requestedSchema"},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf result = BUF(BUF_MAX_SMALL), why = BUF(BUF_MAX_SMALL);
		bool accepted = elicit_answer(str_from(cases[i].params), &result, &why);

		is_str(buf_cstr(&result), cases[i].result, "%s", cases[i].name);
		is_str(buf_cstr(&why), cases[i].why, "%s: why", cases[i].name);
		ok(accepted == !*cases[i].why, "%s: with or without a reason", cases[i].name);
		buf_release(&result);
		buf_release(&why);
	}
	return done();
}
