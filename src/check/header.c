/* What rules ask of a header: tools, state source, policy and limits. */
#include "base/text.h"
#include "check/baseline.h"
#include "check/derive.h"
#include "check/peer.h"

#define TOOLS_MAX      4096
#define TOOL_BYTES_MAX ((size_t)256 << 10)

/* A string's text, decoded, in the rollout's arena; absent for anything else. */
static struct str kept_text(struct rollout_facts *f, struct str value)
{
	if (json_type(value) != JSON_STRING)
		return (struct str){NULL, 0};
	if (!json_has_escape(value))
		return arena_str(f->arena, json_inner(value));
	buf_clear(&f->work->text);
	json_decode(value, &f->work->text);
	return arena_str(f->arena, buf_view(&f->work->text));
}

static enum source source_of(struct str state_source)
{
	struct str kind = JSON_GET(state_source, "kind");
	if (json_type(kind) != JSON_STRING || peer_is(kind, STR("none")))
		return SOURCE_NONE;
	return peer_is(kind, STR("observation")) ? SOURCE_OBSERVATION : SOURCE_NAMED;
}

static struct tool_fact tool_of(struct rollout_facts *f, const struct told *told,
                                struct str tool)
{
	struct str name = {NULL, 0}, annotations = {NULL, 0}, schema = {NULL, 0};
	struct json_member member;
	struct tool_fact t = {.read_only = false};
	for (size_t cursor = 0; json_next_member(tool, &cursor, &member);) {
		if (str_eq(member.key, STR("name")))
			name = member.value;
		else if (str_eq(member.key, STR("annotations")))
			annotations = member.value;
		else if (str_eq(member.key, STR("inputSchema")))
			schema = member.value;
	}
	bool hinted = json_bool(JSON_GET(annotations, "readOnlyHint"), &t.read_only);
	json_bool(JSON_GET(annotations, "idempotentHint"), &t.idempotent);
	t.name = kept_text(f, name);
	t.schema = arena_str(f->arena, schema);
	t.read_only = t.read_only || (told->read_only && t.name.p &&
	                              text_globs(told->read_only, t.name));
	t.learned = !hinted && !t.read_only && t.name.p &&
	            baseline_only_reads(told->baseline, t.name);
	t.read_only = t.read_only || t.learned;
	return t;
}

/* The list grows in the arena, which has no way to take the shorter ones back: twice the
   memory at most. */
static struct tool_fact *longer(struct arena *a, const struct tool_fact *list,
                                size_t count)
{
	struct tool_fact *new = arena_new(a, (count ? 2 * count : 4) * sizeof(*new));
	if (count)
		memcpy(new, list, count * sizeof(*new));
	return new;
}

static void keep_tools(struct rollout_facts *f, const struct told *told, struct str tools)
{
	struct tool_fact *list = NULL;
	size_t began = f->arena->bytes, n = 0, room = 0, cursor = 0;
	struct str tool;
	if (json_type(tools) != JSON_ARRAY)
		return;
	f->tools_known = TOOLS_ALL;
	while (json_next(tools, &cursor, &tool)) {
		if (n == TOOLS_MAX || f->arena->bytes - began > TOOL_BYTES_MAX) {
			f->tools_known = TOOLS_SOME;
			break;
		}
		if (n == room) {
			list = longer(f->arena, list, n);
			room = n ? 2 * n : 4;
		}
		list[n++] = tool_of(f, told, tool);
	}
	f->tools = list;
	f->tool_count = n;
}

void derive_header(struct open_rollout *o, const struct line *header)
{
	struct rollout_facts *f = &o->facts;
	f->task = kept_text(f, JSON_GET(header->value[KEY_TASK], "id"));
	f->policy = kept_text(f, JSON_GET(header->value[KEY_POLICY], "kind"));
	f->source = source_of(header->value[KEY_STATE_SOURCE]);
	f->imported =
		str_eq(f->policy, STR("import")) ||
		peer_is(JSON_GET(header->value[KEY_STATE_SOURCE], "kind"), STR("import"));
	f->max_turns = f->group_size = f->sample = -1;
	json_i64(JSON_GET(header->value[KEY_LIMITS], "max_turns"), &f->max_turns);
	if (!json_i64(JSON_GET(header->value[KEY_LIMITS], "group_size"), &f->group_size))
		json_i64(JSON_GET(header->value[KEY_TASK], "group_size"), &f->group_size);
	json_i64(header->value[KEY_SAMPLE], &f->sample);
	f->last_turn = f->ended_turn = -1;
	f->expected = o->told->errors;
	f->expected_count = o->told->error_count;
	f->expected_came = arena_new(f->arena, f->expected_count + 1);
	keep_tools(f, o->told, header->value[KEY_TOOLS]);
}
