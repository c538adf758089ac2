/* Arguments against schemas. */
#include "json/arguments.h"
#include "tap.h"

#define SCHEMA                                                                                     \
	"{\"type\":\"object\",\"properties\":{"                                                    \
	"\"way\":{\"type\":\"string\",\"enum\":[\"LEFT\",\"DOWN\"],\"description\":"               \
	"\"d\"},"                                                                                  \
	"\"n\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3},"                                \
	"\"x\":{\"type\":\"number\"},\"on\":{\"type\":\"boolean\"},"                               \
	"\"list\":{\"type\":\"array\",\"items\":{}},\"any\":{},"                                   \
	"\"maybe\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]},"                       \
	"\"\\u00e9\":{\"type\":\"string\"}},\"required\":[\"way\"]}"

struct row {
	const char *arguments, *why; /* NULL: valid */
};

static const struct row rows[] = {
	{"{\"way\":\"LEFT\"}", NULL},
	{"{\"n\":2,\"way\":\"DOWN\",\"x\":1,\"on\":false,\"list\":[1],\"any\":{}}", NULL},
	{"{\"way\":\"\\u004cEFT\",\"n\":3.0,\"x\":1.5,\"maybe\":null}", NULL},
	{"{\"w\\u0061y\":\"LEFT\",\"\xc3\xa9\":\"a\"}", NULL},
	{"{\"n\":2}", "the required argument \"way\" is missing"},
	{"{\"way\":\"LEFTT\"}", "argument 'way' does not accept 'LEFTT'; did you mean 'LEFT'?"},
	{"{\"way\":\"LEFT\",\"n\":4}", "argument 'n' is 4, above the maximum 3"},
	{"{\"way\":\"LEFT\",\"n\":-1}", "argument 'n' is -1, below the minimum 1"},
	{"{\"way\":\"LEFT\",\"n\":1.5}", "argument 'n' is a number, but the schema requires "
                                         "\"integer\""},
	{"{\"way\":\"LEFT\",\"on\":null}", "argument 'on' is null, but the schema requires "
                                           "\"boolean\""},
	{"{\"way\":\"LEFT\",\"maybe\":7}",
         "argument 'maybe' is a number, but the schema requires \"string\""},
	{"{\"way\":\"LEFT\",\"onn\":true}", "the tool has no argument 'onn'; did you mean 'on'?"},
	{"[1]", "the arguments are an array, not an object"},
};

int main(void)
{
	struct arena arena = {0};
	const struct arguments_schema *s = arguments_read(&arena, STR(SCHEMA));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = {0};
		int got = arguments_check(s, str_from(rows[i].arguments), &err);

		is_int(got, rows[i].why ? -1 : 0, "%s", rows[i].arguments);
		if (rows[i].why)
			is_str(err.text, rows[i].why, "%s: why", rows[i].arguments);
	}
	struct error err = {0};
	s = arguments_read(&arena, STR_NONE);
	ok(arguments_check(s, STR("{\"a\":1}"), &err) == 0, "without a schema all fits");
	s = arguments_read(&arena, STR("{\"required\":[\"a\",3]}"));
	ok(arguments_check(s, STR("{\"a\":1}"), &err) == 0, "required, but not described");
	ok(arguments_check(s, STR("{}"), &err) == -1, "and missing");
	arena_release(&arena);
	return done();
}
