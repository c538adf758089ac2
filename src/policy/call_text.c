/* Calls as text: see call_text.h. */
#include "policy/call_text.h"

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/draw.h"
#include "policy/tool_set.h"

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Does JSON with quotes of its own begin at p, after KEY:=? Where it is quoted for a shell, a ' or \\ comes first. */
static bool begins_json(struct str word, const char *p)
{
	return word.n > 1 && memchr(word.p, '=', word.n) == word.p + word.n - 1 &&
	       word.p[word.n - 2] == ':' && (*p == '[' || *p == '{') &&
	       !strchr("'\\", p[strcspn(p, "\"'\\]}")]);
}

/* Appends JSON up to the bracket that closes it; returns the last character of it. */
static const char *put_brackets(const char *p, struct buf *word)
{
	size_t depth = 0;
	bool quoted = false;

	for (;; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*p == '[' || *p == '{') - (size_t)(*p == ']' || *p == '}');
		else if (*p == '\\' && p[1])
			buf_char(word, *p++);
		buf_char(word, *p);
		if (!depth || !p[1])
			return p;
	}
}

/* Appends the next word. False: there is none, or a quote is not closed (*open). */
static bool next_word(const char **at, struct buf *word, char *open)
{
	const char *p = *at;

	*open = '\0';
	buf_clear(word);
	while (is_blank(*p))
		p++;
	if (!*p)
		return false;
	for (; *p && (*open || !is_blank(*p)); p++)
		if (!*open && begins_json(buf_view(word), p))
			p = put_brackets(p, word);
		else if (*open ? *p == *open : *p == '\'' || *p == '"')
			*open = *open ? '\0' : *p;
		else if (*p == '\\' && *open != '\'' && p[1])
			buf_char(word, *++p);
		else
			buf_char(word, *p);
	*at = p;
	return !*open;
}

static bool is_json(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{';
}

static int check_json(struct str text, struct error *err)
{
	struct json_fault fault;

	if (json_validate(text, &fault))
		return error_set(err, FAIL_USAGE, "call '%.*s': %s", STR_ARG(text), fault.why);
	text = text_trim(text);
	return json_type(JSON_GET(text, "name")) == JSON_STRING &&
	                       (!JSON_GET(text, "arguments").p ||
	                        json_type(JSON_GET(text, "arguments")) == JSON_OBJECT)
	               ? 0
	               : error_set(err, FAIL_USAGE,
	                           "call '%.*s': write {\"name\":\"TOOL\",\"arguments\":{..}}",
	                           STR_ARG(text));
}

int call_text_check(const char *text, struct error *err)
{
	if (is_json(text))
		return check_json(str_from(text), err);
	AUTO_BUF word = BUF(BUF_MAX_MESSAGE);
	const char *at = text;
	size_t words = 0;
	char open;

	while (next_word(&at, &word, &open))
		words++;
	return open    ? error_set(err, FAIL_USAGE, "call '%s': %c is not closed", text, open)
	       : words ? 0
	               : error_set(err, FAIL_USAGE,
	                           "an empty call: write \1call\2 'TOOL key=value'");
}

/* ---- values ---- */

struct text_reading {
	const struct policy_conf *conf;
	struct arena *arena;
	struct str name, tool; /* decoded; raw JSON, absent: not advertised */
	struct str key;        /* as spelled in JSON */
	struct str schema;     /* of that property; absent: the tool does not name it */
	struct names seen;
	struct buf *out; /* the members so far */
};

static int put_json(struct text_reading *r, struct str text, struct error *err)
{
	struct json_fault fault;

	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_USAGE, "%.*s:=%.*s is not JSON: %s", STR_ARG(r->key),
		                 STR_ARG(text), fault.why);
	}
	buf_str(r->out, text);
	return 0;
}

static int put_file(struct text_reading *r, const char *path, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	int failed = file_read("file", path, &text, err);

	if (!failed)
		json_quote(r->out, buf_view(&text));
	return failed;
}

/* key=value, without the key. */
static int put_value(struct text_reading *r, bool json, const char *text, struct error *err)
{
	if (json)
		return put_json(r, str_from(text), err);
	if (text[0] == '@')
		return put_file(r, text + 1, err);
	if (!r->schema.p) {
		json_quote(r->out, str_from(text));
		return 0;
	}
	struct error why;
	if (!tool_value(r->tool, r->key, r->schema, str_from(text), r->out, &why))
		return 0;
	bool container = text[0] == '[' || text[0] == '{';
	return error_set(err, why.kind, container ? "%s; %.*s:=JSON keeps its quotes" : "%s",
	                 why.text, STR_ARG(r->key));
}

static int put_argument(struct text_reading *r, struct str word, struct error *err)
{
	const char *equals = memchr(word.p, '=', word.n);
	size_t n = equals ? (size_t)(equals - word.p) : 0;
	bool json = n && word.p[n - 1] == ':';
	AUTO_BUF key = BUF(BUF_MAX_MESSAGE);

	if (n == (size_t)json) {
		return error_set(err, FAIL_USAGE,
		                 "'%.*s' is no key=value, key:=JSON or key=@FILE; "
		                 "a value with blanks is quoted: key=\"two words\"",
		                 STR_ARG(word));
	}
	struct str name = {word.p, n - json};
	r->schema = json_get(JSON_GET(tool_schema(r->tool), "properties"), name);
	json_quote(&key, name);
	r->key = arena_str(r->arena, json_inner(buf_view(&key)));
	for (size_t i = 0; i < r->seen.count; i++) {
		if (str_is(r->key, r->seen.text[i])) {
			return error_set(err, FAIL_USAGE, "the argument '%.*s' is given twice",
			                 STR_ARG(r->key));
		}
	}
	names_add(&r->seen, r->key);
	buf_printf(r->out, "%s\"%.*s\":", r->seen.count > 1 ? "," : "", STR_ARG(r->key));
	return put_value(r, json, arena_str(r->arena, str_skip(word, n + 1)).p, err);
}

/* ---- the call ---- */

/* *whole: the word is an argument of the only tool. */
static int choose_tool(struct text_reading *r, struct str word, bool *whole, struct error *err)
{
	AUTO_BUF only = BUF(BUF_MAX_MESSAGE);
	int failed = 0;

	*whole = memchr(word.p, '=', word.n) != NULL;
	if (*whole) {
		failed = tool_only(r->conf->tools, &only, err);
		r->name = arena_str(r->arena, buf_view(&only));
	} else {
		r->name = arena_str(r->arena, word);
		failed = r->conf->force_call ? 0 : tool_require(r->conf->tools, r->name, err);
	}
	r->tool = failed ? STR_NONE : tool_find(r->conf->tools, r->name);
	return failed;
}

static int read_words(struct text_reading *r, const char *text, struct error *err)
{
	AUTO_BUF word = BUF(BUF_MAX_MESSAGE);
	int failed = 0;
	bool whole;
	char open;

	buf_char(r->out, '{');
	next_word(&text, &word, &open); /* there is one: call_text_check */
	failed = choose_tool(r, buf_view(&word), &whole, err);
	if (!failed && whole)
		failed = put_argument(r, buf_view(&word), err);
	while (!failed && next_word(&text, &word, &open))
		failed = put_argument(r, buf_view(&word), err);
	buf_char(r->out, '}');
	return failed;
}

static int read_json(const struct policy_conf *conf, struct str text, struct arena *arena,
                     struct script_call *out, struct error *err)
{
	struct str arguments = JSON_GET(text, "arguments");

	*out = (struct script_call){.name = json_text(arena, JSON_GET(text, "name")),
	                            .arguments =
	                                    arguments.p ? arena_str(arena, arguments) : STR("{}")};
	if (conf->force_call || !conf->tools.p)
		return 0;
	return tool_require(conf->tools, out->name, err) ||
	                       tool_check_arguments(tool_find(conf->tools, out->name),
	                                            out->arguments, err)
	               ? -1
	               : 0;
}

int call_text_read(const struct policy_conf *conf, const char *text, struct arena *arena,
                   struct script_call *out, struct error *err)
{
	AUTO_BUF arguments = BUF(BUF_MAX_MESSAGE);
	struct text_reading r = {.conf = conf, .arena = arena, .out = &arguments};

	if (call_text_check(text, err))
		return -1;
	if (is_json(text))
		return read_json(conf, text_trim(str_from(text)), arena, out, err);
	int failed = read_words(&r, text, err);
	struct str made = buf_view(&arguments);
	if (!failed && !conf->force_call)
		failed = tool_check_arguments(r.tool, made, err);
	if (failed)
		error_wrap(err, "call '%s'", text);
	*out = (struct script_call){.name = r.name, .arguments = arena_str(arena, made)};
	names_release(&r.seen);
	return failed;
}

/* ---- writing calls ---- */

/* No blank, quote or backslash, which call_text.h reads as more than a character. */
static bool is_word(struct str s)
{
	static const char special[] = " \t\r\n'\"\\";

	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || strchr(special, s.p[i]))
			return false;
	return s.n > 0;
}

static bool is_phrase(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || strchr("'\"\\", s.p[i]))
			return false;
	return s.n > 0;
}

/* key=value or key:=JSON; false: it takes more than quotes. */
static bool put_word(struct references *r, struct str properties, const struct json_member *m,
                     struct buf *out)
{
	struct str schema = schema_resolve_in(r, json_get(properties, m->key));
	struct str text = m->type == JSON_STRING ? json_inner(m->value) : m->value;
	bool is_text = m->type == JSON_STRING && text.n && text.p[0] != '@' &&
	               !schema_alternatives(schema).p;
	bool is_other = m->type != JSON_STRING && schema_names_any(r, schema) &&
	                !schema_names(r, schema, "string");

	if (!is_word(m->key) || memchr(m->key.p, '=', m->key.n))
		return false;
	if ((m->type == JSON_ARRAY || m->type == JSON_OBJECT) && memchr(text.p, '"', text.n)) {
		buf_printf(out, " %.*s:=%.*s", STR_ARG(m->key), STR_ARG(text));
		return true;
	}
	if ((m->type == JSON_STRING ? !is_text || !is_phrase(text) : !is_word(text)))
		return false;
	if (!is_word(text)) {
		buf_printf(out, " %.*s=\"%.*s\"", STR_ARG(m->key), STR_ARG(text));
		return true;
	}
	buf_printf(out, " %.*s%s%.*s", STR_ARG(m->key),
	           is_text || is_other ? "=" : ":=", STR_ARG(text));
	return true;
}

static bool put_words(struct str tool, struct str name, struct str arguments, struct buf *out)
{
	struct str schema = tool_schema(tool);
	AUTO_ARENA arena = {0};
	struct references r;
	struct json_member m;
	size_t cursor = 0;
	bool fits = is_word(name) && !memchr(name.p, '=', name.n) && name.p[0] != '{';

	references_begin(&r, schema, &arena);
	buf_str(out, name);
	while (fits && json_next_member(arguments, &cursor, &m))
		fits = put_word(&r, JSON_GET(schema, "properties"), &m, out);
	return fits;
}

void call_spell(struct str tool, struct str name, struct str arguments, struct buf *out)
{
	size_t start = out->n;

	if (put_words(tool, name, arguments, out))
		return;
	buf_cut(out, start);
	json_pack(out, "{name:%s,arguments:%r}", name, arguments);
}

void call_example_arguments(struct str tool, struct buf *out)
{
	AUTO_ARENA arena = {0};
	struct named_values named;

	named_values_begin(&named, &arena, tool);
	(void)draw_arguments(NULL, tool_schema(tool), &named, out);
}

void call_example(struct str tool, struct buf *out)
{
	AUTO_BUF arguments = BUF(BUF_MAX_MESSAGE);
	AUTO_ARENA arena = {0};
	struct str name = json_text(&arena, JSON_GET(tool, "name"));

	if (name.n) {
		call_example_arguments(tool, &arguments);
		call_spell(tool, name, buf_view(&arguments), out);
	}
}
