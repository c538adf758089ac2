/* Tool and arguments of a call: see call.h. Runs for every step of every recording, so parsing
   never allocates. */
#include "evidence/call.h"

#include "base/fingerprint.h"
#include "json/canon.h"

#define NAME_SHORT 64 /* bytes */

/* A cheap hash: the tool names of a server usually differ in length, at the start or at the end. */
static size_t name_slot(struct str name)
{
	const unsigned char *p = (const unsigned char *)name.p;
	size_t n = name.n;

	return n ? (n + (size_t)3 * p[0] + (size_t)5 * p[n / 2] + (size_t)7 * p[n - 1]) % TOOL_CACHE
	         : 0;
}

static int find_tool(struct open_rollout *o, struct str name)
{
	int32_t *cached = &o->tool_cache[name_slot(name)];

	if (*cached && str_eq(o->facts.tools[*cached - 1].name, name)) {
		return *cached - 1;
	}
	int found = tool_at(&o->facts, name);
	if (found >= 0) {
		*cached = found + 1;
	}
	return found;
}

static int find_spelled_tool(struct open_rollout *o, struct str name)
{
	struct buf *text = &o->facts.work->text;
	int tool = find_tool(o, json_inner(name));

	if (tool >= 0 || !json_has_escape(name)) {
		return tool;
	}
	buf_clear(text);
	json_decode(name, text);
	return find_tool(o, buf_view(text));
}

/* A fast path: arguments that directly follow the name, as writers usually put them, and contain
   no braces end with the call and need not be scanned. `rest` is the call after its name. */
static bool read_plain_arguments(struct str rest, struct derived_line *m)
{
	const struct str key = STR(",\"arguments\":");
	struct str value = str_skip(rest, key.n);

	if (!str_starts(rest, key) || value.n < 3 || value.p[0] != '{' ||
	    memchr(value.p, '}', value.n) != value.p + value.n - 2) {
		return false;
	}
	m->arguments = (struct str){value.p, value.n - 1};
	return true;
}

/* If the text is a short string without escapes and then `end`, both are removed from it. */
static bool take_string(struct str *text, struct str end, struct str *string)
{
	size_t n = 1, most = text->n < NAME_SHORT ? text->n : NAME_SHORT;

	while (n < most && text->p[n] != '"' && text->p[n] != '\\') {
		n++;
	}
	if (n >= most || text->p[0] != '"' || text->p[n] != '"') {
		return false;
	}
	*string = (struct str){text->p, n + 1};
	*text = str_skip(*text, n + 1);
	return str_starts(*text, end);
}

/* A fast path: {"id":..,"name":..,"arguments":{..}}, as rolldbg writes calls. */
static bool read_as_written(struct str call, struct str *name, struct derived_line *m)
{
	const struct str begin = STR("{\"id\":"), second = STR(",\"name\":");
	struct str rest = str_skip(call, begin.n), id;

	if (!str_starts(call, begin) || !take_string(&rest, second, &id)) {
		return false;
	}
	rest = str_skip(rest, second.n);
	return take_string(&rest, STR(",\"arguments\":"), name) && read_plain_arguments(rest, m);
}

void call_parse(struct open_rollout *o, struct str call, struct derived_line *m)
{
	struct str name = STR_NONE;
	struct json_member member;
	size_t cursor = read_as_written(call, &name, m) ? call.n : 0;

	while (cursor < call.n && json_next_member(call, &cursor, &member)) {
		if (str_eq(member.key, STR("arguments"))) {
			m->arguments = member.value;
		}
		if (!str_eq(member.key, STR("name"))) {
			continue;
		}
		name = member.value;
		if (read_plain_arguments(str_skip(call, cursor), m)) {
			break;
		}
	}
	if (json_type(name) != JSON_STRING) {
		return;
	}
	m->tool_name = json_inner(name);
	m->tool = find_spelled_tool(o, name);
}

uint64_t call_hash(struct workspace *w, const struct derived_line *m)
{
	buf_set(&w->canon, m->tool_name);
	buf_char(&w->canon, '\0');
	json_canon(m->arguments, NULL, JSON_EDIT_DROP, &w->canon);
	return fingerprint(buf_view(&w->canon));
}
