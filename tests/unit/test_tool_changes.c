/* What a change of a tool means for calls that worked: a table. */
#include "base/buf.h"
#include "compare/tool_changes.h"
#include "tap.h"

#define T(schema) "[{\"name\":\"t\",\"description\":\"d\",\"inputSchema\":" schema "}]"
#define P(property)                                                                                \
	T("{\"type\":\"object\",\"properties\":{\"a\":" property "},\"required\":[\"a\"]}")
#define BASE         P("{\"type\":\"string\"}")
#define IN(name, by) "[{\"name\":\"" name "\",\"inputSchema\":{\"properties\":{\"" by "\":{}}}}]"

static const struct {
	const char *name, *before, *now, *want; /* want: "class pointer", each in brackets */
} rows[] = {
	{"equal", BASE, BASE, ""},
	{"removed", BASE, "[]", "[breaking /tools/t]"},
	{"added", "[]", BASE, "[compatible /tools/t]"},
	{"renamed", IN("x", "a"), IN("y", "a"), "[breaking /tools/x/name]"},
	{"another", IN("x", "a"), IN("y", "b"), "[breaking /tools/x][compatible /tools/y]"},
	{"description", BASE,
         "[{\"name\":\"t\",\"description\":\"e\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}}]",
         "[text /tools/t/description]"},
	{"a required argument more", BASE,
         T("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"required\":[\"b\",\"a\"]}"),
         "[compatible /tools/t/inputSchema/properties/b][breaking /tools/t/inputSchema/required/b]"},
	{"an optional argument more", BASE,
         T("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"required\":[\"a\"]}"),
         "[compatible /tools/t/inputSchema/properties/b]"},
	{"an argument less", BASE, T("{\"type\":\"object\",\"properties\":{},\"required\":[]}"),
         "[breaking /tools/t/inputSchema/properties/a][compatible /tools/t/inputSchema/required/a]"},
	{"no longer required", BASE,
         T("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}"),
         "[compatible /tools/t/inputSchema/required]"},
	{"the order of required ones", T("{\"required\":[\"a\",\"b\"]}"),
         T("{\"required\":[\"b\",\"a\"]}"), ""},
	{"another type", BASE, P("{\"type\":\"integer\"}"),
         "[breaking /tools/t/inputSchema/properties/a/type]"},
	{"a type more", BASE, P("{\"type\":[\"string\",\"null\"]}"),
         "[compatible /tools/t/inputSchema/properties/a/type]"},
	{"a type less", P("{\"type\":[\"string\",\"null\"]}"), BASE,
         "[breaking /tools/t/inputSchema/properties/a/type]"},
	{"integer to number", P("{\"type\":\"integer\"}"), P("{\"type\":\"number\"}"),
         "[compatible /tools/t/inputSchema/properties/a/type]"},
	{"number to integer", P("{\"type\":\"number\"}"), P("{\"type\":\"integer\"}"),
         "[breaking /tools/t/inputSchema/properties/a/type]"},
	{"no type any more", BASE, P("{}"), "[compatible /tools/t/inputSchema/properties/a/type]"},
	{"may be null now", BASE, P("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}"),
         "[compatible /tools/t/inputSchema/properties/a/anyOf][compatible /tools/t/inputSchema/properties/a/type]"},
	{"an allowed value less", P("{\"enum\":[\"x\",\"y\"]}"), P("{\"enum\":[\"y\"]}"),
         "[breaking /tools/t/inputSchema/properties/a/enum/x]"},
	{"an allowed value more", P("{\"enum\":[\"x\"]}"), P("{\"enum\":[\"y\",\"x\"]}"),
         "[compatible /tools/t/inputSchema/properties/a/enum/y]"},
	{"a list of values", P("{}"), P("{\"enum\":[\"x\"]}"),
         "[breaking /tools/t/inputSchema/properties/a/enum]"},
	{"a higher minimum", P("{\"minimum\":1}"), P("{\"minimum\":2}"),
         "[breaking /tools/t/inputSchema/properties/a/minimum]"},
	{"a higher maximum", P("{\"maximum\":1}"), P("{\"maximum\":2}"),
         "[compatible /tools/t/inputSchema/properties/a/maximum]"},
	{"a lower maximum", P("{\"maximum\":3}"), P("{\"maximum\":2}"),
         "[breaking /tools/t/inputSchema/properties/a/maximum]"},
	{"within elements", P("{\"items\":{\"type\":\"string\"}}"),
         P("{\"items\":{\"type\":\"number\"}}"),
         "[breaking /tools/t/inputSchema/properties/a/items/type]"},
	{"an argument's description", P("{\"type\":\"string\",\"description\":\"a\"}"), BASE,
         "[text /tools/t/inputSchema/properties/a/description]"},
	{"an argument named description", P("{}"),
         T("{\"type\":\"object\",\"properties\":{\"a\":{},\"description\":{}},\"required\":[\"a\"]}"),
         "[compatible /tools/t/inputSchema/properties/description]"},
	{"$schema and additionalProperties", BASE,
         T("{\"$schema\":\"x\",\"additionalProperties\":false,\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}"),
         "[text /tools/t/inputSchema/$schema][text /tools/t/inputSchema/additionalProperties]"},
	{"a default", BASE, P("{\"type\":\"string\",\"default\":\"x\"}"),
         "[compatible /tools/t/inputSchema/properties/a/default]"},
	{"the order of tools", "[{\"name\":\"x\"},{\"name\":\"y\"}]",
         "[{\"name\":\"y\"},{\"name\":\"x\"}]", ""},
	{"no list", "null", BASE, ""},
};

static void note(void *ctx, const struct tool_change *c)
{
	buf_printf(ctx, "[%s %.*s]", tool_change_class_name(c->class), STR_ARG(c->pointer));
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf got = BUF(BUF_MAX_MESSAGE);

		tool_changes(str_from(rows[i].before), str_from(rows[i].now), note, &got);
		is_str(buf_cstr(&got), rows[i].want, "%s", rows[i].name);
		buf_release(&got);
	}
	return done();
}
