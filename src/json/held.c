/* Containers held in strings: see held.h. */
#include "json/held.h"

struct str json_held(struct str value, struct buf *text)
{
	enum json_type type = json_type(value);
	struct json_fault fault;

	if (type == JSON_OBJECT || type == JSON_ARRAY) {
		return value;
	}
	if (type != JSON_STRING || (value.p[1] != '{' && value.p[1] != '[')) {
		return STR_NONE;
	}
	text->max = value.n;
	json_decode(value, text);
	return json_validate(buf_view(text), &fault) ? STR_NONE : buf_view(text);
}
