/* Lists of chat messages: see messages.h. */
#include "convert/messages.h"

bool messages_is(struct str value)
{
	struct str first;
	size_t cursor = 0;

	return json_type(value) == JSON_ARRAY && json_next(value, &cursor, &first) &&
	       json_type(JSON_GET(first, "role")) == JSON_STRING;
}

bool messages_may_be(struct str value)
{
	return messages_is(value) || (json_type(value) == JSON_ARRAY && !json_count(value));
}

bool messages_are_plain(struct str value)
{
	static const struct str names[] = {
		STR_INIT("format"),         STR_INIT("version"),
		STR_INIT("schema"),         STR_INIT("schema_version"),
		STR_INIT("format_version"), STR_INIT("trajectory_format"),
	};
	struct str v[ARRAY_LEN(names)] = {0};
	bool named = false;

	json_pick(value, names, ARRAY_LEN(names), v);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		named = named || json_type(v[i]) == JSON_STRING || json_type(v[i]) == JSON_NUMBER;
	}
	return !named && messages_is(JSON_GET(value, "messages"));
}

bool messages_have_objects(struct str messages)
{
	struct str message, call;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		size_t first = 0;

		if (json_next(JSON_GET(message, "tool_calls"), &first, &call)) {
			struct str function = JSON_GET(call, "function");

			return json_type(JSON_GET(function, "arguments")) == JSON_OBJECT;
		}
	}
	return false;
}

struct json_writer message_begin(struct import *m, const char *role)
{
	struct json_writer j;

	buf_clear(&m->value);
	jw_init(&j, &m->value);
	jw_object(&j);
	jw_put_text(&j, "role", role);
	return j;
}

struct str message_end(struct import *m, struct json_writer *j)
{
	jw_end(j);
	return arena_str(&m->arena, buf_view(&m->value));
}

struct str message_new(struct import *m, const char *role, struct str content)
{
	struct json_writer j = message_begin(m, role);

	jw_put_raw(&j, "content", content);
	return message_end(m, &j);
}
