/* JSON in the notation of Python's error messages. */
#include "serve/openenv/python.h"

#include "tap.h"

int main(void)
{
	static const struct {
		const char *json, *type, *repr;
	} rows[] = {
		{"null", "NoneType", "None"},
		{"true", "bool", "True"},
		{"false", "bool", "False"},
		{"5", "int", "5"},
		{"-1.5", "float", "-1.5"},
		{"1e3", "float", "1e3"},
		{"\"UP\"", "str", "'UP'"},
		{"\"it's\"", "str", "\"it's\""},
		{"\"it's \\\"so\\\"\"", "str", "'it\\'s \"so\"'"},
		{"\"a\\nb\\\\c\\u0001\\u007f\"", "str", "'a\\nb\\\\c\\x01\\x7f'"},
		{"[ \"DOWN\" ,\n[],{ } ]", "list", "['DOWN', [], {}]"},
		{"{\"a\":true,\"b\":null,\"c\":1.0}", "dict", "{'a': True, 'b': None, 'c': 1.0}"},
		{"{\"}\":\"]\"}", "dict", "{'}': ']'}"},
		{"\"123456789012345678901234567890123456789012345678\"", "str",
	         "'123456789012345678901234567890123456789012345678'"},
		{"\"1234567890123456789012345678901234567890123456789\"", "str",
	         "'123456789012345678901234...78901234567890123456789'"},
		{"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
	         "\xa9\xc3\xa9"
	         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
	         "\xa9\xc3\xa9"
	         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"",
	         "str",
	         "'\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
	         "\xa9\xc3\xa9"
	         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
	         "\xa9\xc3\xa9"
	         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(4096);

		python_repr_cut(str_from(rows[i].json), &out);
		is_str(buf_cstr(&out), rows[i].repr, "row %zu, printed", i);
		is_str(python_type(str_from(rows[i].json)), rows[i].type, "and its type");
		buf_release(&out);
	}
	return done();
}
