/* Facts from the header: tools, state source, policy and limits. */
#include "evidence/fold.h"

#include "base/text.h"
#include "evidence/baseline.h"
#include "evidence/call.h"

#define TOOLS_MAX        65536
#define TOOLS_SEARCHED   64 /* longer lists get an index */
#define NAME_BYTES_MAX   ((size_t)4 << 20)
#define SCHEMA_BYTES_MAX ((size_t)4 << 20)

static enum source source_of(const struct line *header)
{
	switch (line_state_kind(header)) {
	case STATE_NONE:
		return SOURCE_NONE;
	case STATE_OBSERVATION:
		return SOURCE_OBSERVATION;
	case STATE_UNKNOWN: /* no state source, or one of a later version */
		return json_is_null(JSON_GET(header->value[KEY_STATE_SOURCE], "kind"))
		               ? SOURCE_NONE
		               : SOURCE_NAMED;
	default:
		return SOURCE_NAMED;
	}
}

/* Limit on the memory for the tools of a rollout. */
struct room {
	size_t names, schemas;
};

static bool fits(size_t *room, struct str text)
{
	bool fits = text.n <= *room;

	*room -= fits ? text.n : 0;
	return fits;
}

static struct tool_fact tool_of(struct rollout_facts *f, const struct hints *hints, struct str tool,
                                struct room *room)
{
	static const struct str keys[] = {STR_INIT("name"), STR_INIT("annotations"),
	                                  STR_INIT("inputSchema")};
	struct str found[ARRAY_LEN(keys)];
	struct tool_fact t = {.read_only = false};

	json_pick(tool, keys, ARRAY_LEN(keys), found);
	struct str name = found[0], annotations = found[1], schema = found[2];
	bool hinted = json_bool(JSON_GET(annotations, "readOnlyHint"), &t.read_only);
	bool reads = f->state_tool.n && json_is(name, f->state_tool);
	json_bool(JSON_GET(annotations, "idempotentHint"), &t.idempotent);
	t.name = json_text(f->arena, name);
	t.schema_left_out = schema.p && !fits(&room->schemas, schema);
	t.schema = t.schema_left_out ? STR_NONE : arena_str(f->arena, schema);
	t.read_only = t.read_only || reads ||
	              (hints->read_only && t.name.p && text_globs(hints->read_only, t.name));
	t.learned = !hinted && !t.read_only && t.name.p &&
	            baseline_is_read_only(hints->baseline, t.name);
	t.read_only = t.read_only || t.learned;
	return t;
}

/* Index of a tool in the list. */
struct tool_place {
	struct map_item item;
	int at;
};

/* If several tools have the same name, the first is used. */
static void index_tools(struct rollout_facts *f)
{
	struct tool_place *places = arena_new(f->arena, f->tool_count * sizeof(*places));

	for (size_t i = 0; i < f->tool_count; i++) {
		uint64_t hash = map_hash(f->tools[i].name);

		if (!map_find(&f->tool_places, hash, STR_NONE)) {
			places[i].at = (int)i;
			map_add(&f->tool_places, &places[i].item, hash);
		}
	}
}

int tool_at(const struct rollout_facts *r, struct str name)
{
	if (r->tool_places.count) {
		const struct tool_place *place =
			map_find(&r->tool_places, map_hash(name), STR_NONE);

		return place ? place->at : TOOL_UNLISTED;
	}
	for (size_t i = 0; i < r->tool_count; i++)
		if (str_eq(r->tools[i].name, name))
			return (int)i;
	return TOOL_UNLISTED;
}

static void keep_tools(struct open_rollout *o, struct str tools)
{
	struct rollout_facts *f = &o->facts;
	struct room left = {NAME_BYTES_MAX, SCHEMA_BYTES_MAX};
	struct tool_fact *list = NULL;
	size_t n = 0, cursor = 0;
	struct str tool;

	if (json_type(tools) != JSON_ARRAY)
		return;
	f->tools_known = TOOLS_ALL;
	while (json_next(tools, &cursor, &tool)) {
		if (n == TOOLS_MAX || !fits(&left.names, JSON_GET(tool, "name"))) {
			f->tools_known = TOOLS_SOME;
			break;
		}
		list = arena_grow(f->arena, list, n, sizeof(*list));
		list[n++] = tool_of(f, o->hints, tool, &left);
	}
	f->tools = list;
	f->tool_count = n;
	if (n > TOOLS_SEARCHED)
		index_tools(f);
}

void fold_begin(struct open_rollout *o)
{
	struct rollout_facts *f = &o->facts;

	f->known = UINT64_MAX;
	f->max_turns = f->group_size = f->sample = -1;
	f->last_turn = f->ended_turn = -1;
	f->env_count = (struct env_count){.now = -1, .first = -1};
	f->min_effective = o->hints->min_effective;
	f->expected = o->hints->errors;
	f->expected_count = o->hints->error_count;
	f->expected_came = arena_new(f->arena, f->expected_count + 1);
	o->explaining = (struct explaining){.names = !o->hints->no_names,
	                                    .effects = o->hints->effects,
	                                    .effect_count = o->hints->effect_count,
	                                    .ignored = o->hints->ignored,
	                                    .ignored_count = o->hints->ignored_count};
}

/* For an imported recording: the keys that its source can have. */
static uint64_t known_keys(struct str list)
{
	uint64_t known = 0;
	struct str one;

	if (json_type(list) != JSON_ARRAY)
		return UINT64_MAX;
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		for (size_t i = 0; i < line_keys_count; i++)
			if (json_is(one, str_from(line_keys[i].name)))
				known |= UINT64_C(1) << line_keys[i].key;
	}
	return known;
}

/* The user chose a state source that is a tool, a resource or a part of the observation; one that
   another program recorded was chosen, too. */
static bool is_named(const struct line *header)
{
	enum state_kind kind = line_state_kind(header);
	struct str pointer = JSON_GET(header->value[KEY_STATE_SOURCE], "pointer");

	return kind == STATE_TOOL || kind == STATE_RESOURCE || kind == STATE_IMPORT ||
	       (kind == STATE_OBSERVATION && json_inner(pointer).n > 0);
}

static void take_source(struct open_rollout *o, const struct line *header)
{
	struct str source = header->value[KEY_STATE_SOURCE];

	o->facts.source = source_of(header);
	o->facts.state_is_named = is_named(header);
	struct str tool = JSON_GET(source, "tool"), arguments = JSON_GET(source, "arguments");
	struct derived_line reading = {.arguments = arguments};
	if (json_type(tool) == JSON_STRING && json_count(arguments)) {
		reading.tool_name = json_inner(tool);
		o->facts.state_call = call_hash(o->facts.work, &reading);
	} else {
		o->facts.state_tool = json_text(o->facts.arena, tool);
	}
	if (str_is(JSON_GET(source, "names"), "false"))
		o->explaining.names = false;
	series_ignore(&o->series, JSON_GET(source, "ignore"), JSON_GET(source, "volatile"));
}

void fold_header(struct open_rollout *o, const struct line *header)
{
	struct rollout_facts *f = &o->facts;

	f->task = json_text(f->arena, JSON_GET(header->value[KEY_TASK], "id"));
	f->policy = line_policy_kind(header);
	struct str params = JSON_GET(header->value[KEY_POLICY], "params");
	f->draws = f->policy == POLICY_RANDOM && !JSON_GET(params, "actions").p;
	f->invents = str_is(JSON_GET(params, "invents"), "true");
	f->imported = f->policy == POLICY_IMPORT || line_state_kind(header) == STATE_IMPORT;
	f->known = known_keys(JSON_GET(header->value[KEY_ENV], "facts"));
	json_i64(JSON_GET(header->value[KEY_LIMITS], "max_turns"), &f->max_turns);
	if (!json_i64(JSON_GET(header->value[KEY_LIMITS], "group_size"), &f->group_size))
		json_i64(JSON_GET(header->value[KEY_TASK], "group_size"), &f->group_size);
	json_i64(header->value[KEY_SAMPLE], &f->sample);
	f->protocol = line_protocol(header);
	f->has_seed = protocol_has(f->protocol, TAKES_SEEDS) &&
	              json_i64(header->value[KEY_SEED], &f->seed);
	take_source(o, header);
	keep_tools(o, header->value[KEY_TOOLS]);
}
