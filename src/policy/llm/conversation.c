/* Conversations and prompts: see conversation.h. */
#include "policy/llm/conversation.h"

#include "json/canon.h"
#include "json/write.h"
#include "policy/llm/tool_result.h"

void conversation_init(struct conversation *c)
{
	*c = (struct conversation){.messages = BUF(BUF_MAX_MESSAGE),
	                           .hasher = hasher_new(),
	                           .scratch = BUF(BUF_MAX_MESSAGE)};
	chat_history_init(&c->history);
}

void conversation_release(struct conversation *c)
{
	buf_release(&c->messages);
	chat_history_release(&c->history);
	buf_release(&c->scratch);
	hasher_free(c->hasher);
}

void conversation_chain(struct hasher *h, struct str message, struct buf *scratch,
                        char hash[HASH_HEX + 1])
{
	buf_clear(scratch);
	buf_text(scratch, hash);
	json_canon(message, NULL, JSON_EDIT_DROP, scratch);
	hash_hex(h, buf_view(scratch), hash);
}

/* The bytes from `begin` on are one new message. */
static void message_added(struct conversation *c, size_t begin)
{
	struct str message = str_skip(buf_view(&c->messages), begin);

	conversation_chain(c->hasher, message, &c->scratch, c->hash);
	chat_history_add(&c->history, message);
}

static size_t begin_message(struct conversation *c)
{
	if (c->messages.n) {
		buf_char(&c->messages, ',');
	}
	return c->messages.n;
}

void conversation_add_text(struct conversation *c, const char *role, struct str text)
{
	size_t begin = begin_message(c);

	json_put(&c->messages, "{role:%t,content:%s}", role, text);
	message_added(c, begin);
}

void conversation_add_result(struct conversation *c, struct str id, struct str name,
                             struct str text)
{
	size_t begin = begin_message(c);

	json_put(&c->messages, "{role:'tool',tool_call_id:%s,name:%?s,content:%s}", id, name, text);
	message_added(c, begin);
}

void conversation_add_parts(struct conversation *c, struct str parts)
{
	size_t begin = begin_message(c);

	buf_text(&c->messages, "{\"role\":\"user\",\"content\":[");
	buf_str(&c->messages, parts);
	buf_text(&c->messages, "]}");
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

	while (n < s.n && is_name(s.p[n])) {
		n++;
	}
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
	while (out->n && out->p[out->n - 1] == '\n') {
		buf_cut(out, out->n - 1);
	}
}
