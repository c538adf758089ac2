/* Answers elicitation requests: see elicit.h. */
#include "env/mcp/elicit.h"

#include "json/index.h"
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

/* ---- options of a field ---- */

/* The options of a field by their texts. Options are an "enum", or the "const" of each entry of
   "oneOf" or "anyOf". */
struct offers {
	struct arena arena;
	struct map texts;
	bool limited; /* there are options: nothing else is valid */
};

static void add_offer(struct offers *o, struct str option)
{
	struct map_item *item;

	if (json_type(option) != JSON_STRING)
		return;
	uint64_t hash = map_hash(json_text(&o->arena, option));
	if (!map_find(&o->texts, hash, STR_NONE)) {
		item = arena_new(&o->arena, sizeof(*item));
		map_add(&o->texts, item, hash);
	}
}

static void offers_begin(struct offers *o, struct str field)
{
	static const struct str keys[] = {{"enum", 4}, {"oneOf", 5}, {"anyOf", 5}};
	struct str each;

	*o = (struct offers){.limited = false};
	for (size_t i = 0; i < ARRAY_LEN(keys) && !o->limited; i++) {
		struct str list = json_get(field, keys[i]);

		o->limited = json_type(list) == JSON_ARRAY;
		for (size_t cursor = 0; o->limited && json_next(list, &cursor, &each);)
			add_offer(o, i ? JSON_GET(each, "const") : each);
	}
}

static bool is_offered(const struct offers *o, struct str value)
{
	struct arena scratch = {0};
	bool is = !o->limited ||
	          (json_type(value) == JSON_STRING &&
	           map_find(&o->texts, map_hash(json_text(&scratch, value)), STR_NONE));

	arena_release(&scratch);
	return is;
}

/* ---- defaults ---- */

static bool are_offered(const struct offers *o, struct str list)
{
	struct str each;

	for (size_t cursor = 0; json_next(list, &cursor, &each);)
		if (json_type(each) != JSON_STRING || !is_offered(o, each))
			return false;
	return true;
}

/* The field's default; absent if it has no valid one. */
static struct str default_of(struct str field)
{
	struct str value = JSON_GET(field, "default");
	bool list = json_type(value) == JSON_ARRAY;
	struct offers offers;

	if (!fits_type(JSON_GET(field, "type"), value))
		return STR_NONE;
	offers_begin(&offers, list ? JSON_GET(field, "items") : field);
	bool valid = list ? are_offered(&offers, value) : is_offered(&offers, value);
	arena_release(&offers.arena);
	return valid ? value : STR_NONE;
}

/* Is there a required field without a default? Its name is written to why. */
static bool lacks_default(struct str required, const struct json_index *fields, struct buf *why)
{
	struct json_index wanted;
	struct arena names = {0};
	struct str name, lacking = STR_NONE;

	json_index_begin(&wanted, required);
	for (size_t cursor = 0; !lacking.p && json_next(required, &cursor, &name);) {
		struct str text = json_text(&names, name);

		if (!text.p) {
			lacking = name;
			continue;
		}
		/* a repeated name is checked once */
		bool again = json_index_find(&wanted, text).p != name.p;
		if (!again && !default_of(json_index_find(fields, text)).p)
			lacking = name;
	}
	if (lacking.p) {
		buf_text(why, "no default for the required field ");
		buf_str(why, lacking);
	}
	json_index_release(&wanted);
	arena_release(&names);
	return lacking.p != NULL;
}

static void write_content(struct json_writer *w, struct str properties,
                          const struct json_index *fields)
{
	struct arena names = {0};
	struct json_member field;

	for (size_t cursor = 0; json_next_member(properties, &cursor, &field);) {
		struct str name = json_key_text(&names, field.key);
		/* of duplicate fields the last one counts */
		bool last = json_index_find(fields, name).p == field.value.p;
		struct str value = last ? default_of(field.value) : STR_NONE;

		if (value.p)
			jw_put_member(w, name, value);
	}
	arena_release(&names);
}

/* False: a required field has no default. */
static bool answer_form(struct str schema, struct buf *result, struct buf *why)
{
	struct str properties = JSON_GET(schema, "properties");
	struct json_index fields;
	struct json_writer w;

	json_index_begin(&fields, properties);
	bool lacking = lacks_default(JSON_GET(schema, "required"), &fields, why);
	if (!lacking) {
		w = jw_begin(result);
		jw_put_text(&w, "action", "accept");
		jw_put_object(&w, "content");
		write_content(&w, properties, &fields);
		jw_end(&w);
		jw_end(&w);
	}
	json_index_release(&fields);
	return !lacking;
}

bool elicit_answer(struct str params, struct buf *result, struct buf *why)
{
	struct str schema = JSON_GET(params, "requestedSchema");
	struct str mode = JSON_GET(params, "mode");

	if (mode.p && !json_is(mode, STR("form"))) {
		buf_text(why, "not a form: mode ");
		buf_str(why, mode);
	} else if (json_type(schema) != JSON_OBJECT) {
		buf_text(why, "the request has no requestedSchema");
	} else if (answer_form(schema, result, why)) {
		return true;
	}
	buf_text(result, "{\"action\":\"decline\"}");
	return false;
}
