/* Reading scripts of the scripted model: see llm_script.h. */
#include "serve/llm_script.h"

#include "base/file.h"
#include "base/text.h"

#include <stddef.h>
#include <stdio.h>

#define SCRIPT_MAX ((size_t)256 << 20)
#define KEYS_MAX   32

enum field_kind {
	FIELD_ANY,
	FIELD_STRING, /* raw, a string */
	FIELD_ARRAY,
	FIELD_OBJECT,
	FIELD_TEXT,   /* decoded */
	FIELD_LOOSE,  /* decoded; a number is taken as it is spelled */
	FIELD_BASE64, /* decoded */
	FIELD_COUNT,
	FIELD_SET, /* a flag */
	FIELD_UNSET,
	FIELD_DURATION,
	FIELD_SIZE,
	FIELD_WORD,  /* one of `words` */
	FIELD_INNER, /* read elsewhere; an object */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t at;
	const char *const *words;
};

struct reading {
	const char *path;
	struct llm_script *script;
	struct error *err;
	char where[64]; /* "replies[3].stream", or "" */
};

static const char *const then_words[] = {"end", "cycle", "last", NULL};
static const char *const close_words[] = {"not", "before", "within", NULL};
static const char *const index_words[] = {"right", "missing", "same", NULL};
static const char *const error_words[] = {"openai",       "vllm",    "fastapi",
                                          "fastapi-list", "gateway", "anthropic",
                                          "html",         "empty",   NULL};

#define IN_SCRIPT(member) offsetof(struct llm_script, member)
static const struct field script_fields[] = {
	{"models", FIELD_ARRAY, IN_SCRIPT(models), NULL},
	{"key", FIELD_TEXT, IN_SCRIPT(key), NULL},
	{"then", FIELD_WORD, IN_SCRIPT(then), then_words},
	{"replies", FIELD_INNER, 0, NULL},
};

#define IN_REPLY(member) offsetof(struct llm_reply, member)
static const struct field reply_fields[] = {
	{"when", FIELD_INNER, 0, NULL},
	{"stream", FIELD_INNER, 0, NULL},
	{"text", FIELD_STRING, IN_REPLY(text), NULL},
	{"calls", FIELD_ARRAY, IN_REPLY(calls), NULL},
	{"message", FIELD_OBJECT, IN_REPLY(message), NULL},
	{"finish_reason", FIELD_ANY, IN_REPLY(finish_reason), NULL},
	{"usage", FIELD_ANY, IN_REPLY(usage), NULL},
	{"logprobs", FIELD_ANY, IN_REPLY(logprobs), NULL},
	{"token_ids", FIELD_ANY, IN_REPLY(token_ids), NULL},
	{"prompt_token_ids", FIELD_ANY, IN_REPLY(prompt_token_ids), NULL},
	{"stop_reason", FIELD_ANY, IN_REPLY(stop_reason), NULL},
	{"status", FIELD_COUNT, IN_REPLY(status), NULL},
	{"error", FIELD_WORD, IN_REPLY(error), error_words},
	{"says", FIELD_STRING, IN_REPLY(says), NULL},
	{"code", FIELD_ANY, IN_REPLY(code), NULL},
	{"raw", FIELD_TEXT, IN_REPLY(raw), NULL},
	{"raw_base64", FIELD_BASE64, IN_REPLY(raw), NULL},
	{"headers", FIELD_OBJECT, IN_REPLY(headers), NULL},
	{"retry_after", FIELD_LOOSE, IN_REPLY(retry_after), NULL},
	{"delay", FIELD_DURATION, IN_REPLY(delay_ms), NULL},
	{"size", FIELD_SIZE, IN_REPLY(size), NULL},
	{"close", FIELD_WORD, IN_REPLY(close), close_words},
};

#define IN_WHEN(member) offsetof(struct llm_when, member)
static const struct field when_fields[] = {
	{"last", FIELD_TEXT, IN_WHEN(last), NULL},
	{"model", FIELD_TEXT, IN_WHEN(model), NULL},
	{"turn", FIELD_COUNT, IN_WHEN(turn), NULL},
	{"seed", FIELD_COUNT, IN_WHEN(seed), NULL},
};

#define IN_STREAM(member) offsetof(struct llm_stream, member)
static const struct field stream_fields[] = {
	{"every", FIELD_COUNT, IN_STREAM(every), NULL},
	{"piece", FIELD_COUNT, IN_STREAM(piece), NULL},
	{"comments", FIELD_SET, IN_STREAM(comments), NULL},
	{"crlf", FIELD_SET, IN_STREAM(crlf), NULL},
	{"done", FIELD_UNSET, IN_STREAM(no_done), NULL},
	{"finish", FIELD_UNSET, IN_STREAM(no_finish), NULL},
	{"usage", FIELD_UNSET, IN_STREAM(no_usage), NULL},
	{"repeat", FIELD_SET, IN_STREAM(repeat), NULL},
	{"index", FIELD_WORD, IN_STREAM(index), index_words},
	{"error", FIELD_STRING, IN_STREAM(error), NULL},
};

/* ---- values ---- */

static int bad_value(struct reading *r, const struct field *f, const char *wanted)
{
	return error_set(r->err, FAIL_INPUT, "script %s: %s%s\"%s\" is %s", r->path,
	                 r->where, *r->where ? ": " : "", f->name, wanted);
}

static struct str decoded(struct reading *r, struct str string)
{
	struct buf text = BUF(SCRIPT_MAX);

	json_decode(string, &text);
	struct str kept = arena_str(&r->script->arena, buf_view(&text));
	buf_release(&text);
	return kept;
}

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* RFC 4648 section 4; false: it is none. */
static bool unbase64(struct reading *r, struct str s, struct str *out)
{
	struct buf bytes = BUF(SCRIPT_MAX);
	uint32_t held = 0;
	unsigned bits = 0;

	while (s.n && s.p[s.n - 1] == '=') {
		s.n--;
	}
	for (size_t i = 0; i < s.n; i++) {
		int digit = base64_digit(s.p[i]);

		if (digit < 0) {
			buf_release(&bytes);
			return false;
		}
		held = held << 6 | (uint32_t)digit;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			buf_char(&bytes, (char)(held >> bits & 0xff));
		}
	}
	*out = arena_str(&r->script->arena, buf_view(&bytes));
	buf_release(&bytes);
	return true;
}

static int read_word(struct reading *r, const struct field *f, struct str value, int *out)
{
	struct buf near = BUF(BUF_MAX_SMALL);
	struct str word = decoded(r, value);
	size_t count = 0;

	for (; f->words[count]; count++) {
		if (str_is(word, f->words[count])) {
			*out = (int)count;
			return 0;
		}
	}
	text_suggest(&near, word, f->words, count);
	error_set(r->err, FAIL_INPUT, "script %s: %s%sunknown %s \"%.*s\"%s", r->path,
	          r->where, *r->where ? ": " : "", f->name, STR_ARG(word),
	          buf_cstr(&near));
	buf_release(&near);
	return -1;
}

static int read_number(struct reading *r, const struct field *f, struct str value,
                       struct llm_number *out)
{
	out->given = json_i64(value, &out->value) && out->value >= 0;
	return out->given ? 0 : bad_value(r, f, "not a whole number of at least 0");
}

static int read_flag(struct reading *r, const struct field *f, struct str value,
                     bool *out)
{
	bool on = false;

	if (!json_bool(value, &on)) {
		return bad_value(r, f, "neither true nor false");
	}
	*out = f->kind == FIELD_SET ? on : !on;
	return 0;
}

static int read_string(struct reading *r, const struct field *f, struct str value,
                       void *to)
{
	switch (f->kind) {
	case FIELD_TEXT:
		*(struct str *)to = decoded(r, value);
		return 0;
	case FIELD_BASE64:
		return unbase64(r, json_inner(value), to) ? 0
		                                          : bad_value(r, f, "no base64");
	case FIELD_DURATION:
		return text_duration_ms(decoded(r, value), to)
		               ? 0
		               : bad_value(r, f, "no duration with its unit (\"500ms\")");
	case FIELD_SIZE:
		return text_size(decoded(r, value), to)
		               ? 0
		               : bad_value(r, f, "no size with its unit (\"25MiB\")");
	case FIELD_WORD:
		return read_word(r, f, value, to);
	default:
		*(struct str *)to = value;
		return 0;
	}
}

static int read_value(struct reading *r, const struct field *f, struct str value,
                      void *to)
{
	enum json_type type = json_type(value);

	switch (f->kind) {
	case FIELD_ANY:
		*(struct str *)to = value;
		return 0;
	case FIELD_INNER:
		return 0;
	case FIELD_COUNT:
		return read_number(r, f, value, to);
	case FIELD_SET:
	case FIELD_UNSET:
		return read_flag(r, f, value, to);
	case FIELD_ARRAY:
	case FIELD_OBJECT:
		*(struct str *)to = value;
		if (type == (f->kind == FIELD_ARRAY ? JSON_ARRAY : JSON_OBJECT)) {
			return 0;
		}
		return bad_value(r, f, f->kind == FIELD_ARRAY ? "no array" : "no object");
	case FIELD_LOOSE:
		*(struct str *)to = type == JSON_STRING ? decoded(r, value) : value;
		return 0;
	default:
		return type == JSON_STRING ? read_string(r, f, value, to)
		                           : bad_value(r, f, "no string");
	}
}

/* ---- objects ---- */

static int unknown_key(struct reading *r, struct str key, const struct field *fields,
                       size_t count)
{
	const char *names[KEYS_MAX];
	struct buf near = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < count; i++) {
		names[i] = fields[i].name;
	}
	text_suggest(&near, key, names, count);
	error_set(r->err, FAIL_INPUT, "script %s: %s%sunknown key \"%.*s\"%s", r->path,
	          r->where, *r->where ? ": " : "", STR_ARG(key), buf_cstr(&near));
	buf_release(&near);
	return -1;
}

static int read_fields(struct reading *r, struct str object, const struct field *fields,
                       size_t count, void *to)
{
	struct json_member m;

	if (json_type(object) != JSON_OBJECT) {
		return error_set(r->err, FAIL_INPUT, "script %s: %s is no object",
		                 r->path, *r->where ? r->where : "it");
	}
	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		size_t i = 0;

		while (i < count && !str_is(m.key, fields[i].name)) {
			i++;
		}
		if (i == count) {
			return unknown_key(r, m.key, fields, count);
		}
		if (read_value(r, &fields[i], m.value, (char *)to + fields[i].at)) {
			return -1;
		}
	}
	return 0;
}

static int read_inner(struct reading *r, struct str object, size_t i, const char *name,
                      const struct field *fields, size_t count, void *to)
{
	if (!object.p) {
		return 0;
	}
	snprintf(r->where, sizeof(r->where), "replies[%zu].%s", i, name);
	return read_fields(r, object, fields, count, to);
}

static int read_reply(struct reading *r, struct str object, size_t i)
{
	struct llm_reply *reply = &r->script->replies[i];
	struct str when = JSON_GET(object, "when");

	snprintf(r->where, sizeof(r->where), "replies[%zu]", i);
	if (read_fields(r, object, reply_fields, ARRAY_LEN(reply_fields), reply)) {
		return -1;
	}
	if (reply->status.given &&
	    (reply->status.value < 200 || reply->status.value > 599)) {
		return error_set(r->err, FAIL_INPUT,
		                 "script %s: %s: \"status\" is from 200 to 599", r->path,
		                 r->where);
	}
	reply->matched = when.p != NULL;
	return read_inner(r, when, i, "when", when_fields, ARRAY_LEN(when_fields),
	                  &reply->when) ||
	                       read_inner(r, JSON_GET(object, "stream"), i, "stream",
	                                  stream_fields, ARRAY_LEN(stream_fields),
	                                  &reply->stream)
	               ? -1
	               : 0;
}

static int read_replies(struct reading *r, struct str root)
{
	struct str list = JSON_GET(root, "replies"), each;
	struct llm_script *s = r->script;

	if (json_type(list) != JSON_ARRAY || !json_count(list)) {
		return error_set(r->err, FAIL_INPUT,
		                 "script %s: \"replies\" is an array of at least one "
		                 "reply",
		                 r->path);
	}
	s->replies = arena_new(&s->arena, json_count(list) * sizeof(*s->replies));
	for (size_t cursor = 0; json_next(list, &cursor, &each); s->count++) {
		if (read_reply(r, each, s->count)) {
			return -1;
		}
	}
	return 0;
}

/* ---- the file ---- */

static int check_json(const char *path, struct str text, struct error *err)
{
	struct json_fault fault;
	size_t line = 1, column = 1;

	if (json_validate(text, &fault) == 0) {
		return 0;
	}
	for (size_t i = 0; i < fault.at && i < text.n; i++) {
		column = text.p[i] == '\n' ? 1 : column + 1;
		line += text.p[i] == '\n';
	}
	return error_set(err, FAIL_INPUT, "script %s:%zu:%zu: %s", path, line, column,
	                 fault.why);
}

/* Blanks between tokens: an event of a stream is one line, whatever the script looks
 * like.
 */
static void drop_blanks(struct buf *text)
{
	bool inside = false;
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		char c = text->p[i];

		if (inside && c == '\\') {
			text->p[n++] = c;
			text->p[n++] = text->p[++i];
			continue;
		}
		inside ^= c == '"';
		if (inside || !strchr(" \t\r\n", c)) {
			text->p[n++] = c;
		}
	}
	buf_cut(text, n);
}

/* out->text is the script. */
static int read_script(const char *path, struct llm_script *out, struct error *err)
{
	struct reading r = {.path = path, .script = out, .err = err};

	if (check_json(path, buf_view(&out->text), err)) {
		return -1;
	}
	drop_blanks(&out->text);
	struct str root = buf_view(&out->text);

	return read_fields(&r, root, script_fields, ARRAY_LEN(script_fields), out) ||
	                       read_replies(&r, root)
	               ? -1
	               : 0;
}

int llm_script_parse(struct str text, const char *name, struct llm_script *out,
                     struct error *err)
{
	*out = (struct llm_script){.text = BUF(SCRIPT_MAX)};
	buf_str(&out->text, text);
	return read_script(name, out, err);
}

int llm_script_read(const char *path, struct llm_script *out, struct error *err)
{
	*out = (struct llm_script){.text = BUF(SCRIPT_MAX)};
	return file_read("script", path, &out->text, err) || read_script(path, out, err)
	               ? -1
	               : 0;
}

void llm_script_release(struct llm_script *s)
{
	buf_release(&s->text);
	arena_release(&s->arena);
}

/* ---- choosing ---- */

static bool fits(const struct llm_when *w, const struct llm_asked *a)
{
	return (!w->last.p || text_glob(w->last, a->last)) &&
	       (!w->model.p || str_eq(w->model, a->model)) &&
	       (!w->turn.given || w->turn.value == a->turn) &&
	       (!w->seed.given || (a->seed.given && w->seed.value == a->seed.value));
}

static const struct llm_reply *in_order(const struct llm_script *s, size_t which)
{
	for (size_t i = 0; i < s->count; i++) {
		if (!s->replies[i].matched && which-- == 0) {
			return &s->replies[i];
		}
	}
	return NULL;
}

static size_t unmatched(const struct llm_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		n += !s->replies[i].matched;
	}
	return n;
}

const struct llm_reply *llm_script_choose(const struct llm_script *s,
                                          const struct llm_asked *a, size_t *next)
{
	size_t count = unmatched(s), which;

	for (size_t i = 0; i < s->count; i++) {
		if (s->replies[i].matched && fits(&s->replies[i].when, a)) {
			return &s->replies[i];
		}
	}
	which = (*next)++;
	if (count && which >= count && s->then != THEN_END) {
		which = s->then == THEN_CYCLE ? which % count : count - 1;
	}
	return in_order(s, which);
}
