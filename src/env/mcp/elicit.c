/* Answers elicitation requests: see elicit.h. */
#include "env/mcp/elicit.h"

#include "json/index.h"
#include "json/write.h"

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
		if (!again && !JSON_GET(json_index_find(fields, text), "default").p)
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
		struct str value = last ? JSON_GET(field.value, "default") : STR_NONE;

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
