/* Validation of the members of messages and actions: see openenv.h. */
#include "json/scan.h"
#include "json/write.h"
#include "serve/openenv/openenv.h"
#include "serve/world/lake.h"

static bool is_move(struct str value)
{
	for (int i = 0; i < LAKE_ACTIONS; i++)
		if (json_is(value, str_from(lake_action_names[i])))
			return true;
	return false;
}

/* What is wrong with the value; NULL: nothing. */
static const char *misfit(struct str value, enum field_type type)
{
	bool text = json_type(value) == JSON_STRING;

	switch (type) {
	case FIELD_DICT:
		return json_type(value) == JSON_OBJECT ? NULL
		                                       : "Input should be a valid dictionary";
	case FIELD_TEXT_OR_NULL:
		return text || json_is_null(value) ? NULL : "Input should be a valid string";
	case FIELD_TEXT:
		return text ? NULL : "Input should be a valid string";
	case FIELD_MOVE:
		return text && is_move(value) ? NULL
		                              : "Input should be 'LEFT', 'DOWN', 'RIGHT' or 'UP'";
	case FIELD_CALL:
		return text && json_is(value, STR("call_tool")) ? NULL
		                                                : "Input should be 'call_tool'";
	case FIELD_ANY:
		break;
	}
	return NULL;
}

bool fields_wrong(struct buf *why, const char *type, struct str name, const char *message,
                  struct str input)
{
	json_pack(why, "{type:%t,loc:[%s],msg:%t,input:%r}", type, name, message, input);
	return false;
}

static bool is_field(struct str name, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_is(name, fields[i].name))
			return true;
	return false;
}

bool fields_validate(struct str object, const struct field *fields, size_t count, bool allow_extra,
                     struct buf *why)
{
	struct json_member m;

	for (size_t i = 0; i < count; i++) {
		struct str name = str_from(fields[i].name), value = json_get(object, name);
		const char *wrong = value.p ? misfit(value, fields[i].type) : NULL;

		if (!value.p && fields[i].required)
			return fields_wrong(why, "missing", name, "Field required", object);
		if (wrong)
			return fields_wrong(why, "value_error", name, wrong, value);
	}
	for (size_t cursor = 0; !allow_extra && json_next_member(object, &cursor, &m);) {
		if (!is_field(m.key, fields, count)) {
			return fields_wrong(why, "extra_forbidden", m.key,
			                    "Extra inputs are not permitted", m.value);
		}
	}
	return true;
}

bool fields_validate_action(const struct world *w, struct str action, struct buf *why)
{
	static const struct field move[] = {{"metadata", FIELD_DICT, false},
	                                    {"action", FIELD_MOVE, true}};
	static const struct field list[] = {{"metadata", FIELD_DICT, false},
	                                    {"type", FIELD_ANY, true}};
	static const struct field call[] = {{"metadata", FIELD_DICT, false},
	                                    {"type", FIELD_CALL, false},
	                                    {"tool_name", FIELD_TEXT, true},
	                                    {"arguments", FIELD_DICT, false}};

	if (!episode_has_tools(w))
		return fields_validate(action, move, ARRAY_LEN(move), false, why);
	if (episode_lists_tools(action))
		return fields_validate(action, list, ARRAY_LEN(list), false, why);
	return fields_validate(action, call, ARRAY_LEN(call), false, why);
}
