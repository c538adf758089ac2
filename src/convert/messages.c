/* See messages.h. */
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
