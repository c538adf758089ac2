/* Validation of members: see fields.h. */
#include "serve/openenv/fields.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/openenv/episode.h"
#include "serve/world/lake.h"

void fields_add_error(struct field_errors *errors, const char *type, const char *field,
                      const char *message, struct str input)
{
	struct json_writer w;

	buf_text(&errors->list, errors->count++ > 0 ? "," : "");
	jw_init(&w, &errors->list);
	jw_put(&w, "{type:%t,loc:[", type);
	if (errors->root) {
		jw_text(&w, errors->root);
	}
	if (field) {
		jw_text(&w, field);
	}
	jw_put(&w, "],msg:%t,input:%r}", message, input);
}

static void check_field(struct str object, const struct field *f, struct field_errors *errors)
{
	struct str value = json_get(object, str_from(f->name));
	const char *wrong = value.p && f->check ? f->check(value) : NULL;

	if (!value.p && f->required) {
		fields_add_error(errors, "missing", f->name, "Field required", object);
	} else if (wrong) {
		fields_add_error(errors, "value_error", f->name, wrong, value);
	}
}

static bool is_field(struct str name, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, fields[i].name)) {
			return true;
		}
	}
	return false;
}

static void check_extra(struct str key, struct str value, const struct field *fields, size_t count,
                        struct field_errors *errors)
{
	struct buf name = BUF(BUF_MAX_MESSAGE);

	json_decode_key(key, &name);
	if (!is_field(buf_view(&name), fields, count)) {
		fields_add_error(errors, "extra_forbidden", buf_cstr(&name),
		                 "Extra inputs are not permitted", value);
	}
	buf_release(&name);
}

bool fields_validate(struct str object, const struct field *fields, size_t count, bool allow_extra,
                     struct field_errors *errors)
{
	struct json_member m;
	size_t cursor = 0;

	for (size_t i = 0; i < count; i++) {
		check_field(object, &fields[i], errors);
	}
	while (!allow_extra && json_next_member(object, &cursor, &m)) {
		check_extra(m.key, m.value, fields, count, errors);
	}
	return errors->count == 0;
}

const char *field_check_dict(struct str value)
{
	return json_type(value) == JSON_OBJECT ? NULL : "Input should be a valid dictionary";
}

static const char *check_string(struct str value)
{
	return json_type(value) == JSON_STRING ? NULL : "Input should be a valid string";
}

const char *field_check_optional_string(struct str value)
{
	return json_is_null(value) ? NULL : check_string(value);
}

static const char *check_move(struct str value)
{
	for (int i = 0; json_type(value) == JSON_STRING && i < LAKE_ACTIONS; i++) {
		if (json_is(value, str_from(lake_action_names[i]))) {
			return NULL;
		}
	}
	return "Input should be 'LEFT', 'DOWN', 'RIGHT' or 'UP'";
}

static const char *check_call(struct str value)
{
	return json_type(value) == JSON_STRING && json_is(value, STR("call_tool"))
	               ? NULL
	               : "Input should be 'call_tool'";
}

bool fields_validate_action(const struct world *w, struct str action, struct field_errors *errors)
{
	static const struct field move[] = {{"metadata", field_check_dict, false},
	                                    {"action", check_move, true}};
	static const struct field list[] = {{"metadata", field_check_dict, false},
	                                    {"type", NULL, true}};
	static const struct field call[] = {{"metadata", field_check_dict, false},
	                                    {"type", check_call, false},
	                                    {"tool_name", check_string, true},
	                                    {"arguments", field_check_dict, false}};

	if (!episode_has_tools(w)) {
		return fields_validate(action, move, ARRAY_LEN(move), false, errors);
	}
	if (episode_lists_tools(action)) {
		return fields_validate(action, list, ARRAY_LEN(list), false, errors);
	}
	return fields_validate(action, call, ARRAY_LEN(call), false, errors);
}
