/* Detects errors in successful replies by structure: see hidden_error.h. */
#include "env/hidden_error.h"

#include "env/failure.h"
#include "json/canon.h"
#include "json/index.h"

#include <ctype.h>

/* ---- the value of an error member ---- */

/* Values of an error member that mean "no error". */
static const char *const no_error_words[] = {
	"none",  "null", "nil", "no",   "n/a",      "na",        "nan",  "undefined",
	"false", "true", "ok",  "okay", "no error", "no errors", "fine", "success"};

static bool has_letter(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (isalpha((unsigned char)text.p[i]) || (unsigned char)text.p[i] >= 0x80)
			return true;
	return false;
}

/* Is it a message: a string that has a letter and is not a word for "no error"? */
static bool is_message(struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR("");

	while (text.n && (text.p[0] == ' ' || text.p[0] == '<' || text.p[0] == '('))
		text = str_skip(text, 1);
	while (text.n && strchr(" .!>)", text.p[text.n - 1]))
		text.n--;
	for (size_t i = 0; i < ARRAY_LEN(no_error_words); i++)
		if (str_eq_nocase(text, str_from(no_error_words[i])))
			return false;
	return has_letter(text);
}

static const struct str message_keys[] = {
	STR_INIT("message"), STR_INIT("error_message"), STR_INIT("msg"),
	STR_INIT("error"),   STR_INIT("reason"),        STR_INIT("detail"),
	STR_INIT("title"),   STR_INIT("stderr"),        STR_INIT("output")};

/* The first member that is a message; absent: none. */
static struct str message_of(struct str object)
{
	struct str values[ARRAY_LEN(message_keys)];

	json_pick(object, message_keys, ARRAY_LEN(message_keys), values);
	for (size_t i = 0; json_type(object) == JSON_OBJECT && i < ARRAY_LEN(values); i++)
		if (is_message(values[i]))
			return values[i];
	return STR_NONE;
}

/* A code that means success: 0, as in gRPC and errno, or "OK". */
static bool is_good_code(struct str code)
{
	double number;

	if (json_type(code) == JSON_STRING)
		return !is_message(code) && !json_double_text(json_inner(code), &number);
	return json_double(code, &number) && number == 0;
}

/* The message of a value other than a list; absent if it reports no error. */
static struct str message_in(struct str value)
{
	struct str none = {NULL, 0};

	if (json_type(value) == JSON_OBJECT)
		return is_good_code(JSON_GET(value, "code")) ? none : message_of(value);
	return is_message(value) ? value : none;
}

/* ---- members with a fixed meaning ---- */

enum meaning {
	HAS_ERROR,  /* a message, an object or list that contains one, or true */
	HAS_ERRORS, /* a list of messages */
	IS_TRUE,
	IS_FALSE,
	IS_ERROR, /* the word "error" */
	IS_125,   /* failure of docker run itself, not of the program */
	IS_4XX,   /* an HTTP status, beside nothing but a message */
	IS_5XX,
	IS_ONLY_MEMBER /* a message, or a list with one, as the only member */
};

static const struct report {
	struct str key;
	enum meaning meaning;
	enum hidden_error_strength strength;
} reports[] = {
	/* JSON-RPC, Flask, MCP-Gym's control plane, session proxies; OpenEnv's environments */
	{STR_INIT("error"), HAS_ERROR, HIDDEN_ERROR_CERTAIN},
	/* OpenEnv: browsergym and openapp, calendar */
	{STR_INIT("last_action_error"), HAS_ERROR, HIDDEN_ERROR_CERTAIN},
	{STR_INIT("error_message"), HAS_ERROR, HIDDEN_ERROR_CERTAIN},
	/* Spring, ASP.NET, Python loggers */
	{STR_INIT("exception"), HAS_ERROR, HIDDEN_ERROR_CERTAIN},
	/* an MCP tool result within another one's text; both spellings */
	{STR_INIT("isError"), IS_TRUE, HIDDEN_ERROR_CERTAIN},
	{STR_INIT("is_error"), IS_TRUE, HIDDEN_ERROR_CERTAIN},
	/* GraphQL, JSON:API */
	{STR_INIT("errors"), HAS_ERRORS, HIDDEN_ERROR_LIKELY},
	/* FastAPI's HTTPException and RequestValidationError, Django REST framework */
	{STR_INIT("detail"), IS_ONLY_MEMBER, HIDDEN_ERROR_LIKELY},
	/* docker-run(1), podman-run(1): 125 is the engine's own error. 1, 126 and 127 come from
	   the program that the policy ran. */
	{STR_INIT("exit_code"), IS_125, HIDDEN_ERROR_LIKELY},
	{STR_INIT("exitCode"), IS_125, HIDDEN_ERROR_LIKELY},
	{STR_INIT("return_code"), IS_125, HIDDEN_ERROR_LIKELY},
	{STR_INIT("returncode"), IS_125, HIDDEN_ERROR_LIKELY},
	/* JSend and many tools. Can also mean "not solved yet", so it is weaker evidence: see
	   weigh_flag() */
	{STR_INIT("success"), IS_FALSE, HIDDEN_ERROR_LIKELY},
	{STR_INIT("ok"), IS_FALSE, HIDDEN_ERROR_LIKELY},
	{STR_INIT("status"), IS_ERROR, HIDDEN_ERROR_LIKELY},
	/* Notion's API; vLLM's ErrorResponse */
	{STR_INIT("object"), IS_ERROR, HIDDEN_ERROR_CERTAIN},
	/* RFC 9457; NestJS. A page that a policy fetched has more members than these. */
	{STR_INIT("status"), IS_4XX, HIDDEN_ERROR_LIKELY},
	{STR_INIT("status"), IS_5XX, HIDDEN_ERROR_CERTAIN},
	{STR_INIT("status_code"), IS_4XX, HIDDEN_ERROR_LIKELY},
	{STR_INIT("status_code"), IS_5XX, HIDDEN_ERROR_CERTAIN},
	{STR_INIT("statusCode"), IS_4XX, HIDDEN_ERROR_LIKELY},
	{STR_INIT("statusCode"), IS_5XX, HIDDEN_ERROR_CERTAIN},
};

#define REPORTS ARRAY_LEN(reports)

/* Members that describe an error or identify its call, and are not part of an observation. */
static const struct str descriptions[] = {
	STR_INIT("message"),    STR_INIT("msg"),        STR_INIT("reason"),
	STR_INIT("code"),       STR_INIT("error_code"), STR_INIT("error_type"),
	STR_INIT("type"),       STR_INIT("title"),      STR_INIT("tool"),
	STR_INIT("tool_name"),  STR_INIT("session"),    STR_INIT("session_id"),
	STR_INIT("request_id"), STR_INIT("timestamp"),  STR_INIT("path"),
	STR_INIT("hint"),       STR_INIT("metadata"),   STR_INIT("headers"),
	STR_INIT("traceback"),  STR_INIT("stderr")};

static bool is_report(struct str key)
{
	for (size_t i = 0; i < REPORTS; i++)
		if (str_eq(key, reports[i].key))
			return true;
	return false;
}

static bool is_description(struct str key)
{
	for (size_t i = 0; i < ARRAY_LEN(descriptions); i++)
		if (str_eq(key, descriptions[i]))
			return true;
	return is_report(key);
}

/* What a body contains apart from the error. */
enum content {
	CONTENT_NONE,
	CONTENT_AS_BEFORE, /* the same as in the last successful reply */
	CONTENT_OTHER,
};

static enum content content_of(struct str body, struct str last)
{
	enum content content = CONTENT_NONE;
	struct json_index before;
	AUTO_ARENA names = {0};
	struct json_member m;
	size_t cursor = 0;

	json_index_begin(&before, last, &names);
	while (content != CONTENT_OTHER && json_next_member(body, &cursor, &m)) {
		if (is_description(m.key) || json_is_empty(m.value))
			continue;
		struct str then = json_index_find(&before, json_key_text(&names, m.key));
		content = json_equal(m.value, then) ? CONTENT_AS_BEFORE : CONTENT_OTHER;
	}
	return content;
}

/* The first message in the list. */
static struct str message_in_list(struct str list)
{
	struct str each, found = {NULL, 0};
	size_t cursor = 0;

	while (!found.p && json_next(list, &cursor, &each))
		found = message_in(each);
	return found;
}

static struct str message_in_one_or_list(struct str value)
{
	return json_type(value) == JSON_ARRAY ? message_in_list(value) : message_in(value);
}

/* Does a flag, word or number report an error? */
static bool is_reported(enum meaning meaning, struct str value)
{
	int64_t number = 0;

	json_i64(value, &number);
	switch (meaning) {
	case IS_TRUE:
		return json_type(value) == JSON_TRUE;
	case IS_FALSE:
		return json_type(value) == JSON_FALSE;
	case IS_ERROR:
		return json_type(value) == JSON_STRING && json_is(value, STR("error"));
	case IS_125:
		return number == 125;
	case IS_4XX:
		return number / 100 == 4;
	case IS_5XX:
		return number / 100 == 5;
	default:
		return false;
	}
}

/* The message of a member that reports an error. For a flag: the body's message, or the body
   itself. Absent if it reports none. */
static struct str read_member(enum meaning meaning, struct str value, struct str body)
{
	struct str message = message_of(body), flag = message.p ? message : body;

	switch (meaning) {
	case HAS_ERROR:
		return json_type(value) == JSON_TRUE ? flag : message_in_one_or_list(value);
	case HAS_ERRORS:
		return message_in_list(value);
	case IS_ONLY_MEMBER:
		return json_count(body) == 1 ? message_in_one_or_list(value) : STR_NONE;
	case IS_4XX:
	case IS_5XX:
		return is_reported(meaning, value) ? message : STR_NONE;
	default:
		return is_reported(meaning, value) ? flag : STR_NONE;
	}
}

/* "success": false means that the call failed, or that the task is not solved yet. The former if
   the reply contains nothing else, or nothing that changed. */
static enum hidden_error_strength
weigh_flag(enum meaning meaning, enum hidden_error_strength strength, enum content content)
{
	bool flag = meaning == IS_FALSE || (meaning == IS_ERROR && strength < HIDDEN_ERROR_CERTAIN);

	if ((meaning == IS_4XX || meaning == IS_5XX) && content != CONTENT_NONE)
		return HIDDEN_ERROR_NONE;

	return flag && content == CONTENT_OTHER ? HIDDEN_ERROR_POSSIBLE : strength;
}

/* If the first observation had a "detail" with another text, "detail" is ordinary data. */
static bool is_initial_data(const struct report *report, struct str value, struct str start)
{
	struct str then = json_get(start, report->key);

	return then.p && (report->meaning == IS_ONLY_MEMBER || json_equal(then, value));
}

/* The only member of the body, besides its description, if it is an object: {"result":{..}}. */
static struct str unwrapped(struct str body)
{
	struct str only = STR_NONE;
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(body, &cursor, &m)) {
		bool content = !json_is_empty(m.value) && !is_description(m.key);

		if (content ? only.p || m.type != JSON_OBJECT : is_report(m.key))
			return body;
		only = content ? m.value : only;
	}
	return only.p ? only : body;
}

struct hidden_error hidden_error_in_body(struct str body, struct hidden_error_context before)
{
	struct hidden_error found = {.layer = LAYER_BODY};
	struct str keys[REPORTS], values[REPORTS];

	body = unwrapped(body);
	if (json_type(body) != JSON_OBJECT)
		return found;
	for (size_t i = 0; i < REPORTS; i++)
		keys[i] = reports[i].key;
	json_pick(body, keys, REPORTS, values);
	for (size_t i = 0; i < REPORTS && found.strength != HIDDEN_ERROR_CERTAIN; i++) {
		struct str message =
			values[i].p ? read_member(reports[i].meaning, values[i], body) : values[i];

		if (!message.p || is_initial_data(&reports[i], values[i], unwrapped(before.start)))
			continue;
		enum content content = content_of(body, unwrapped(before.last));
		enum hidden_error_strength strength =
			weigh_flag(reports[i].meaning, reports[i].strength, content);
		if (strength > found.strength) {
			found = (struct hidden_error){.strength = strength,
			                              .layer = LAYER_BODY,
			                              .message = message,
			                              .code = error_code_of(values[i]),
			                              .bare = content == CONTENT_NONE,
			                              .unchanged = content == CONTENT_AS_BEFORE};
		}
	}
	return found;
}

/* ---- texts ---- */

static const struct opening {
	struct str text;
	enum hidden_error_strength strength;
} openings[] = {
	/* mcp.server.fastmcp, tools/base.py: a tool that raised */
	{STR_INIT("Error executing tool "), HIDDEN_ERROR_CERTAIN},
	/* fastmcp, tools/tool_manager.py: the same */
	{STR_INIT("Error calling tool '"), HIDDEN_ERROR_CERTAIN},
	/* both, tool_manager.py */
	{STR_INIT("Unknown tool: "), HIDDEN_ERROR_CERTAIN},
	/* mcp.server.lowlevel, server.py; @modelcontextprotocol/sdk, server/mcp.ts */
	{STR_INIT("Input validation error: "), HIDDEN_ERROR_CERTAIN},
	{STR_INIT("Output validation error: "), HIDDEN_ERROR_CERTAIN},
	/* @modelcontextprotocol/sdk: McpError as a text */
	{STR_INIT("MCP error -"), HIDDEN_ERROR_CERTAIN},
	/* MCP-Gym's proxy, OpenEnv: the message alone, as frameworks hand it to the policy */
	{STR_INIT("Maximum concurrent environments ("), HIDDEN_ERROR_LIKELY},
	{STR_INIT("Server at capacity:"), HIDDEN_ERROR_LIKELY},
	/* modelcontextprotocol/servers: "Error: ${message}" of the TypeScript ones; the
	   SQLite server's `except sqlite3.Error` and `except Exception` */
	{STR_INIT("Error: "), HIDDEN_ERROR_LIKELY},
	{STR_INIT("Database error: "), HIDDEN_ERROR_LIKELY},
	/* modelcontextprotocol/servers, filesystem: validatePath in lib.ts */
	{STR_INIT("Access denied - path outside allowed directories"), HIDDEN_ERROR_LIKELY},
	/* Python; also the output of a program that the policy ran */
	{STR_INIT("Traceback (most recent call last)"), HIDDEN_ERROR_POSSIBLE},
	/* OpenEnv's echo environment */
	{STR_INIT("Unknown action"), HIDDEN_ERROR_POSSIBLE},
};

/* "Error: 0.02" is a measurement. */
static bool is_measurement(struct str text, const struct opening *opening)
{
	return str_ends(opening->text, STR(": ")) && text.n > opening->text.n &&
	       strchr("0123456789.+-", text.p[opening->text.n]);
}

struct hidden_error hidden_error_in_text(struct str text)
{
	struct str inner = json_type(text) == JSON_STRING ? json_inner(text) : STR("");

	for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
		const struct opening *o = &openings[i];

		if (str_starts(inner, o->text) && !is_measurement(inner, o)) {
			return (struct hidden_error){
				.strength = o->strength, .layer = LAYER_TEXT, .message = text};
		}
	}
	return (struct hidden_error){.layer = LAYER_TEXT};
}

/* The first member whose text starts like an error. */
static struct hidden_error first_in_strings(struct str object, struct str *member)
{
	struct hidden_error found = {.layer = LAYER_TEXT};
	struct json_member m;
	size_t cursor = 0;

	while (!found.strength && json_next_member(object, &cursor, &m)) {
		found = hidden_error_in_text(m.value);
		*member = m.value;
	}
	return found;
}

struct hidden_error hidden_error_in_strings(struct str object, struct str last)
{
	struct str member = {NULL, 0};
	struct hidden_error found = first_in_strings(object, &member);
	struct json_index before;
	AUTO_ARENA names = {0};
	bool changed = false, rest = false;
	struct json_member m;

	if (!found.strength)
		return found;
	json_index_begin(&before, last, &names);
	for (size_t cursor = 0; !changed && json_next_member(object, &cursor, &m);) {
		if (m.value.p == member.p)
			continue;
		struct str then = json_index_find(&before, json_key_text(&names, m.key));
		rest |= !json_is_empty(m.value);
		changed = !json_equal(m.value, then);
	}
	found.unchanged = rest && !changed;
	found.strength = found.unchanged ? HIDDEN_ERROR_POSSIBLE : HIDDEN_ERROR_NONE;
	return found;
}

struct hidden_error hidden_error_by_pattern(struct str answer, const char *const *patterns,
                                            size_t count)
{
	struct hidden_error found = {.layer = LAYER_TEXT};
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str each;
	size_t cursor = 0;

	while (count && found.strength == HIDDEN_ERROR_NONE &&
	       json_next_string(answer, &cursor, &each)) {
		buf_clear(&text);
		json_decode(each, &text);
		for (size_t i = 0; i < count; i++) {
			if (error_text_matches(buf_view(&text), patterns[i])) {
				found.strength = HIDDEN_ERROR_CERTAIN;
				found.message = each;
			}
		}
	}
	return found;
}

/* ---- decision ---- */

struct hidden_error hidden_error_stronger(struct hidden_error a, struct hidden_error b)
{
	return b.strength > a.strength ? b : a;
}

bool hidden_error_holds(const struct hidden_error *r, int counted)
{
	switch (r->strength) {
	case HIDDEN_ERROR_NONE:
		break;
	case HIDDEN_ERROR_POSSIBLE:
		return counted == 0;
	case HIDDEN_ERROR_LIKELY:
		return counted != 1;
	case HIDDEN_ERROR_CERTAIN:
		return true;
	}
	return false;
}
