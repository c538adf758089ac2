/* Answers elicitation requests: see elicit.h. */
#include "env/mcp/elicit.h"

#include "json/scan.h"
#include "json/write.h"

static bool fits_type(struct str type, struct str value)
{
	int64_t whole;

	switch (json_type(value)) {
	case JSON_STRING:
		return json_is(type, STR("string"));
	case JSON_TRUE:
	case JSON_FALSE:
		return json_is(type, STR("boolean"));
	case JSON_NUMBER:
		return json_is(type, STR("number")) ||
		       (json_is(type, STR("integer")) && json_i64(value, &whole));
	case JSON_ARRAY:
		return json_is(type, STR("array"));
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_OBJECT:
		break;
	}
	return false;
}

/* Is the string one of the field's options, if it has any? Options are an "enum", or the "const"
   of each entry of "oneOf" or "anyOf". */
static bool is_offered(struct str field, struct str value)
{
	static const struct str keys[] = {{"enum", 4}, {"oneOf", 5}, {"anyOf", 5}};
	struct str offer;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str offers = json_get(field, keys[i]);
		size_t cursor = 0;

		while (json_next(offers, &cursor, &offer)) {
			if (json_same_text(value, i ? JSON_GET(offer, "const") : offer)) {
				return true;
			}
		}
		if (json_type(offers) == JSON_ARRAY) {
			return false;
		}
	}
	return true;
}

/* The field's default; absent if it has no valid one. */
static struct str default_of(struct str field)
{
	struct str value = JSON_GET(field, "default"), none = STR_NONE, each;
	size_t cursor = 0;

	if (!fits_type(JSON_GET(field, "type"), value)) {
		return none;
	}
	if (json_type(value) != JSON_ARRAY) {
		return is_offered(field, value) ? value : none;
	}
	while (json_next(value, &cursor, &each)) {
		if (json_type(each) != JSON_STRING || !is_offered(JSON_GET(field, "items"), each)) {
			return none;
		}
	}
	return value;
}

/* Is there a required field without a default? Its name is written to why. */
static bool lacks_default(struct str schema, struct buf *why)
{
	struct str required = JSON_GET(schema, "required"), name;
	struct str fields = JSON_GET(schema, "properties");
	size_t cursor = 0;

	while (json_next(required, &cursor, &name)) {
		struct buf key = BUF(BUF_MAX_SMALL);
		bool there = json_type(name) == JSON_STRING && json_decode(name, &key) &&
		             default_of(json_get(fields, buf_view(&key))).p;

		if (!there) {
			buf_printf(why, "no default for the required field ");
			buf_str(why, name);
		}
		buf_release(&key);
		if (!there) {
			return true;
		}
	}
	return false;
}

static void write_content(struct json_writer *w, struct str fields)
{
	struct json_member field;
	struct buf key = BUF(BUF_MAX_SMALL);
	size_t cursor = 0;

	while (json_next_member(fields, &cursor, &field)) {
		struct str value = default_of(field.value);

		buf_clear(&key);
		json_decode_key(field.key, &key);
		/* of duplicate fields the last one counts */
		if (value.p && !key.full && json_get(fields, buf_view(&key)).p == field.value.p) {
			jw_key_str(w, buf_view(&key));
			jw_raw(w, value);
		}
	}
	buf_release(&key);
}

bool elicit_answer(struct str params, struct buf *result, struct buf *why)
{
	struct str schema = JSON_GET(params, "requestedSchema");
	struct str mode = JSON_GET(params, "mode");
	struct json_writer w;

	if (mode.p && !json_is(mode, STR("form"))) {
		buf_text(why, "not a form: mode ");
		buf_str(why, mode);
	} else if (json_type(schema) != JSON_OBJECT) {
		buf_text(why, "the request has no requestedSchema");
	} else if (!lacks_default(schema, why)) {
		jw_init(&w, result);
		jw_object(&w);
		jw_key(&w, "action");
		jw_text(&w, "accept");
		jw_key(&w, "content");
		jw_object(&w);
		write_content(&w, JSON_GET(schema, "properties"));
		jw_end(&w);
		jw_end(&w);
		return true;
	}
	buf_text(result, "{\"action\":\"decline\"}");
	return false;
}
