/* Names that a prompt presents as tools: see prompt_tools.h. */
#include "check/prompt_tools.h"

#include "base/text.h"
#include "json/scan.h"

#include <stdio.h>
#include <strings.h>

#define NAME_MAX_BYTES 64
#define NAME_MIN_BYTES 3
#define HEADING_MAX    120
#define LOOKED_UP_MAX  256 /* names in backticks or in lists that are looked up */
#define READ_AGAIN     8   /* times that the text may be read in search of JSON in it */

struct prompt_search {
	const struct rollout_facts *r;
	struct str *names;
	size_t count, max;
	size_t looked_up;
	bool gave_up; /* the text has too many parts that look like JSON */
};

/* ---- names ---- */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct str name_at(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_name_byte(s.p[n]))
		n++;
	return (struct str){s.p, n};
}

/* snake_case, camelCase: not a word of prose. */
static bool is_compound(struct str name)
{
	for (size_t i = 1; i + 1 < name.n; i++) {
		bool camel = name.p[i - 1] >= 'a' && name.p[i - 1] <= 'z' && name.p[i] >= 'A' &&
		             name.p[i] <= 'Z';

		if (camel || (name.p[i] == '_' && is_name_byte(name.p[i - 1])))
			return true;
	}
	return false;
}

/* Prompts name arguments and their values the way they name tools. */
static bool is_in_schema(const struct rollout_facts *r, struct str name)
{
	char quoted[NAME_MAX_BYTES + 2];

	snprintf(quoted, sizeof(quoted), "\"%.*s\"", STR_ARG(name));
	for (size_t i = 0; i < r->tool_count; i++)
		if (r->tools[i].schema.p && strstr(r->tools[i].schema.p, quoted))
			return true;
	return false;
}

static bool is_foreign(const struct rollout_facts *r, struct str name)
{
	return name.n >= NAME_MIN_BYTES && name.n < NAME_MAX_BYTES && tool_at(r, name) < 0;
}

/* Could it be the name of a tool? Limited, because each candidate is compared with all tools. */
static bool is_candidate(struct prompt_search *p, struct str name)
{
	return is_foreign(p->r, name) && p->looked_up < LOOKED_UP_MAX && ++p->looked_up &&
	       !is_in_schema(p->r, name);
}

static void present(struct prompt_search *p, struct str name)
{
	for (size_t i = 0; i < p->count; i++)
		if (str_eq(p->names[i], name))
			return;
	if (p->count < p->max)
		p->names[p->count++] = name;
}

/* lakeMove, LAKE_MOVE: the letters of a tool that is offered. */
static bool is_other_spelling(struct str name, struct str tool)
{
	size_t i = 0, k = 0;

	while (i < name.n || k < tool.n) {
		if (i < name.n && name.p[i] == '_') {
			i++;
		} else if (k < tool.n && (tool.p[k] == '_' || tool.p[k] == '-')) {
			k++;
		} else if (i == name.n || k == tool.n ||
		           strncasecmp(name.p + i++, tool.p + k++, 1) != 0) {
			return false;
		}
	}
	return true;
}

static bool is_other_spelling_of_tool(const struct rollout_facts *r, struct str name)
{
	for (size_t i = 0; i < r->tool_count; i++)
		if (is_other_spelling(name, r->tools[i].name))
			return true;
	return false;
}

/* ---- between backticks ---- */

static bool ends_with_any(struct str s, const char *const *ends, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(ends[i]);

		if (s.n >= n && strncasecmp(s.p + s.n - n, ends[i], n) == 0 &&
		    (s.n == n || !is_name_byte(s.p[s.n - n - 1]))) {
			return true;
		}
	}
	return false;
}

/* Is it called a tool? before: the text up to the backtick; after: the text from the closing one. */
static bool is_called_tool(struct str before, struct str after)
{
	static const char *const nouns[] = {"tool ", "tools ", "tool: ", "tools: "};
	static const char *const others[] = {"command-line tool ", "command line tool ",
	                                     "CLI tool ", "shell tool "};

	return (ends_with_any(before, nouns, ARRAY_LEN(nouns)) &&
	        !ends_with_any(before, others, ARRAY_LEN(others))) ||
	       (str_starts(after, STR(" tool")) &&
	        !is_name_byte(str_skip(after, 5).n ? after.p[5] : ' '));
}

/* NAME(action): the first argument is one of a tool of the server. */
static bool takes_our_argument(const struct rollout_facts *r, struct str inside)
{
	struct str argument = name_at(inside);

	return argument.n >= NAME_MIN_BYTES && argument.n < NAME_MAX_BYTES &&
	       is_in_schema(r, argument);
}

static void look_at_quoted(struct prompt_search *p, struct str before, struct str name,
                           struct str rest)
{
	const char *tick = rest.n ? memchr(rest.p, '`', rest.n) : NULL;
	bool call = rest.n && rest.p[0] == '(';

	if (!tick || (!call && tick != rest.p) || !is_compound(name) || !is_candidate(p, name))
		return;
	struct str after = str_skip(rest, (size_t)(tick - rest.p) + 1);
	if (is_called_tool(before, after) || is_other_spelling_of_tool(p->r, name) ||
	    (call && takes_our_argument(p->r, str_skip(rest, 1)))) {
		present(p, name);
	}
}

static void look_at_backticks(struct prompt_search *p, struct str text)
{
	struct str rest = text;

	str_cut(&rest, '`');
	while (rest.n) {
		struct str before = {text.p, (size_t)(rest.p - text.p) - 1}, name = name_at(rest);

		rest = str_skip(rest, name.n);
		if (name.n) {
			look_at_quoted(p, before, name, rest);
			str_cut(&rest, '`');
		}
		str_cut(&rest, '`');
	}
}

/* ---- definitions ---- */

/* The schema of parameters, not the arguments of an example. */
static bool is_schema(struct str value)
{
	return json_type(value) == JSON_OBJECT &&
	       (json_type(JSON_GET(value, "properties")) == JSON_OBJECT ||
	        json_is(JSON_GET(value, "type"), STR("object")));
}

/* The name of the tool that an object defines; absent: it defines none. */
static struct str defined_name(struct str object)
{
	static const char *const keys[] = {"parameters", "inputSchema", "input_schema"};
	struct str inner = JSON_GET(object, "function");

	object = json_type(inner) == JSON_OBJECT ? inner : object;
	struct str name = JSON_GET(object, "name");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (json_type(name) == JSON_STRING &&
		    is_schema(json_get(object, str_from(keys[i])))) {
			return json_inner(name);
		}
	}
	return STR_NONE;
}

static void look_at_definitions(struct prompt_search *p, struct str text)
{
	struct json_fault fault;
	size_t budget = READ_AGAIN * text.n, read = 0, used;

	while (text.n) {
		const char *brace = memchr(text.p, '{', text.n);

		p->gave_up = brace && read > budget;
		if (!brace || p->gave_up)
			return;
		text = str_skip(text, (size_t)(brace - text.p));
		bool good = json_validate_first(text, &used, &fault) == 0;
		struct str name = good ? defined_name((struct str){text.p, used}) : STR_NONE;

		read += good ? used : fault.at + 1;
		if (is_foreign(p->r, name))
			present(p, name);
		text = str_skip(text, name.p ? used : 1);
	}
}

static void look_at_elements(struct prompt_search *p, struct str text)
{
	const struct str open = STR("<tool_name>");

	for (size_t at; (at = find_at(text, open)) < text.n;) {
		text = str_skip(text, at + open.n);
		struct str name = name_at(text);

		if (is_foreign(p->r, name) && str_starts(str_skip(text, name.n), STR("</")))
			present(p, name);
	}
}

/* ---- sections ---- */

static bool contains(struct str s, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= s.n; i++) {
		if (strncasecmp(s.p + i, word, n) == 0 && (i == 0 || !is_name_byte(s.p[i - 1])) &&
		    (i + n == s.n || !is_name_byte(s.p[i + n]))) {
			return true;
		}
	}
	return false;
}

/* "## Tools", "You have access to the following tools:"; *list: the text after the colon. */
static bool is_tools_heading(struct str line, struct str *list)
{
	static const char *const others[] = {"command",   "commands", "cli",       "shell",
	                                     "installed", "argument", "arguments", "no"};
	const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
	bool marked = str_starts(line, STR("#")) || str_starts(line, STR("**"));

	*list = STR("");
	if (colon) {
		*list = text_trim(str_skip(line, (size_t)(colon - line.p) + 1));
		line.n = (size_t)(colon - line.p);
		while (str_starts(*list, STR("*")))
			*list = str_skip(*list, 1);
	}
	if ((!colon && !marked) || line.n > HEADING_MAX ||
	    !(contains(line, "tools") || contains(line, "functions"))) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (contains(line, others[i]))
			return false;
	return true;
}

/* The text of a list item, without its bullet or number; absent: not a list item. */
static struct str item_of(struct str line)
{
	size_t n = 0;

	if (line.n > 1 && strchr("-*+", line.p[0]) && line.p[1] == ' ')
		return text_trim(str_skip(line, 1));
	while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9')
		n++;
	return n && n < line.n && strchr(".)", line.p[n]) ? text_trim(str_skip(line, n + 1))
	                                                  : STR_NONE;
}

/* The name that an item begins with; absent: it begins with a sentence, or with a word that need not
   be a name. */
static struct str listed_name(struct str item)
{
	bool quoted = false;

	while (item.n && strchr("*`", item.p[0])) {
		quoted |= item.p[0] == '`';
		item = str_skip(item, 1);
	}
	struct str name = name_at(item), after = str_skip(item, name.n);
	bool call = str_starts(after, STR("("));
	while (after.n && strchr("*`", after.p[0]))
		after = str_skip(after, 1);
	bool ends = call || !after.n || strchr(":,-", after.p[0]) || str_starts(after, STR(" -")) ||
	            str_starts(after, STR(" (")) || str_starts(after, STR(" \xe2\x80\x93")) ||
	            str_starts(after, STR(" \xe2\x80\x94")) || str_starts(after, STR(" :"));
	return ends && (quoted || call || is_compound(name)) ? name : STR_NONE;
}

static void look_at_item(struct prompt_search *p, struct str item)
{
	struct str name = listed_name(item);

	if (is_candidate(p, name))
		present(p, name);
}

/* "a_b, c_d and e_f" */
static void look_at_row(struct prompt_search *p, struct str list)
{
	while (list.n) {
		struct str item = text_trim(str_cut(&list, ','));

		while (item.n && strchr(".`", item.p[item.n - 1]))
			item.n--;
		while (item.n && item.p[0] == '`')
			item = str_skip(item, 1);
		if (name_at(item).n == item.n && is_compound(item))
			look_at_item(p, item);
	}
}

static void look_at_sections(struct prompt_search *p, struct str text)
{
	bool inside = false;
	size_t indent = SIZE_MAX;

	while (text.n) {
		const char *start = text.p;
		struct str line = text_trim(str_cut(&text, '\n')), list;
		size_t at = line.n ? (size_t)(line.p - start) : 0;
		struct str item = item_of(line);

		if (!item.p && is_tools_heading(line, &list)) {
			inside = !list.n;
			indent = SIZE_MAX;
			look_at_row(p, list);
		} else if (inside && item.p) {
			indent = indent == SIZE_MAX ? at : indent;
			if (at <= indent) /* deeper ones are its arguments */
				look_at_item(p, item);
		} else if (line.n && (str_ends(line, STR(":")) || str_starts(line, STR("#")) ||
		                      (indent != SIZE_MAX && at <= indent))) {
			inside = false;
		}
	}
}

size_t prompt_tools(const struct rollout_facts *r, struct str text, struct str *names, size_t max,
                    bool *all)
{
	struct prompt_search p = {.r = r, .names = names, .max = max};

	look_at_definitions(&p, text);
	look_at_elements(&p, text);
	look_at_sections(&p, text);
	look_at_backticks(&p, text);
	*all = p.count < max && p.looked_up < LOOKED_UP_MAX && !p.gave_up;
	return p.count;
}
