/* Events as text: see event_text.h. A detail is an object: {"why":TEXT}, or other members, one of
   which may be a JSON-RPC message, as received. */
#include "report/event_text.h"

#include "report/brief.h"

#define LEVELS 4 /* detail, message, params, data */

static bool is_one_of(struct str key, const char *const *names)
{
	while (*names && !str_is(key, *names))
		names++;
	return *names;
}

static bool is_worth_showing(const struct json_member *m)
{
	static const char *const for_programs[] = {
		"class", "http_status", "wait_ms", "_meta", "progressToken", "jsonrpc", NULL};
	bool empty = (m->type == JSON_ARRAY || m->type == JSON_OBJECT) && !json_count(m->value);

	return !is_one_of(m->key, for_programs) && m->type != JSON_NULL && !empty;
}

/* "too_large 3"; of some members the value only. */
static void put_member(struct buf *out, const struct json_member *m)
{
	static const char *const shown_by_value[] = {"what", "channel", "text", "message",
	                                             "msg",  "method",  "data", NULL};
	size_t at = out->n, cursor = 0;
	struct str word;

	if (!is_one_of(m->key, shown_by_value)) {
		buf_str(out, m->key);
		buf_char(out, ' ');
	}
	for (; at < out->n; at++)
		out->p[at] = out->p[at] == '_' ? ' ' : out->p[at];
	if (m->type != JSON_ARRAY)
		brief_text(out, m->value);
	for (const char *between = ""; json_next(m->value, &cursor, &word); between = ", ") {
		buf_text(out, between);
		brief_text(out, word);
	}
	while (out->n && out->p[out->n - 1] == '\n') /* of a line of stderr */
		buf_cut(out, out->n - 1);
}

/* The members, and those of the message within, on one level. */
static void put_members(struct buf *out, struct str detail)
{
	static const char *const nested[] = {"message", "params", "data", "error", NULL};
	struct str object[LEVELS] = {detail};
	size_t cursor[LEVELS] = {0}, depth = 0;
	const char *between = ": ";
	struct json_member m;

	while (depth < LEVELS) {
		if (!json_next_member(object[depth], &cursor[depth], &m)) {
			depth--; /* below the first one: SIZE_MAX */
		} else if (m.type == JSON_OBJECT && depth + 1 < LEVELS &&
		           is_one_of(m.key, nested)) {
			object[++depth] = m.value;
			cursor[depth] = 0;
		} else if (is_worth_showing(&m)) {
			buf_text(out, between);
			put_member(out, &m);
			between = ", ";
		}
	}
}

void event_text(struct buf *out, const struct line *event)
{
	struct str detail = event->value[KEY_DETAIL], why = JSON_GET(detail, "why");

	if (json_type(why) == JSON_STRING && json_inner(why).n)
		detail = why;
	buf_str(out, json_inner(event->value[KEY_EVENT]));
	if (json_type(detail) == JSON_OBJECT) {
		put_members(out, detail);
	} else if (!json_is_null(detail)) {
		buf_text(out, ": ");
		brief_text(out, detail);
	}
}
