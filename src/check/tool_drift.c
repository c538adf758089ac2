/* Rule tool-drift: the task, the prompt or the list of before name tools that the server
   does not have, or not like that. */
#include "base/text.h"
#include "check/peer.h"

#include <inttypes.h>
#include <stdio.h>

#define PROMPT_MAX     ((size_t)256 << 10) /* bytes of prompt that are looked through */
#define NAME_MAX_BYTES 64

struct drift {
	size_t prompt; /* bytes looked through */
	int64_t count;
	char where[40], name[NAME_MAX_BYTES], nearest[NAME_MAX_BYTES];
	struct span removed, changed; /* tools, by the events that say so */
	char removed_name[NAME_MAX_BYTES], changed_name[NAME_MAX_BYTES];
};

static int find(const struct rollout_facts *r, struct str name)
{
	for (size_t i = 0; i < r->tool_count; i++) {
		if (str_eq(r->tools[i].name, name))
			return (int)i;
	}
	return TOOL_UNLISTED;
}

static const char *nearest(const struct rollout_facts *r, struct str name)
{
	struct arena arena = {0};
	const char **names = arena_new(&arena, (r->tool_count + 1) * sizeof(*names));
	for (size_t i = 0; i < r->tool_count; i++)
		names[i] = r->tools[i].name.p;
	const char *near = text_nearest(name, names, r->tool_count);
	arena_release(&arena);
	return near;
}

static void note(struct drift *s, const struct rollout_facts *r, const char *where,
                 struct str name)
{
	if (s->count++ > 0)
		return;
	const char *near = nearest(r, name);
	snprintf(s->where, sizeof(s->where), "%s", where);
	peer_name(r->work, name, s->name, sizeof(s->name));
	if (near)
		peer_name(r->work, str_from(near), s->nearest, sizeof(s->nearest));
}

/* ---- names in lists ---- */

/* A name, an object with one, or the form of OpenAI's API. */
static struct str name_in(struct str element)
{
	struct str name = element;
	if (json_type(element) == JSON_OBJECT) {
		name = JSON_GET(element, "name");
		if (!name.p)
			name = JSON_GET(JSON_GET(element, "function"), "name");
	}
	return json_type(name) == JSON_STRING ? json_inner(name) : (struct str){NULL, 0};
}

static void look_at_list(struct drift *s, const struct rollout_facts *r,
                         const char *where, struct str list)
{
	struct str element;
	if (json_type(list) != JSON_ARRAY)
		return;
	for (size_t cursor = 0; json_next(list, &cursor, &element);) {
		struct str name = name_in(element);
		if (name.n > 0 && find(r, name) < 0)
			note(s, r, where, name);
	}
}

static void look_at_header(struct drift *s, const struct rollout_facts *r,
                           const struct line *l)
{
	struct str task = l->value[KEY_TASK];
	struct str params = JSON_GET(l->value[KEY_POLICY], "params");
	look_at_list(s, r, "the task", JSON_GET(task, "tools"));
	look_at_list(s, r, "the policy", JSON_GET(params, "tools"));
}

/* ---- names in prompts ---- */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Arguments and their words are named in prompts like tools are. */
static bool is_in_schema(const struct rollout_facts *r, struct str name)
{
	char quoted[NAME_MAX_BYTES + 2];
	snprintf(quoted, sizeof(quoted), "\"%.*s\"", STR_ARG(name));
	for (size_t i = 0; i < r->tool_count; i++) {
		if (r->tools[i].schema.p && strstr(r->tools[i].schema.p, quoted))
			return true;
	}
	return false;
}

/* Only what looks like a name, and either is called a tool or is almost one: prose is
   full of words. */
static void look_at_quoted(struct drift *s, const struct rollout_facts *r,
                           struct str name, struct str rest)
{
	bool is_tool = str_starts(rest, STR(" tool"));
	if (name.n < 3 || name.n >= NAME_MAX_BYTES || !memchr(name.p, '_', name.n) ||
	    find(r, name) >= 0 || is_in_schema(r, name))
		return;
	if (is_tool || nearest(r, name))
		note(s, r, "the prompt", name);
}

/* Names between backticks: `lake_move`, `lake_move(action)`. */
static void look_at_text(struct drift *s, const struct rollout_facts *r, struct str text)
{
	while (text.n > 0 && s->prompt < PROMPT_MAX) {
		const char *tick = memchr(text.p, '`', text.n);
		if (!tick)
			return;
		struct str rest = str_skip(text, (size_t)(tick - text.p) + 1);
		size_t n = 0;
		while (n < rest.n && is_name_byte(rest.p[n]))
			n++;
		if (n < rest.n && (rest.p[n] == '`' || rest.p[n] == '('))
			look_at_quoted(s, r, (struct str){rest.p, n},
			               str_skip(rest, n + 1));
		s->prompt += text.n - rest.n;
		text = str_skip(rest, n + (n < rest.n && rest.p[n] == '`'));
	}
}

static void look_at_content(struct drift *s, const struct rollout_facts *r,
                            struct str content)
{
	struct str part;
	if (json_type(content) == JSON_STRING) {
		look_at_text(s, r, json_inner(content));
		return;
	}
	if (json_type(content) != JSON_ARRAY)
		return;
	for (size_t cursor = 0; json_next(content, &cursor, &part);) {
		struct str text = JSON_GET(part, "text");
		if (json_type(text) == JSON_STRING)
			look_at_text(s, r, json_inner(text));
	}
}

static void look_at_prompt(struct drift *s, const struct rollout_facts *r,
                           struct str messages)
{
	struct str message;
	if (json_type(messages) != JSON_ARRAY)
		return;
	for (size_t cursor = 0; json_next(messages, &cursor, &message);)
		look_at_content(s, r, JSON_GET(message, "content"));
}

/* ---- a list that changed ---- */

static void look_at_names(struct span *span, char first[NAME_MAX_BYTES],
                          const struct rollout_facts *r, const struct line *l,
                          const char *key)
{
	struct str list = json_get(l->value[KEY_DETAIL], str_from(key)), element;
	if (json_type(list) != JSON_ARRAY)
		return;
	for (size_t cursor = 0; json_next(list, &cursor, &element);) {
		if (span->count == 0)
			peer_name(r->work, name_in(element), first, NAME_MAX_BYTES);
		span_add(span, l->turn, -1);
	}
}

static void look_at_change(struct drift *s, const struct rollout_facts *r,
                           const struct line *l)
{
	if (!peer_is(l->value[KEY_EVENT], STR("tools-changed")))
		return;
	look_at_names(&s->removed, s->removed_name, r, l, "removed");
	look_at_names(&s->changed, s->changed_name, r, l, "changed");
}

static void say_change(const struct span *span, const char *name, const char *what,
                       const char *pointer, struct findings *out)
{
	char more[48] = "";
	if (span->count > 1)
		snprintf(more, sizeof(more), ", and %" PRId64 " more", span->count - 1);
	if (span->count > 0)
		finding_say(out, SEVERITY_ERROR, span, pointer,
		            "the server %s a tool while the rollout ran: %s%s", what,
		            name, more);
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
	struct drift *s = state;
	if (r->tools_known != TOOLS_ALL || r->tool_count == 0)
		return;
	if (m->line->type == LINE_HEADER)
		look_at_header(s, r, m->line);
	else if (m->line->type == LINE_RESET)
		look_at_prompt(s, r, m->line->value[KEY_MESSAGES]);
	else
		look_at_change(s, r, m->line);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct drift *s = state;
	char more[48] = "";
	if (s->count > 1)
		snprintf(more, sizeof(more), ", and %" PRId64 " more", s->count - 1);
	if (s->count > 0)
		finding_say(out, SEVERITY_ERROR, NULL, "",
		            "%s names a tool that the server lacks: %s%s%s%s%s", s->where,
		            s->name, s->nearest[0] ? " (the nearest name is " : "",
		            s->nearest, s->nearest[0] ? ")" : "", more);
	say_change(&s->removed, s->removed_name, "took away", "/detail/removed", out);
	say_change(&s->changed, s->changed_name, "changed", "/detail/changed", out);
}

const struct check check_tool_drift = {
	.id = "tool-drift",
	.title = "task, prompt or recording name tools that the server lacks, or a tool "
		 "changed",
	.why = "What the policy was told about its tools and what the server offers "
	       "are two things. The task's or the policy's list of tools, or a name "
	       "between backticks in the prompt, is not among the tools in the header; "
	       "or the server changed its list in the middle: a tool went away, or "
	       "takes other arguments than the policy was shown. The calls that follow "
	       "fail, or worse, mean something else.\n"
	       "Look at the header's tools beside the task file and the prompt, and at "
	       "the tools-changed events. A new release of the server, a prompt "
	       "written by hand, or two copies of a task set are the usual reasons.\n"
	       "Cure: write the prompt from the list the server advertises; pin the "
	       "server's version; correct the name to the nearest one if that is "
	       "what was meant.",
	.wants = WANT_HEADER | WANT_RESET | WANT_EVENT,
	.state_size = sizeof(struct drift),
	.line = line,
	.end = end,
};
