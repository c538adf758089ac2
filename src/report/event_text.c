/* Events as text: see event_text.h. A detail is an object: {"why":TEXT}, or other members, one of
   which may be a JSON-RPC message, as received. */
#include "report/event_text.h"

#include "report/brief.h"

/* Members that are only of use to programs. */
static bool is_for_programs(struct str key)
{
	static const struct str keys[] = {STR_INIT("class"), STR_INIT("http_status"),
	                                  STR_INIT("wait_ms"), STR_INIT("_meta"),
	                                  STR_INIT("progressToken")};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (str_eq(key, keys[i]))
			return true;
	return false;
}

/* The text of a message in an object, as loggers write it: {"msg":"..","extra":null}. */
static struct str text_in(struct str value)
{
	static const struct str keys[] = {STR_INIT("msg"), STR_INIT("message"), STR_INIT("text")};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str text = json_get(value, keys[i]);

		if (json_type(text) == JSON_STRING)
			return text;
	}
	return value;
}

/* Does the value need no name? */
static bool is_named_by_value(struct str key)
{
	return str_is(key, "what") || str_is(key, "channel") || str_is(key, "text") ||
	       str_is(key, "message") || str_is(key, "data");
}

static bool is_worth_showing(const struct json_member *m)
{
	bool empty = (m->type == JSON_ARRAY || m->type == JSON_OBJECT) && !json_count(m->value);

	return !is_for_programs(m->key) && m->type != JSON_NULL && !empty;
}

/* "a, b" of a list of words, such as names of tools. */
static bool put_list(struct buf *out, struct str list)
{
	struct str word;
	size_t cursor = 0;

	while (json_next(list, &cursor, &word))
		if (json_type(word) != JSON_STRING)
			return false;
	cursor = 0;
	for (const char *between = ""; json_next(list, &cursor, &word); between = ", ") {
		buf_text(out, between);
		brief_text(out, word);
	}
	return true;
}

static void put_value(struct buf *out, struct str value)
{
	if (json_type(value) != JSON_ARRAY || !put_list(out, value))
		brief_text(out, value);
	while (out->n && out->p[out->n - 1] == '\n') /* of a line of stderr */
		buf_cut(out, out->n - 1);
}

/* "too_large" as "too large ". */
static void put_key(struct buf *out, struct str key)
{
	size_t at = out->n;

	buf_str(out, key);
	for (; at < out->n; at++)
		out->p[at] = out->p[at] == '_' ? ' ' : out->p[at];
	buf_char(out, ' ');
}

/* ---- JSON-RPC messages ---- */

/* ": level info, logger db: disk almost full" */
static void put_params(struct buf *out, struct str params)
{
	struct json_member m;
	size_t cursor = 0;
	bool first = true;

	while (json_next_member(params, &cursor, &m)) {
		if (!is_worth_showing(&m))
			continue;
		bool named = is_named_by_value(m.key);
		buf_text(out, first || named ? ": " : ", ");
		if (!named)
			put_key(out, m.key);
		put_value(out, named ? text_in(m.value) : m.value);
		first = false;
	}
}

static void put_message(struct buf *out, struct str message)
{
	struct str method = JSON_GET(message, "method"), error = JSON_GET(message, "error");

	if (json_type(method) == JSON_STRING) {
		brief_text(out, method);
		put_params(out, JSON_GET(message, "params"));
		return;
	}
	buf_text(out, "response to request ");
	put_value(out, JSON_GET(message, "id"));
	if (json_type(error) == JSON_OBJECT)
		put_params(out, error);
}

/* ---- events ---- */

static void put_member(struct buf *out, const struct json_member *m, bool first)
{
	bool text = str_is(m->key, "text") || str_is(m->key, "message");

	if (str_is(m->key, "params") && m->type == JSON_OBJECT) {
		put_params(out, m->value);
		return;
	}
	buf_text(out, first || text ? ": " : ", ");
	if (JSON_GET(m->value, "jsonrpc").p) {
		put_message(out, m->value);
		return;
	}
	if (!is_named_by_value(m->key))
		put_key(out, m->key);
	put_value(out, m->value);
}

void event_text(struct buf *out, const struct line *event)
{
	struct str detail = event->value[KEY_DETAIL], why = JSON_GET(detail, "why");
	struct json_member m;
	size_t cursor = 0;
	bool first = true;

	buf_str(out, json_inner(event->value[KEY_EVENT]));
	if (json_type(why) == JSON_STRING && json_inner(why).n) {
		buf_text(out, ": ");
		brief_text(out, why);
		return;
	}
	if (json_type(detail) != JSON_OBJECT) {
		if (!json_is_null(detail)) {
			buf_text(out, ": ");
			put_value(out, detail);
		}
		return;
	}
	while (json_next_member(detail, &cursor, &m)) {
		if (is_worth_showing(&m)) {
			put_member(out, &m, first);
			first = false;
		}
	}
}
