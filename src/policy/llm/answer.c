/* Answers of the environment as text: see answer.h. */
#include "policy/llm/answer.h"

/* MCP's content: a list of objects, each with a type. */
static bool is_parts(struct str value)
{
	struct str each;

	if (json_type(value) != JSON_ARRAY || !json_count(value)) {
		return false;
	}
	for (size_t cursor = 0; json_next(value, &cursor, &each);) {
		if (json_type(each) != JSON_OBJECT ||
		    json_type(JSON_GET(each, "type")) != JSON_STRING) {
			return false;
		}
	}
	return true;
}

/* What an embedded resource has inside; the part itself where it is none. */
static struct str inner_of(struct str part)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(part, &cursor, &m);) {
		if (m.type == JSON_OBJECT && !json_key_is(m.key, STR("annotations")) &&
		    !json_key_is(m.key, STR("image_url"))) {
			return m.value;
		}
	}
	return part;
}

static void put_words(struct str value, const char *before, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		buf_text(out, before);
		json_decode(value, out);
	}
}

/* [image image/png, 1234 bytes] */
static void put_placeholder(struct str part, struct buf *out)
{
	struct str inner = inner_of(part), source = JSON_GET(part, "image_url");
	struct str data = JSON_GET(part, "data");

	data = data.p ? data : JSON_GET(inner, "blob");
	buf_char(out, '[');
	json_decode(JSON_GET(part, "type"), out);
	put_words(JSON_GET(inner, "uri"), " ", out);
	put_words(JSON_GET(inner, "mimeType"), " ", out);
	if (json_type(data) == JSON_STRING) {
		buf_printf(out, ", %zu bytes", json_inner(data).n / 4 * 3);
	} else if (json_type(source) == JSON_OBJECT) {
		buf_printf(out, ", %zu bytes of URL", json_inner(JSON_GET(source, "url")).n);
	}
	buf_char(out, ']');
}

static void put_part(struct str part, struct buf *out)
{
	struct str text = JSON_GET(part, "text");

	if (json_type(text) != JSON_STRING) {
		text = JSON_GET(inner_of(part), "text");
	}
	if (json_type(text) == JSON_STRING) {
		json_decode(text, out);
	} else {
		put_placeholder(part, out);
	}
}

void answer_text(struct str observation, struct buf *out)
{
	struct str each;
	size_t begin = out->n;

	if (json_is_null(observation)) {
		return;
	}
	if (!is_parts(observation)) {
		json_text_or_json(observation, out);
		return;
	}
	for (size_t cursor = 0; json_next(observation, &cursor, &each);) {
		buf_text(out, out->n > begin ? "\n" : "");
		put_part(each, out);
	}
}
