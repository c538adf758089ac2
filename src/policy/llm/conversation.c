/* Conversations and prompts: see conversation.h. */
#include "policy/llm/conversation.h"

#include "base/text.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/write.h"

/* ---- results as text ---- */

#define BASE64_LEAST 1024 /* minimum run of characters: longer than tokens, hashes and keys */

/* MCP's content: an array of objects that each have a type. */
static bool is_parts(struct str value)
{
	struct str each;

	if (json_type(value) != JSON_ARRAY || !json_count(value))
		return false;
	for (size_t cursor = 0; json_next(value, &cursor, &each);) {
		if (json_type(each) != JSON_OBJECT ||
		    json_type(JSON_GET(each, "type")) != JSON_STRING) {
			return false;
		}
	}
	return true;
}

/* The contents of an embedded resource; otherwise the part itself. */
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

static void put_result_words(struct str value, const char *before, struct buf *out)
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
	put_result_words(JSON_GET(inner, "uri"), " ", out);
	put_result_words(JSON_GET(inner, "mimeType"), " ", out);
	if (json_type(data) == JSON_STRING)
		buf_printf(out, ", %zu bytes", json_inner(data).n / 4 * 3);
	else if (json_type(source) == JSON_OBJECT)
		buf_printf(out, ", %zu bytes of URL", json_inner(JSON_GET(source, "url")).n);
	buf_char(out, ']');
}

static void put_part(struct str part, struct buf *out)
{
	struct str text = JSON_GET(part, "text");

	if (json_type(text) != JSON_STRING)
		text = JSON_GET(inner_of(part), "text");
	if (json_type(text) == JSON_STRING)
		json_decode(text, out);
	else
		put_placeholder(part, out);
}

/* The length of a run of base64 at the start of s. Encoded binary data uses all classes of
   characters; long words that use few, such as gene sequences, are text. */
static size_t base64_run(struct str s)
{
	bool small = false, large = false, digit = false;
	size_t n = 0;

	for (; n < s.n; n++) {
		char c = s.p[n];

		small |= c >= 'a' && c <= 'z';
		large |= c >= 'A' && c <= 'Z';
		digit |= c >= '0' && c <= '9';
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr("+/=-_", c)) {
			break;
		}
	}
	return n >= BASE64_LEAST && small && large && digit ? n : 0;
}

/* Base64 can only start at the beginning, or after a character that is not base64. */
static bool is_boundary(struct str s, size_t at)
{
	return at == 0 || !((s.p[at - 1] >= '0' && s.p[at - 1] <= '9') ||
	                    (s.p[at - 1] >= 'A' && s.p[at - 1] <= 'Z') ||
	                    (s.p[at - 1] >= 'a' && s.p[at - 1] <= 'z'));
}

static void replace_base64(struct buf *out, size_t begin)
{
	struct str s = str_skip(buf_view(out), begin);
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	size_t done = 0, run;

	if (s.n < BASE64_LEAST)
		return;
	for (size_t at = 0; at < s.n; at++) {
		run = is_boundary(s, at) ? base64_run(str_skip(s, at)) : 0;
		if (run) {
			buf_str(&text, (struct str){s.p + done, at - done});
			buf_printf(&text, "[base64, %zu bytes]", run / 4 * 3);
			at += run - 1;
			done = at + 1;
		}
	}
	if (done) {
		buf_str(&text, str_skip(s, done));
		buf_cut(out, begin);
		buf_str(out, buf_view(&text));
	}
}

void tool_result_text(struct str observation, struct buf *out)
{
	struct str each;
	size_t begin = out->n;

	if (json_is_null(observation))
		return;
	if (!is_parts(observation)) {
		json_text_or_json(observation, out);
		replace_base64(out, begin);
		return;
	}
	for (size_t cursor = 0; json_next(observation, &cursor, &each);) {
		buf_text(out, out->n > begin ? "\n" : "");
		put_part(each, out);
	}
	replace_base64(out, begin);
}

/* ---- prompts ---- */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

/* The placeholder's name at the start of s; absent: none. */
static struct str placeholder(struct str s)
{
	size_t n = 1;

	while (n < s.n && is_name(s.p[n]))
		n++;
	return n > 1 && n < s.n && s.p[n] == '}' ? (struct str){s.p + 1, n - 1} : STR_NONE;
}

static bool find_value(const struct prompt_values *v, struct str name, struct str *value)
{
	if (str_is(name, "observation")) {
		*value = v->observation;
	} else if (str_is(name, "state")) {
		*value = v->state;
	} else {
		*value = json_get(v->vars, name);
		return value->p != NULL;
	}
	return true;
}

/* Appends one line. False: all its placeholders were empty, and it has no other text. */
static bool fill_line(struct str line, const struct prompt_values *v, struct buf *out)
{
	bool empty = true, replaced = false;
	struct str value, name;

	for (size_t i = 0; i < line.n; i++) {
		name = line.p[i] == '{' ? placeholder(str_skip(line, i)) : STR_NONE;
		bool task = str_is(name, "task") && !json_get(v->vars, name).p;

		if (!name.p || (!task && !find_value(v, name, &value))) {
			buf_char(out, line.p[i]);
			empty &= line.p[i] == ' ';
			continue;
		}
		replaced = true;
		if (task) {
			buf_text(out, v->task);
			empty &= !*v->task;
		} else if (!json_is_null(value)) {
			tool_result_text(value, out);
			empty = false;
		}
		i += name.n + 1;
	}
	return !(empty && replaced);
}

void prompt_fill(const char *template, const struct prompt_values *v, struct buf *out)
{
	struct str rest = str_from(template);

	while (rest.n) {
		const char *feed = memchr(rest.p, '\n', rest.n);
		size_t n = feed ? (size_t)(feed - rest.p) : rest.n, before = out->n;

		if (!fill_line((struct str){rest.p, n}, v, out)) {
			buf_cut(out, before);
			n += feed != NULL;
		} else if (feed) {
			buf_char(out, '\n');
			n++;
		}
		rest = str_skip(rest, n);
	}
	while (out->n && out->p[out->n - 1] == '\n')
		buf_cut(out, out->n - 1);
}

/* ---- the history in the form it is sent ---- */

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

/* content: a raw string; it is appended to a message of the user before it. */
static void say_user(struct history *h, struct str content)
{
	struct str text = json_inner(content);

	if (h->user_last) {
		struct str before =
			json_inner(JSON_GET(str_skip(buf_view(&h->sent), h->last), "content"));

		buf_cut(&h->sent, h->sent.n - strlen("\"}"));
		buf_text(&h->sent, before.n && text.n ? "\\n" : "");
	} else {
		begin(h);
		buf_text(&h->sent, "{\"role\":\"user\",\"content\":\"");
	}
	buf_str(&h->sent, text);
	buf_text(&h->sent, "\"}");
	h->user_last = true;
}

/* A result as tool_format_result() writes it for any model. */
static void say_result(struct history *h, struct str content)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	buf_text(&text, "\"<tool_response>\\n");
	buf_str(&text, json_inner(content));
	buf_text(&text, "\\n</tool_response>\"");
	h->sent.full |= text.full;
	say_user(h, buf_view(&text));
}

/* ---- one call at a time ---- */

/* Writes the pending message with only the call of that id; its text only with the first one. */
static void put_single(struct history *h, struct str id)
{
	struct str message = buf_view(&h->calls), call = STR_NONE;
	struct json_member m;
	size_t cursor = 0, n = 0;

	while (json_next(JSON_GET(message, "tool_calls"), &cursor, &call) &&
	       !str_eq(JSON_GET(call, "id"), id)) {
		n++;
	}
	if (!id.p || !str_eq(JSON_GET(call, "id"), id))
		return; /* no such call: the server will report it */
	begin(h);
	struct json_writer w = jw_begin(&h->sent);
	for (cursor = 0; json_next_member(message, &cursor, &m);) {
		jw_key_spelled(&w, m.key);
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

static void add_to_history(struct history *h, struct str message)
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
	if (h->forms & HISTORY_RESULTS_AS_USER && json_is(role, STR("assistant")))
		h->called = JSON_GET(message, "tool_calls").p != NULL;
	if (single && json_count(JSON_GET(message, "tool_calls")) > 1) {
		buf_set(&h->calls, message);
		return; /* each call is written before its result */
	}
	if (single && h->calls.n && json_is(role, STR("tool")))
		put_single(h, JSON_GET(message, "tool_call_id"));
	begin(h);
	buf_str(&h->sent, message);
}

void chat_history_reform(struct history *h, enum history_form f, struct str messages)
{
	AUTO_BUF list = BUF(2 * BUF_MAX_MESSAGE);
	struct str each;

	h->forms |= f;
	h->user_last = h->called = false;
	buf_clear(&h->sent);
	buf_clear(&h->calls);
	buf_char(&list, '[');
	buf_str(&list, messages);
	buf_char(&list, ']');
	for (size_t cursor = 0; json_next(buf_view(&list), &cursor, &each);)
		add_to_history(h, each);
}

/* ---- the conversation ---- */

void conversation_init(struct conversation *c)
{
	*c = (struct conversation){
		.messages = BUF(BUF_MAX_MESSAGE),
		.history = {.sent = BUF(BUF_MAX_MESSAGE), .calls = BUF(BUF_MAX_MESSAGE)},
		.scratch = BUF(BUF_MAX_MESSAGE)};
}

void conversation_release(struct conversation *c)
{
	BUFS_RELEASE(&c->messages, &c->history.sent, &c->history.calls, &c->scratch);
}

void conversation_chain(struct str message, struct buf *scratch, char hash[HASH_HEX + 1])
{
	buf_set(scratch, str_from(hash));
	json_canon(message, NULL, JSON_EDIT_DROP, scratch);
	hash_hex(buf_view(scratch), hash);
}

/* The bytes from `begin` on are one new message. */
static void message_added(struct conversation *c, size_t begin)
{
	struct str message = str_skip(buf_view(&c->messages), begin);

	conversation_chain(message, &c->scratch, c->hash);
	add_to_history(&c->history, message);
}

static size_t begin_message(struct conversation *c)
{
	if (c->messages.n)
		buf_char(&c->messages, ',');
	return c->messages.n;
}

void conversation_add_text(struct conversation *c, const char *role, struct str text)
{
	size_t begin = begin_message(c);

	json_pack(&c->messages, "{role:%t,content:%s}", role, text);
	message_added(c, begin);
}

void conversation_add_result(struct conversation *c, struct str id, struct str name,
                             struct str text)
{
	size_t begin = begin_message(c);

	json_pack(&c->messages, "{role:'tool',tool_call_id:%s,name:%?s,content:%s}", id, name,
	          text);
	message_added(c, begin);
}

void conversation_add(struct conversation *c, struct str message)
{
	size_t begin = begin_message(c);

	buf_str(&c->messages, message);
	message_added(c, begin);
}

struct str conversation_added(struct conversation *c)
{
	struct str s = str_skip(buf_view(&c->messages), c->taken);

	c->taken = c->messages.n;
	return s.n && s.p[0] == ',' ? str_skip(s, 1) : s;
}
