/* env/mcp_headers: the encoding of header values, arguments sent as headers, tools with
   invalid annotations. */
#include "env/mcp/headers.h"
#include "tap.h"

static void lines_of(struct buf *lines, struct buf *shown)
{
	struct str rest = buf_view(lines);

	buf_clear(shown);
	while (rest.n) {
		size_t n = strlen(rest.p);

		buf_add(shown, rest.p, n);
		buf_char(shown, '\n');
		rest = str_skip(rest, n + 1);
	}
	buf_text(shown, "");
	buf_release(lines);
}

static void test_values(void)
{
	static const struct {
		struct str value;
		const char *line;
	} rows[] = {
		{STR_INIT("us-west1"), "N: us-west1\n"},
		{STR_INIT("us west 1"), "N: us west 1\n"},
		{STR_INIT("file:///a%20b?c=d"), "N: file:///a%20b?c=d\n"},
		{STR_INIT(""), "N;\n"},
		{STR_INIT("Hello, \xe4\xb8\x96\xe7\x95\x8c"),
	         "N: =?base64?SGVsbG8sIOS4lueVjA==?=\n"},
		{STR_INIT(" padded "), "N: =?base64?IHBhZGRlZCA=?=\n"},
		{STR_INIT(" a"), "N: =?base64?IGE=?=\n"},
		{STR_INIT("a "), "N: =?base64?YSA=?=\n"},
		{STR_INIT(" "), "N: =?base64?IA==?=\n"},
		{STR_INIT("line1\nline2"), "N: =?base64?bGluZTEKbGluZTI=?=\n"},
		{STR_INIT("a\r\nEvil: 1"), "N: =?base64?YQ0KRXZpbDogMQ==?=\n"},
		{STR_INIT("\tindented"), "N: =?base64?CWluZGVudGVk?=\n"},
		{STR_INIT("a\0b"), "N: =?base64?YQBi?=\n"},
		{STR_INIT("\x7f"), "N: =?base64?fw==?=\n"},
		{STR_INIT("~!"), "N: ~!\n"},
		/* values that look encoded */
		{STR_INIT("=?base64?literal?="), "N: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=\n"},
		{STR_INIT("=?base64?="), "N: =?base64?PT9iYXNlNjQ/PQ==?=\n"},
		{STR_INIT("=?base64?open"), "N: =?base64?open\n"},
		{STR_INIT("=?BASE64?x?="), "N: =?BASE64?x?=\n"},
	};
	struct buf shown = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf lines = BUF(BUF_MAX_SMALL);

		mcp_header_add(&lines, "N", rows[i].value);
		lines_of(&lines, &shown);
		is_str(buf_cstr(&shown), rows[i].line, "value %zu", i);
	}
	buf_release(&shown);
}

#define TOOL(properties)                                                                           \
	"{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":"                     \
	"{" properties "}}}"

static void test_params(void)
{
	static const char tool[] =
		TOOL("\"r\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
	             "\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"},"
	             "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"Method\"},"
	             "\"q\":{\"type\":\"string\"},"
	             "\"in\":{\"type\":\"object\",\"properties\":{\"d\\u0065ep\":{\"type\":"
	             "[\"string\",\"null\"],\"\\u0078-mcp-header\":\"Deep\"}}}");
	static const struct {
		const char *arguments, *lines, *name;
	} rows[] = {
		{"{\"r\":\"us\",\"n\":42,\"b\":false,\"q\":\"secret\"}",
	         "Mcp-Param-Region: us\nMcp-Param-Count: 42\nMcp-Param-Method: false\n",
	         "three types"},
		{"{\"in\":{\"deep\":\"x\"},\"deep\":\"y\"}", "Mcp-Param-Deep: x\n",
	         "a property of a property, whatever the escapes"},
		{"{\"in\":[{\"deep\":\"x\"}]}", "", "an array on the way"},
		{"{\"in\":null}", "", "nothing on the way"},
		{"{\"r\":null,\"n\":{},\"b\":[1]}", "", "null, and what has no spelling"},
		{"{}", "", "no arguments"},
		{"{\"r\":\"\"}", "Mcp-Param-Region;\n", "an empty value"},
		{"{\"n\":-7.0e1}", "Mcp-Param-Count: -70\n", "a whole number in disguise"},
		{"{\"n\":9223372036854775808}", "Mcp-Param-Count: 9223372036854775808\n",
	         "a number beyond ours, as spelled"},
		{"{\"n\":1.5}", "Mcp-Param-Count: 1.5\n",
	         "no whole number, for the server to refuse"},
		{"{\"r\":7}", "Mcp-Param-Region: 7\n", "not the type of the schema"},
		{"{\"r\":\"a\",\"r\":\"b\"}", "Mcp-Param-Region: b\n", "the last counts"},
		{"{\"r\":\"\\u4e16\"}", "Mcp-Param-Region: =?base64?5LiW?=\n", "escapes"},
	};
	struct buf shown = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf lines = BUF(BUF_MAX_SMALL);

		mcp_header_add_params(&lines, str_from(tool), str_from(rows[i].arguments));
		lines_of(&lines, &shown);
		is_str(buf_cstr(&shown), rows[i].lines, "%s", rows[i].name);
	}
	struct buf lines = BUF(BUF_MAX_SMALL);
	mcp_header_add_params(&lines, STR_NONE, STR("{\"r\":1}"));
	lines_of(&lines, &shown);
	is_str(buf_cstr(&shown), "", "the tool is not advertised");
	buf_release(&shown);
}

static void test_long_value(void)
{
	static const char tool[] = TOOL("\"r\":{\"type\":\"string\",\"x-mcp-header\":\"Long\"},"
	                                "\"s\":{\"type\":\"string\",\"x-mcp-header\":\"Short\"}");
	struct buf lines = BUF(BUF_MAX_MESSAGE);
	struct buf arguments = BUF(BUF_MAX_MESSAGE), shown = BUF(BUF_MAX_SMALL);

	buf_text(&arguments, "{\"r\":\"");
	for (size_t i = 0; i <= MCP_HEADER_VALUE_MAX; i++)
		buf_char(&arguments, 'x');
	buf_text(&arguments, "\",\"s\":\"y\"}");
	mcp_header_add_params(&lines, str_from(tool), buf_view(&arguments));
	lines_of(&lines, &shown);
	is_str(buf_cstr(&shown), "Mcp-Param-Short: y\n", "too long for a header");
	buf_release(&arguments);
	buf_release(&shown);
}

#define MARKED(type, mark) "{\"type\":" type ",\"x-mcp-header\":" mark "}"
#define NAME_ONLY          " is not a valid HTTP field name"
#define NOT_SCALAR         " is on a property that is not a string, integer or boolean"

static const struct rule {
	const char *tool, *why;
} rules[] = {
	{TOOL("\"a\":" MARKED("\"string\"", "\"Region\"")), ""},
	{TOOL("\"a\":" MARKED("\"integer\"", "\"!#$%&'*+-.^_`|~09azAZ\"")), ""},
	{TOOL("\"a\":" MARKED("\"boolean\"", "\"A\"") ",\"b\":" MARKED("[\"string\",\"null\"]",
                                                                       "\"AA\"")),
         ""},
	{"{\"name\":\"t\"}", ""},
	{"{\"name\":\"t\",\"inputSchema\":true}", ""},
	{TOOL("\"x-mcp-header\":{\"type\":\"object\"}"), ""}, /* a property's name */
	{TOOL("\"a\":{\"default\":{\"x-mcp-header\":1},\"enum\":[{\"x-mcp-"
              "header\":1}]}"),
         ""}, /* data */
	{TOOL("\"a\":" MARKED("\"string\"", "\"\"")), "x-mcp-header \"\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "\"My Region\"")),
         "x-mcp-header \"My Region\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "\"A:B\"")), "x-mcp-header \"A:B\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "\"R\xc3\xa9gion\"")),
         "x-mcp-header \"R\xc3\xa9gion\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "\"A\\t1\"")), "x-mcp-header \"A\\t1\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "\"A\\u0000\"")),
         "x-mcp-header \"A\\u0000\"" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"string\"", "7")), "x-mcp-header 7" NAME_ONLY},
	{TOOL("\"a\":" MARKED("\"object\"", "\"A\"")), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("\"array\"", "\"A\"")), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("\"null\"", "\"A\"")), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("\"number\"", "\"A\"")), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("[\"string\",\"number\"]", "\"A\"")),
         "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("[\"null\"]", "\"A\"")), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":{\"x-mcp-header\":\"A\"}"), "x-mcp-header \"A\"" NOT_SCALAR},
	{TOOL("\"a\":" MARKED("\"string\"", "\"F\"") ",\"b\":" MARKED("\"string\"", "\"F\"")),
         "x-mcp-header \"F\" is used twice"},
	{TOOL("\"a\":" MARKED("\"string\"", "\"MyField\"") ",\"b\":{\"properties\":"
                                                           "{\"c\":" MARKED("\"string\"",
                                                                            "\"myfield\"") "}}"),
         "x-mcp-header \"myfield\" is used twice"},
	/* a mark that is not on a property of the arguments marks nothing */
	{TOOL("\"a\":{\"items\":" MARKED("\"string\"", "\"A\"") "}"), ""},
	{TOOL("\"a\":{\"items\":[" MARKED("\"string\"", "\"A\"") "]}"), ""},
	{TOOL("\"a\":{\"anyOf\":[{}," MARKED("\"string\"", "\"A\"") "]}"), ""},
	{TOOL("\"a\":{\"if\":{\"properties\":{\"b\":" MARKED("\"string\"", "\"A\"") "}}}"), ""},
	{"{\"inputSchema\":{\"$defs\":{\"d\":" MARKED("\"string\"", "\"A\"") "}}}", ""},
	{"{\"inputSchema\":" MARKED("\"string\"", "\"A\"") "}", ""},
};

static void test_rules(void)
{

	struct buf why = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		buf_clear(&why);
		int marks = mcp_header_marks(str_from(rules[i].tool), &why);
		is_str(buf_cstr(&why), rules[i].why, "marks %zu", i);
		ok(rules[i].why[0] ? marks == -1 : marks >= 0, "marks %zu, in one word", i);
	}
	buf_release(&why);
}

/* Deep and wide, to check that nothing recurses and nothing is counted twice. */
static void test_size(void)
{
	struct buf tool = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_SMALL);

	buf_text(&tool, "{\"inputSchema\":");
	for (int i = 0; i < 250; i++)
		buf_text(&tool, "{\"properties\":{\"a\":");
	buf_text(&tool, MARKED("\"string\"", "\"Deep\""));
	for (int i = 0; i < 250; i++)
		buf_text(&tool, "}}");
	buf_char(&tool, '}');
	is_int(mcp_header_marks(buf_view(&tool), &why), 1, "500 levels");

	buf_clear(&tool);
	buf_text(&tool, "{\"inputSchema\":{\"properties\":{");
	for (int i = 0; i < 65; i++) {
		buf_printf(&tool, "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
		           i ? "," : "", i, i);
	}
	buf_text(&tool, "}}}");
	is_int(mcp_header_marks(buf_view(&tool), &why), -1, "65 marks");
	is_str(buf_cstr(&why), "x-mcp-header \"H64\" exceeds the limit of 64 headers", "and why");
	buf_release(&tool);
	buf_release(&why);
}

int main(void)
{
	test_values();
	test_params();
	test_long_value();
	test_rules();
	test_size();
	return done();
}
