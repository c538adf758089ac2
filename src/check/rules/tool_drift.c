/* Rule tool-drift: the task, the prompt, an earlier tool list or another session names tools
   that the server does not have, or defines differently. */
#include "base/hash.h"
#include "check/prompt_tools.h"
#include "check/rule.h"
#include "evidence/sharing.h"
#include "json/canon.h"

#define PROMPT_MAX     ((size_t)1 << 20) /* bytes of a message that are searched */
#define QUOTED_MAX     64                /* names in one that are looked up */
#define NAME_MAX_BYTES 64

struct drift {
	bool cut; /* a message of the prompt was too long, or named too many */
	int64_t count;
	char where[40], name[NAME_MAX_BYTES], nearest[NAME_MAX_BYTES];
	struct span removed, changed; /* tools, according to the events about them */
	char removed_name[NAME_MAX_BYTES], changed_name[NAME_MAX_BYTES];
};

static void note(struct drift *s, const struct rollout_facts *r, const char *where, struct str name)
{
	if (s->count++ > 0)
		return;
	snprintf(s->where, sizeof(s->where), "%s", where);
	peer_name(r->work, name, s->name, sizeof(s->name));
	peer_nearest_tool(r, name, s->nearest, sizeof(s->nearest));
}

/* ---- names in lists ---- */

/* A name, an object with a name, or a tool in OpenAI's format. */
static struct str name_in(struct str element)
{
	struct str name = element;

	if (json_type(element) == JSON_OBJECT) {
		name = JSON_GET(element, "name");
		if (!name.p)
			name = JSON_GET(JSON_GET(element, "function"), "name");
	}
	return json_type(name) == JSON_STRING ? json_inner(name) : STR_NONE;
}

static void check_list(struct drift *s, const struct rollout_facts *r, const char *where,
                       struct str list)
{
	struct str element;

	for (size_t cursor = 0; json_next(list, &cursor, &element);) {
		struct str name = name_in(element);

		if (name.n > 0 && tool_at(r, name) < 0)
			note(s, r, where, name);
	}
}

static void check_header(struct drift *s, const struct rollout_facts *r, const struct line *l)
{
	struct str task = l->value[KEY_TASK];
	struct str params = JSON_GET(l->value[KEY_POLICY], "params");

	check_list(s, r, "the task", JSON_GET(task, "tools"));
	check_list(s, r, "the policy", JSON_GET(params, "tools"));
}

/* ---- names in prompts ---- */

static void check_text(struct drift *s, const struct rollout_facts *r, struct str string)
{
	AUTO_BUF text = BUF(PROMPT_MAX);
	struct str names[QUOTED_MAX];
	bool all;

	json_decode(string, &text);
	size_t count = prompt_tools(r, buf_view(&text), names, QUOTED_MAX, &all);
	s->cut |= text.full || !all;
	for (size_t i = 0; i < count; i++)
		note(s, r, "the prompt", names[i]);
}

static void check_content(struct drift *s, const struct rollout_facts *r, struct str content)
{
	struct str part;

	if (json_type(content) == JSON_STRING) {
		check_text(s, r, content);
		return;
	}
	for (size_t cursor = 0; json_next(content, &cursor, &part);) {
		struct str text = JSON_GET(part, "text");

		if (json_type(text) == JSON_STRING)
			check_text(s, r, text);
	}
}

static void check_prompt(struct drift *s, const struct rollout_facts *r, struct str messages)
{
	struct str message;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);)
		check_content(s, r, JSON_GET(message, "content"));
}

/* ---- a list that changed ---- */

static void add_names(struct span *span, char first[NAME_MAX_BYTES], const struct rollout_facts *r,
                      const struct line *l, const char *key)
{
	struct str list = json_get(l->value[KEY_DETAIL], str_from(key)), element;

	for (size_t cursor = 0; json_next(list, &cursor, &element);) {
		if (span->count == 0)
			peer_name(r->work, name_in(element), first, NAME_MAX_BYTES);
		span_add(span, l->turn, -1);
	}
}

static void check_change(struct drift *s, const struct rollout_facts *r, const struct line *l)
{
	if (l->event != EVENT_TOOLS_CHANGED)
		return;
	add_names(&s->removed, s->removed_name, r, l, "removed");
	add_names(&s->changed, s->changed_name, r, l, "changed");
}

static void report_tool_change(const struct span *span, const char *name, const char *what,
                               const char *pointer, struct findings *out)
{
	char more[48] = "";

	if (span->count > 1)
		snprintf(more, sizeof(more), ", and %" PRId64 " more", span->count - 1);
	finding_add(out, SEVERITY_ERROR, span, pointer,
	            "the server %s a tool during the rollout: %s%s", what, name, more);
}

/* ---- the lists of other sessions ---- */

/* Names and arguments, in any order of the tools: descriptions may contain the time of day. */
static uint64_t names_fingerprint(struct workspace *w, struct str tools)
{
	uint64_t sum = 1;
	struct str tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		buf_clear(&w->canon);
		json_canon(JSON_GET(tool, "inputSchema"), NULL, JSON_EDIT_DROP, &w->canon);
		buf_str(&w->canon, JSON_GET(tool, "name"));
		sum += fingerprint(buf_view(&w->canon));
	}
	return sum;
}

/* Most rollouts have the list of the one before, to the byte. */
static uint64_t tools_fingerprint(const struct rollout_facts *r, struct str tools)
{
	struct sharing *c = r->sharing;
	uint64_t text = fingerprint(tools);

	if (c->tools_text != text) {
		c->tools_text = text;
		c->tools_names = names_fingerprint(r->work, tools);
	}
	return c->tools_names;
}

/* Sessions expected to be alike: of one environment, in one file, or in one task's group. */
static bool differs(const struct rollout_facts *r, const struct line *l, bool of_group,
                    uint64_t fingerprint, struct str *owner)
{
	struct sharing *c = r->sharing;
	struct buf *key = &r->work->text;

	buf_clear(key);
	if (of_group)
		buf_printf(key, "%" PRId64 " %.*s ", r->group_size, STR_ARG(r->task));
	else
		buf_printf(key, "file %" PRId64 " ", c->files);
	buf_str(key, l->value[KEY_ENV]);
	buf_str(key, JSON_GET(l->value[KEY_META], "url"));
	return sharing_claim(c, 't', buf_view(key), fingerprint, owner);
}

static void check_sessions(const struct rollout_facts *r, const struct line *l,
                           struct findings *out)
{
	struct str tools = l->value[KEY_TOOLS], owner;
	char other[64] = "an earlier rollout";

	if (r->imported || json_type(tools) != JSON_ARRAY)
		return;
	uint64_t fingerprint = tools_fingerprint(r, tools);
	bool other_file = r->group_size > 1 && differs(r, l, true, fingerprint, &owner);
	if (!differs(r, l, false, fingerprint, &owner) && !other_file)
		return;
	if (owner.p) {
		snprintf(other, sizeof(other), "rollout ");
		peer_name(r->work, owner, other + 8, sizeof(other) - 8);
	}
	finding_add(out, SEVERITY_ERROR, NULL, "/tools",
	            "the server offers this session different tools from that of %s", other);
}

static void find(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	struct drift *s = state;

	if (m->line->type == LINE_HEADER)
		check_sessions(r, m->line, out);
	if (r->tools_known != TOOLS_ALL || r->tool_count == 0)
		return;
	if (m->line->type == LINE_HEADER)
		check_header(s, r, m->line);
	else if (m->line->type == LINE_RESET)
		check_prompt(s, r, m->line->value[KEY_MESSAGES]);
	else
		check_change(s, r, m->line);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct drift *s = state;
	char more[48] = "";

	if (r->tools_known == TOOLS_SOME || s->cut)
		rule_not_judged(out);
	if (s->count > 1)
		snprintf(more, sizeof(more), ", and %" PRId64 " more", s->count - 1);
	if (s->count > 0) {
		finding_add(out, SEVERITY_ERROR, NULL, "",
		            "%s names a tool that the server does not offer: %s%s%s%s%s", s->where,
		            s->name, s->nearest[0] ? " (the nearest name is " : "", s->nearest,
		            s->nearest[0] ? ")" : "", more);
	}
	report_tool_change(&s->removed, s->removed_name, "removed", "/detail/removed", out);
	report_tool_change(&s->changed, s->changed_name, "changed", "/detail/changed", out);
}

const struct check check_tool_drift = {
	.id = "tool-drift",
	.title = "the tools named to the policy differ from those the server offers",
	.severity = SEVERITY_ERROR,
	.explains = {&check_unknown_tool, &check_arguments_schema},
	.why = "The policy was given tools other than those the server offers: the task, the "
	       "policy or the prompt names one that the server lacks, the server removed or "
	       "changed one during the rollout, or sessions of one environment were offered "
	       "different tools. Calls then fail or, worse, do something else.\n"
	       "Compare the header's tools with the task file, the prompt and another rollout's "
	       "header, and look at the tools-changed events: a new release of the server, "
	       "unequal replicas, a prompt written by hand.\n"
	       "Fix: write the prompt from the server's list, pin the server's version on every "
	       "replica, or correct the name.",
	.needs = FACT(TOOLS),
	.wants = KIND_HEADER | KIND_RESET | KIND_EVENT,
	.state_size = sizeof(struct drift),
	.find = find,
	.end = end,
};
