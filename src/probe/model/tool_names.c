/* The tools named by prompts and tasks exist: names in lists, and in prose only names between
   backticks. */
#include "json/scan.h"
#include "policy/tools.h"
#include "probe/model/preflight.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES    64
#define UNKNOWN_SHOWN 5

struct name_check {
	const struct preflight *p;
	const char **names; /* of the server's tools */
	size_t count;
	struct arena arena;
	char where[32];
	struct str seen[UNKNOWN_SHOWN];
	size_t unknown, named; /* named: number of names checked */
	struct property *out;
};

static void note(struct name_check *l, struct str name)
{
	struct str near = preflight_nearest(name, l->names, l->count);

	for (size_t i = 0; i < l->unknown && i < UNKNOWN_SHOWN; i++)
		if (str_eq(l->seen[i], name))
			return;
	if (l->unknown < UNKNOWN_SHOWN) {
		l->seen[l->unknown] = arena_str(&l->arena, name);
		property_evidence(l->out, "%s: %.*s", l->where, STR_ARG(name));
		if (near.p) {
			property_fix(l->out, "use %.*s instead of %.*s", STR_ARG(near),
			             STR_ARG(name));
		}
	}
	l->unknown++;
}

static bool is_tool(const struct name_check *l, struct str name)
{
	return tool_find(l->p->tools, name).p != NULL;
}

static void check_name(struct name_check *l, struct str name)
{
	l->named++;
	if (!is_tool(l, name))
		note(l, name);
}

static void check_string(struct name_check *l, struct str string)
{
	struct buf name = BUF(BUF_MAX_SMALL);

	if (json_type(string) == JSON_STRING && json_decode(string, &name))
		check_name(l, buf_view(&name));
	buf_release(&name);
}

/* Each item is a name, an object with a name, or a tool in OpenAI's format. */
static void check_list(struct name_check *l, struct str list)
{
	struct str each, name;

	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		name = JSON_GET(each, "name");
		name = name.p ? name : JSON_GET(JSON_GET(each, "function"), "name");
		check_string(l, name.p ? name : each);
	}
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

/* Prompts also quote arguments and their values. */
static bool is_in_tools(const struct name_check *l, struct str name)
{
	struct buf pattern = BUF(BUF_MAX_SMALL);

	buf_printf(&pattern, "\"%.*s\"", STR_ARG(name));
	char *tools = mem_text(l->p->tools);
	bool found = strstr(tools, buf_cstr(&pattern)) != NULL;
	free(tools);
	buf_release(&pattern);
	return found;
}

/* Only words that look like a tool's name: with an underscore, followed by "(" or "tool", or
   similar to a tool's name. */
static void check_quoted(struct name_check *l, struct str name, struct str rest)
{
	bool called = rest.n && (rest.p[0] == '(' || str_starts(rest, STR("` tool")));

	if (name.n < 3 || name.n > NAME_BYTES)
		return;
	if (is_tool(l, name)) {
		l->named++;
	} else if (!is_in_tools(l, name) && (called || memchr(name.p, '_', name.n) ||
	                                     preflight_nearest(name, l->names, l->count).p)) {
		l->named++;
		note(l, name);
	}
}

static void check_text(struct name_check *l, struct str text)
{
	const char *tick;

	while (text.n && (tick = memchr(text.p, '`', text.n))) {
		struct str rest = str_skip(text, (size_t)(tick - text.p) + 1);
		size_t n = 0;

		while (n < rest.n && is_name_byte(rest.p[n]))
			n++;
		if (n && n < rest.n && (rest.p[n] == '`' || rest.p[n] == '('))
			check_quoted(l, (struct str){rest.p, n}, str_skip(rest, n));
		text = str_skip(rest, n + (n < rest.n && rest.p[n] == '`'));
	}
}

static void check_vars(struct name_check *l, struct str vars)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct json_member m;

	for (size_t cursor = 0; json_next_member(vars, &cursor, &m);) {
		buf_clear(&text);
		if (m.type == JSON_ARRAY && str_is(m.key, "tools"))
			check_list(l, m.value);
		else if (m.type == JSON_STRING && json_decode(m.value, &text))
			check_text(l, buf_view(&text));
	}
	buf_release(&text);
}

static void check_tasks(struct name_check *l, const struct tasks *tasks)
{
	for (size_t i = 0; tasks && i < tasks->count; i++) {
		const struct task *t = &tasks->items[i];

		snprintf(l->where, sizeof(l->where), "task line %zu", t->line);
		if (t->tool)
			check_name(l, str_from(t->tool));
		check_vars(l, t->vars);
	}
}

static void check_prompts(struct name_check *l)
{
	const struct llm_conf *c = l->p->conf;

	snprintf(l->where, sizeof(l->where), "system prompt");
	check_text(l, str_from(c->system));
	snprintf(l->where, sizeof(l->where), "user prompt");
	check_text(l, str_from(c->user));
}

static void list_names(struct name_check *l)
{
	struct str tool;

	l->names = arena_new(&l->arena, (json_count(l->p->tools) + 1) * sizeof(*l->names));
	for (size_t cursor = 0; json_next(l->p->tools, &cursor, &tool);)
		l->names[l->count++] = json_text(&l->arena, JSON_GET(tool, "name")).p;
}

static void judge(struct name_check *l)
{
	struct property *out = l->out;

	if (!l->named) {
		property_judge(out, PROPERTY_SKIPPED, "none named");
	} else if (!l->unknown) {
		property_judge(out, PROPERTY_OK, "%zu named, all exist", l->named);
	} else {
		property_judge(out, PROPERTY_FAIL, "%zu named, %zu unknown", l->named, l->unknown);
		if (!out->fix.n) {
			struct buf names = BUF(BUF_MAX_SMALL);

			tool_names(l->p->tools, &names);
			property_fix(out, "available: %s", buf_cstr(&names));
			buf_release(&names);
		}
	}
}

void preflight_tool_names(const struct preflight *p, struct property *out)
{
	struct name_check l = {.p = p, .out = out};

	if (!json_count(p->tools)) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "the environment's tools are unknown");
		return;
	}
	list_names(&l);
	check_prompts(&l);
	check_tasks(&l, p->tasks);
	judge(&l);
	arena_release(&l.arena);
}
