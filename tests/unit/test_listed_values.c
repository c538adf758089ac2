/* Values that descriptions and error texts list, as random calls use them. */
#include "policy/policy.h"
#include "policy/tool_set.h"
#include "tap.h"

#include <stdlib.h>

#define DRAWS   80
#define INTEGER "{\"type\":\"integer\"}"
#define STRING  "{\"type\":\"string\"}"

/* A tool `act` with the parameter `light` of that schema and, if given, another one. */
struct row {
	const char *schema;      /* with %s: the parameter's description */
	const char *other;       /* members after it in `properties`; NULL: none */
	const char *description; /* of the tool */
	const char *error;       /* answer to the first call, %s: the value sent; NULL: none */
	const char *listed;      /* the values drawn, in order; NULL: none is listed; after '!':
	                            none of these is drawn */
};

#define OWN(type, text, listed)                                                                    \
	{"{\"type\":\"" type "\",\"description\":\"" text "\"}", NULL, "Acts", NULL, listed}
#define TOOL(schema, text, listed)  {schema, NULL, text, NULL, listed}
#define ERROR(schema, text, listed) {schema, NULL, "Acts", text, listed}
#define MODE                        ",\"mode\":{\"type\":\"string\"}"

static const struct row rows[] = {
	/* the parameter's own description */
	OWN("integer", "One of 0, 1, 2 or 3", "0 1 2 3"),
	OWN("integer", "20, 30, or 40", "20 30 40"),
	OWN("integer", "20|30|40", "20 30 40"),
	OWN("string", "One of red, green or blue", "\"blue\" \"green\" \"red\""),
	OWN("string", "red|green|blue", "\"blue\" \"green\" \"red\""),
	OWN("string", "'red', 'green'", "\"green\" \"red\""),
	OWN("string", "Either \\\"red\\\" or \\\"green\\\"", "\"green\" \"red\""),
	OWN("string", "a digit: 20, 30 or 40", "\"20\" \"30\" \"40\""),
	{"{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0}],\"description\":\"20 or 30\"}", NULL,
         "Acts", NULL, "20 30"},
	{"{\"type\":\"array\",\"items\":" INTEGER
         ",\"maxItems\":1,\"description\":\"one of 20, 30 or 40\"}",
         NULL, "Acts", NULL, "[20] [30] [40]"},
	/* what lists nothing */
	OWN("integer", "0-3", NULL),
	OWN("integer", "10=left, 11=right", NULL),
	OWN("integer", "The number of days", NULL),
	OWN("integer", "0-based index of a 30x30 grid", NULL),
	OWN("integer", "since 2024-01-15", NULL),
	OWN("integer", "one of red, green or blue", NULL),
	OWN("string", "Name of the file, directory or link", NULL),
	OWN("string", "Text of 10-30 characters", NULL),
	OWN("string", "A short, clear title", NULL),
	/* the tool's description */
	TOOL(INTEGER, "Give green to one of the lights: 20, 21, 22 or 23", "20 21 22 23"),
	TOOL(STRING, "Acts.\\n\\nArgs:\\n    light: The light, one of red, green\\n",
             "\"green\" \"red\""),
	{INTEGER, MODE, "Acts.\\n\\nArgs:\\n    light: 20 or 30\\n    mode: fast or slow\\n", NULL,
         "20 30"},
	{STRING, MODE,
         "Acts.\\n\\nArgs:\\n    mode: 'fast' or 'slow'\\n    light: 'red' or 'green'\\n", NULL,
         "\"green\" \"red\""},
	{INTEGER, ",\"n\":" INTEGER, "Acts. Sets n to 20 or 30", NULL, "!20 30"},
	TOOL(STRING, "Registers a lamp as the light. Its path must be absolute and exist.", NULL),
	TOOL(STRING, "Closes the light after all steps are done and approved.", NULL),
	TOOL(STRING, "Gives the next light, or says that no more are left and waits.", NULL),
	TOOL(STRING, "The light may be red, green and blue.", "\"blue\" \"green\" \"red\""),
	/* errors */
	ERROR(INTEGER, "Invalid light %s. Must be one of [20, 21, 22]", "20 21 22"),
	ERROR(INTEGER, "light: expected 20, 21 or 22", "20 21 22"),
	ERROR(STRING, "unknown light %s; lights: red, green, blue", "\"blue\" \"green\" \"red\""),
	ERROR(STRING, "unknown thing %s; lamps: red, green", "\"green\" \"red\""),
	ERROR(STRING, "'%s' is not in list ['red', 'green']", "\"green\" \"red\""),
	ERROR(STRING, "'%s' is not one of ['red', 'green']", "\"green\" \"red\""),
	ERROR(STRING, "bad light '%s', expected red, green or blue", "\"blue\" \"green\" \"red\""),
	ERROR(STRING, "Light %s not found. Available: red, green", "\"green\" \"red\""),
	ERROR(STRING, "no light %s, valid values: red, green.", "\"green\" \"red\""),
	ERROR(STRING, "argument light: invalid choice: '%s' (choose from 'red', 'green')",
              "\"green\" \"red\""),
	ERROR(STRING, "argument light: invalid choice: %s (choose from red, green)",
              "\"green\" \"red\""),
	ERROR(STRING,
              "1 validation error for call[act]\nlight\n  Input should be 'red', 'green' or "
              "'blue' [type=literal_error, input_value='%s', input_type=str]\n"
              "    For further information visit https://errors.pydantic.dev/2.12/v/literal_error",
              "\"blue\" \"green\" \"red\""),
	ERROR(STRING,
              "MCP error -32602: Invalid arguments for tool act: [\n  {\n    \"received\": \"%s\",\n"
              "    \"code\": \"invalid_enum_value\",\n    \"options\": [\n      \"red\",\n"
              "      \"green\"\n    ],\n    \"path\": [\n      \"light\"\n    ],\n"
              "    \"message\": \"Invalid enum value. Expected 'red' | 'green', received '%s'\"\n"
              "  }\n]",
              "\"green\" \"red\""),
	{STRING, MODE, "Acts",
         "MCP error -32602: Input validation error: [{\"code\":\"invalid_value\",\"values\":"
         "[\"fast\",\"slow\"],\"path\":[\"mode\"],\"message\":\"Invalid option: expected one of "
         "\\\"fast\\\"|\\\"slow\\\"\"},{\"code\":\"invalid_value\",\"values\":[\"red\",\"green\"],"
         "\"path\":[\"light\"],\"message\":\"Invalid option: expected one of "
         "\\\"red\\\"|\\\"green\\\"\"}]",
         "\"green\" \"red\""},
	{STRING, MODE, "Acts",
         "2 validation errors for call[act]\nmode\n  Input should be 'fast' or 'slow' "
         "[type=literal_error, input_value='x', input_type=str]\nlight\n  Input should be 'red' "
         "or 'green' [type=literal_error, input_value='%s', input_type=str]",
         "\"green\" \"red\""},
	{"{\"type\":\"integer\",\"description\":\"5 or 6\",\"default\":5}", NULL, "Acts",
         "light %s is off; lights: 20, 30", "20 30"},
	{"{\"type\":\"array\",\"items\":" STRING ",\"maxItems\":1}", NULL, "Acts",
         "unknown light; lights: red, green", "[\"green\"] [\"red\"]"},
	/* errors that list nothing for this parameter */
	{STRING, MODE, "Acts", "unknown mode; modes: fast, slow", "!\"fast\" \"slow\""},
	ERROR(INTEGER, "Error executing tool act: board 3, 4 is full", NULL),
	ERROR(INTEGER, "light %s must not be 20 or 30", NULL),
	ERROR(STRING, "missing arguments: light, mode", NULL),
	ERROR(STRING, "Error: timed out, try again", NULL),
};

struct drawn {
	struct buf values; /* one per line */
	size_t count;
	struct buf distinct; /* sorted, separated by spaces */
};

static int order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The distinct values of the draws. */
static void sort_values(struct drawn *d)
{
	char *copy = mem_text(buf_view(&d->values)), *place = NULL, *line[DRAWS] = {NULL};
	size_t count = 0;

	for (char *p = strtok_r(copy, "\n", &place); p; p = strtok_r(NULL, "\n", &place))
		line[count++] = p;
	qsort(line, count, sizeof(*line), order);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(line[i - 1], line[i]) != 0)
			buf_printf(&d->distinct, "%s%s", d->distinct.n ? " " : "", line[i]);
	free(copy);
}

static void add_value(struct drawn *d, struct str value)
{
	buf_str(&d->values, value);
	buf_char(&d->values, '\n');
	d->count++;
}

/* The message with the value sent instead of each %s. */
static void answer(const char *error, struct str sent, struct buf *out)
{
	struct str inner = json_type(sent) == JSON_STRING ? json_inner(sent) : sent;

	buf_clear(out);
	for (const char *p = error; *p; p++) {
		if (p[0] == '%' && p[1] == 's') {
			buf_str(out, inner);
			p++;
		} else {
			buf_char(out, *p);
		}
	}
}

static void draw(const struct row *r, const char *error, struct drawn *out)
{
	struct buf tools = BUF(BUF_MAX_SMALL), text = BUF(BUF_MAX_SMALL);
	struct policy_conf conf = {.spec = "random:1"};
	struct policy_view view = {.last = OUTCOME_NONE};
	struct policy *p = NULL;
	struct decision d;
	struct error err = {0};

	*out = (struct drawn){.values = BUF(BUF_MAX_SMALL), .distinct = BUF(BUF_MAX_SMALL)};
	buf_printf(&tools,
	           "[{\"name\":\"act\",\"description\":\"%s\",\"inputSchema\":{\"type\":\"object\","
	           "\"properties\":{\"light\":%s%s},\"required\":[\"light\"]}}]",
	           r->description, r->schema, r->other ? r->other : "");
	conf.tools = buf_view(&tools);
	bool good = policy_open(&conf, &p, &err) == 0;
	for (int i = 0; good && i < DRAWS; i++) {
		good = p->ops->decide(p, &view, &d, &err) == 0;
		struct str value = JSON_GET(d.arguments, "light");

		if (i || !error)
			add_value(out, value);
		view.last = i || !error ? OUTCOME_OK : OUTCOME_TOOL_ERROR;
		if (error && !i) {
			answer(error, value, &text);
			view.last_error = buf_view(&text);
		}
	}
	if (p)
		p->ops->close(p);
	sort_values(out);
	buf_release(&tools);
	buf_release(&text);
}

/* Is the value in the list, between spaces or the list's ends? */
static bool is_listed(const char *listed, const char *value)
{
	for (const char *p = strstr(listed, value); p; p = strstr(p + 1, value)) {
		const char *end = p + strlen(value);

		if ((p == listed || p[-1] == ' ') && (!*end || *end == ' '))
			return true;
	}
	return false;
}

/* The number of draws that are one of the listed values. */
static size_t of_the_list(const struct drawn *d, const char *listed)
{
	size_t count = 0;
	char *copy = mem_text(buf_view(&d->values)), *place = NULL;

	for (char *p = strtok_r(copy, "\n", &place); p; p = strtok_r(NULL, "\n", &place))
		count += is_listed(listed, p);
	free(copy);
	return count;
}

/* Is each of the values drawn? They are separated by `" ` or by blanks between numbers. */
static bool all_drawn(const struct drawn *d, const char *listed)
{
	bool all = true;
	const char *end;

	for (const char *p = listed; *p && all; p = *end ? end + 1 : end) {
		end = p;
		for (bool inside = false; *end && (inside || *end != ' '); end++)
			inside ^= *end == '"';
		char *one = mem_text((struct str){p, (size_t)(end - p)});
		all = strstr(buf_cstr(&d->distinct), one) != NULL;
		free(one);
	}
	return all;
}

static void check_row(const struct row *r)
{
	struct row without = *r;
	const char *text = r->error                           ? r->error
	                   : strstr(r->schema, "description") ? r->schema
	                                                      : r->description;
	struct drawn d, plain, again;

	draw(r, r->error, &d);
	draw(r, r->error, &again);
	is_str(buf_cstr(&d.values), buf_cstr(&again.values), "the same seed draws the same");
	if (!r->listed) {
		without.description = "";
		without.schema = strstr(r->schema, "integer") ? INTEGER : STRING;
		draw(&without, r->error ? "failed" : NULL, &plain);
		is_str(buf_cstr(&d.distinct), buf_cstr(&plain.distinct), "lists nothing: %s", text);
		buf_release(&plain.values);
		buf_release(&plain.distinct);
	} else if (*r->listed == '!') {
		is_int(of_the_list(&d, r->listed + 1), 0, "values of another parameter: %s", text);
	} else if (r->error) {
		is_str(buf_cstr(&d.distinct), r->listed, "drawn: %s", text);
	} else {
		size_t n = of_the_list(&d, r->listed);

		ok(n >= d.count * 3 / 4 && all_drawn(&d, r->listed), "%zu of %zu drawn from %s: %s",
		   n, d.count, text, buf_cstr(&d.distinct));
	}
	buf_release(&d.values);
	buf_release(&d.distinct);
	buf_release(&again.values);
	buf_release(&again.distinct);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
	return done();
}
