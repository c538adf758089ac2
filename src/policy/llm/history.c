/* Histories in forms that chat templates accept: see history.h. The messages are those that
   templates on Hugging Face raise and servers return with status 400 or 500. */
#include "policy/llm/history.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"

static const struct {
	const char *pattern;
	enum history_form form;
} sentences[] = {
	{"*ystem role not supported*", HISTORY_SYSTEM_AS_USER},
	{"*ystem role is not supported*", HISTORY_SYSTEM_AS_USER},
	{"*ystem message is not supported*", HISTORY_SYSTEM_AS_USER},
	{"*ystem messages are not supported*", HISTORY_SYSTEM_AS_USER},
	{"*roles must alternate*", HISTORY_SYSTEM_AS_USER},
	{"*nly user and assistant roles are supported*", HISTORY_SYSTEM_AS_USER},
	{"*single tool-call*", HISTORY_SINGLE_CALLS},
	{"*one tool call at*", HISTORY_SINGLE_CALLS},
	{"*must be a response to a prece*", HISTORY_RESULTS_AS_USER},
	{"*no previous assistant message with a tool call*", HISTORY_RESULTS_AS_USER},
	{"*nexpected role 'tool'*", HISTORY_RESULTS_AS_USER},
	{"*roles must alternate*", HISTORY_RESULTS_AS_USER},
};

void chat_history_init(struct history *h)
{
	*h = (struct history){.sent = BUF(BUF_MAX_MESSAGE), .calls = BUF(BUF_MAX_MESSAGE)};
}

void chat_history_release(struct history *h)
{
	buf_release(&h->sent);
	buf_release(&h->calls);
}

const char *chat_history_form_name(enum history_form f)
{
	return f == HISTORY_SYSTEM_AS_USER    ? "system-as-user"
	       : f == HISTORY_SINGLE_CALLS    ? "single-calls"
	       : f == HISTORY_RESULTS_AS_USER ? "results-as-user"
	                                      : "usual";
}

enum history_form chat_history_wanted(const struct history *h, struct str sentence)
{
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		if (!(h->forms & sentences[i].form) &&
		    text_glob(str_from(sentences[i].pattern), sentence)) {
			return sentences[i].form;
		}
	}
	return HISTORY_USUAL;
}

static void begin(struct history *h)
{
	buf_text(&h->sent, h->sent.n ? "," : "");
	h->last = h->sent.n;
}

/* ---- messages of the user ---- */

/* Appends the content as parts, comma separated. */
static void put_parts(struct str content, struct buf *out)
{
	if (json_type(content) == JSON_ARRAY) {
		buf_str(out, (struct str){content.p + 1, content.n - 2});
	} else {
		buf_text(out, "{\"type\":\"text\",\"text\":");
		buf_str(out, content);
		buf_char(out, '}');
	}
}

static void put_joined(struct str before, struct str content, struct buf *out)
{
	if (json_type(before) == JSON_STRING && json_type(content) == JSON_STRING) {
		buf_char(out, '"');
		buf_str(out, json_inner(before));
		buf_text(out, before.n > 2 && content.n > 2 ? "\\n" : "");
		buf_str(out, json_inner(content));
		buf_char(out, '"');
		return;
	}
	buf_char(out, '[');
	put_parts(before, out);
	buf_char(out, ',');
	put_parts(content, out);
	buf_char(out, ']');
}

static void say_user(struct history *h, struct str content)
{
	struct buf joined = BUF(BUF_MAX_MESSAGE);

	if (h->user_last) {
		struct str last = str_skip(buf_view(&h->sent), h->last);

		put_joined(JSON_GET(last, "content"), content, &joined);
		buf_cut(&h->sent, h->last);
		h->same = h->same < h->last ? h->same : h->last;
	} else {
		begin(h);
		buf_str(&joined, content);
	}
	buf_text(&h->sent, "{\"role\":\"user\",\"content\":");
	buf_str(&h->sent, buf_view(&joined));
	buf_char(&h->sent, '}');
	h->sent.full |= joined.full;
	h->user_last = true;
	buf_release(&joined);
}

/* A result as tool_format_result() writes it for any model. */
static void say_result(struct history *h, struct str content)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_text(&text, "\"<tool_response>\\n");
	buf_str(&text, json_inner(content));
	buf_text(&text, "\\n</tool_response>\"");
	h->sent.full |= text.full;
	say_user(h, buf_view(&text));
	buf_release(&text);
}

/* ---- one call at a time ---- */

/* Writes the pending message with only the call of that id; its text only with the first one. */
static void put_single(struct history *h, struct str id)
{
	struct str message = buf_view(&h->calls), call = STR_NONE;
	struct json_member m;
	struct json_writer w;
	size_t cursor = 0, n = 0;

	while (json_next(JSON_GET(message, "tool_calls"), &cursor, &call) &&
	       !str_eq(JSON_GET(call, "id"), id)) {
		n++;
	}
	if (!id.p || !str_eq(JSON_GET(call, "id"), id)) {
		return; /* no such call: the server will report it */
	}
	begin(h);
	jw_init(&w, &h->sent);
	jw_object(&w);
	for (cursor = 0; json_next_member(message, &cursor, &m);) {
		jw_key_str(&w, m.key);
		if (json_key_is(m.key, STR("tool_calls"))) {
			jw_array(&w);
			jw_raw(&w, call);
			jw_end(&w);
		} else {
			jw_raw(&w, n && json_key_is(m.key, STR("content")) ? STR("\"\"") : m.value);
		}
	}
	jw_end(&w);
}

/* In nearly all messages the first member: the others are then not looked at. */
static struct str role_of(struct str message)
{
	struct json_member first;
	size_t cursor = 0;

	return json_next_member(message, &cursor, &first) && json_key_is(first.key, STR("role"))
	               ? first.value
	               : JSON_GET(message, "role");
}

void chat_history_add(struct history *h, struct str message)
{
	struct str role = role_of(message);
	bool single = (h->forms & HISTORY_SINGLE_CALLS) != 0;

	if (json_is(role, STR("user")) ||
	    (json_is(role, STR("system")) && h->forms & HISTORY_SYSTEM_AS_USER)) {
		say_user(h, JSON_GET(message, "content"));
		return;
	}
	if (h->forms & HISTORY_RESULTS_AS_USER && json_is(role, STR("tool")) && !h->called) {
		say_result(h, JSON_GET(message, "content"));
		return;
	}
	h->user_last = false;
	if (h->forms & HISTORY_RESULTS_AS_USER && json_is(role, STR("assistant"))) {
		h->called = JSON_GET(message, "tool_calls").p != NULL;
	}
	if (single && json_count(JSON_GET(message, "tool_calls")) > 1) {
		buf_clear(&h->calls);
		buf_str(&h->calls, message);
		return; /* each call is written before its result */
	}
	if (single && h->calls.n && json_is(role, STR("tool"))) {
		put_single(h, JSON_GET(message, "tool_call_id"));
	}
	begin(h);
	buf_str(&h->sent, message);
}

void chat_history_reform(struct history *h, enum history_form f, struct str messages)
{
	struct buf list = BUF(2 * BUF_MAX_MESSAGE);
	struct str each;

	h->forms |= f;
	h->user_last = h->called = false;
	h->same = 0;
	buf_clear(&h->sent);
	buf_clear(&h->calls);
	buf_char(&list, '[');
	buf_str(&list, messages);
	buf_char(&list, ']');
	for (size_t cursor = 0; json_next(buf_view(&list), &cursor, &each);) {
		chat_history_add(h, each);
	}
	buf_release(&list);
}
