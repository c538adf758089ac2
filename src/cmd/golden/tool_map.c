/* Options about recorded calls: see tool_map.h. */
#include "cmd/golden/tool_map.h"

#include "json/write.h"

#define FIELD(f) offsetof(struct recorded_options, f)

static const struct opt rows[] = {
	OPT_STRING('r', "rollout", OPT_NEVER, "ID", FIELD(rollout),
                   "if the policy is a recording of several rollouts: the one whose calls are sent "
                   "(default: each, a task each; with --tasks, each task the rollout of its id)"),
	OPT_LIST(
		0, "tool-map", OPT_REACH, "NAME=TOOL", FIELD(tool_map),
		"send recorded calls of NAME as calls of TOOL, as for trainers' logs that name the "
		"methods of an environment class; may be given several times"),
};

const struct option_group recorded_group = {rows, ARRAY_LEN(rows), NULL};
const struct option_group tool_map_group = {rows + 1, ARRAY_LEN(rows) - 1, NULL};

static const char *equals_of(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return equals && equals != entry && equals[1] ? equals : NULL;
}

int tool_map_check(const struct opt_list *map, struct error *err)
{
	for (size_t i = 0; map && i < map->count; i++) {
		if (!equals_of(map->item[i])) {
			return error_set(err, FAIL_USAGE,
			                 "--tool-map %s: not NAME=TOOL, such as move=step",
			                 map->item[i]);
		}
	}
	return 0;
}

bool tool_map_apply(const struct opt_list *map, const struct line *l, struct buf *text)
{
	struct str name = JSON_GET(l->value[KEY_TOOL_CALL], "name");
	const char *line_end = l->text.p + l->text.n;

	for (size_t i = 0; map && i < map->count && l->type == LINE_STEP; i++) {
		const char *equals = equals_of(map->item[i]);
		struct str from = {map->item[i], (size_t)(equals - map->item[i])};

		if (json_is(name, from)) {
			buf_add(text, l->text.p, (size_t)(name.p - l->text.p));
			json_quote(text, str_from(equals + 1));
			buf_add(text, name.p + name.n, (size_t)(line_end - name.p) - name.n);
			return true;
		}
	}
	return false;
}
