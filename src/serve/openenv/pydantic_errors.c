/* Pydantic's validation errors, and validation of fields: see pydantic_errors.h. */
#include "serve/openenv/pydantic_errors.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/openenv/episode.h"
#include "serve/openenv/python.h"
#include "serve/world/lake.h"

#define LINK "https://errors.pydantic.dev/2.14/v/"

static const struct {
	const char *type, *said, *context;
} texts[] = {
	[MISSING] = {"missing", "Field required", NULL},
	[EXTRA] = {"extra_forbidden", "Extra inputs are not permitted", NULL},
	[NOT_DICT] = {"dict_type", "Input should be a valid dictionary", NULL},
	[NOT_STRING] = {"string_type", "Input should be a valid string", NULL},
	[NOT_INT] = {"int_type", "Input should be a valid integer", NULL},
	[NOT_WHOLE_INT] = {"int_from_float",
                           "Input should be a valid integer, got a number with a fractional part",
                           NULL},
	[NOT_INT_TEXT] = {"int_parsing",
                          "Input should be a valid integer, unable to parse string as an integer",
                          NULL},
	[NOT_NUMBER] = {"float_type", "Input should be a valid number", NULL},
	[NOT_MOVE] = {"literal_error", "Input should be 'LEFT', 'DOWN', 'RIGHT' or 'UP'",
                      "{\"expected\":\"'LEFT', 'DOWN', 'RIGHT' or 'UP'\"}"},
	[NOT_VERSION] = {"literal_error", "Input should be '2.0'", "{\"expected\":\"'2.0'\"}"},
	[NOT_CALL] = {"literal_error", "Input should be 'call_tool'",
                      "{\"expected\":\"'call_tool'\"}"},
	[TOO_LONG] = {"string_too_long", "String should have at most 255 characters",
                      "{\"max_length\":255}"},
	[NEGATIVE] = {"greater_than_equal", "Input should be greater than or equal to 0",
                      "{\"ge\":0}"},
	[NOT_POSITIVE] = {"greater_than", "Input should be greater than 0", "{\"gt\":0.0}"},
	[NOT_MODEL] = {"model_attributes_type",
                       "Input should be a valid dictionary or object to extract fields from", NULL},
};

static void add_error_text(struct validation_errors *c, enum validation_error what,
                           const char *field, struct str input)
{
	buf_printf(&c->list, "\n%s\n  %s [type=%s, input_value=", field ? field : "",
	           texts[what].said, texts[what].type);
	python_repr_cut(input, &c->list);
	buf_printf(&c->list, ", input_type=%s]\n    For further information visit " LINK "%s",
	           python_type(input), texts[what].type);
}

static void add_error_json(struct validation_errors *c, enum validation_error what,
                           const char *field, struct str input)
{
	bool body = c->format == FORMAT_BODY;

	buf_printf(&c->list, "%s{\"type\":\"%s\",\"loc\":[%s", c->count > 1 ? "," : "",
	           texts[what].type, body ? "\"body\"" : "");
	if (field) {
		buf_text(&c->list, body ? "," : "");
		json_quote(&c->list, str_from(field));
	}
	buf_printf(&c->list, "],\"msg\":\"%s\",\"input\":", texts[what].said);
	if (input.p) {
		python_json(input, &c->list);
	} else {
		buf_text(&c->list, "null");
	}
	if (texts[what].context) {
		buf_printf(&c->list, ",\"ctx\":%s", texts[what].context);
	}
	if (!body) {
		buf_printf(&c->list, ",\"url\":\"" LINK "%s\"", texts[what].type);
	}
	buf_char(&c->list, '}');
}

void openenv_add_error(struct validation_errors *c, enum validation_error what, const char *field,
                       struct str input)
{
	c->count++;
	if (c->format == FORMAT_TEXT) {
		add_error_text(c, what, field, input);
	} else {
		add_error_json(c, what, field, input);
	}
}

static void check_field(struct str object, const struct field_check *f, struct validation_errors *c)
{
	struct str value = json_get(object, str_from(f->name));
	enum validation_error what = VALID;

	if (!value.p) {
		what = f->required ? MISSING : VALID;
		value = object;
	} else if (f->check) {
		what = f->check(value);
	}
	if (what != VALID) {
		openenv_add_error(c, what, f->name, value);
	}
}

static bool is_field(struct str name, const struct field_check *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, fields[i].name)) {
			return true;
		}
	}
	return false;
}

static void check_extra(struct str key, struct str value, const struct field_check *fields,
                        size_t count, struct validation_errors *c)
{
	struct buf name = BUF(BUF_MAX_MESSAGE);

	json_decode_key(key, &name);
	if (!is_field(buf_view(&name), fields, count)) {
		openenv_add_error(c, EXTRA, buf_cstr(&name), value);
	}
	buf_release(&name);
}

bool openenv_validate(struct str object, const struct field_check *fields, size_t count,
                      bool allow_extra, struct validation_errors *c)
{
	struct json_member m;
	size_t cursor = 0;

	for (size_t i = 0; i < count; i++) {
		check_field(object, &fields[i], c);
	}
	while (!allow_extra && json_next_member(object, &cursor, &m)) {
		check_extra(m.key, m.value, fields, count, c);
	}
	return c->count == 0;
}

enum validation_error check_dict(struct str value)
{
	return json_type(value) == JSON_OBJECT ? VALID : NOT_DICT;
}

enum validation_error check_string(struct str value)
{
	return json_type(value) == JSON_STRING ? VALID : NOT_STRING;
}

enum validation_error check_move(struct str value)
{
	for (int i = 0; json_type(value) == JSON_STRING && i < LAKE_ACTIONS; i++) {
		if (json_is(value, str_from(lake_action_names[i]))) {
			return VALID;
		}
	}
	return NOT_MOVE;
}

static enum validation_error check_call(struct str value)
{
	return json_type(value) == JSON_STRING && json_is(value, STR("call_tool")) ? VALID
	                                                                           : NOT_CALL;
}

bool openenv_validate_action(const struct world *w, struct str action, struct validation_errors *c)
{
	static const struct field_check move[] = {{"metadata", check_dict, false},
	                                          {"action", check_move, true}};
	static const struct field_check list[] = {{"metadata", check_dict, false},
	                                          {"type", NULL, true}};
	static const struct field_check call[] = {{"metadata", check_dict, false},
	                                          {"type", check_call, false},
	                                          {"tool_name", check_string, true},
	                                          {"arguments", check_dict, false}};

	if (!episode_has_tools(w)) {
		return openenv_validate(action, move, ARRAY_LEN(move), false, c);
	}
	if (episode_lists_tools(action)) {
		return openenv_validate(action, list, ARRAY_LEN(list), false, c);
	}
	return openenv_validate(action, call, ARRAY_LEN(call), false, c);
}
