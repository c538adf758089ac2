/* The small parts of environments: texts of errors, the queue of events, ignored members,
   options of state sources, and the id that hashing servers derive. */
#include "env/failure.h"
#include "env/ignore_paths.h"
#include "env/mcp/control_plane.h"
#include "env/mcp/known.h"
#include "env/openenv/openenv.h"
#include "env/state_source.h"
#include "tap.h"

/* ---- words of errors ---- */

static const struct {
	const char *message;
	enum error_class class;
} messages[] = {
	{"Maximum concurrent environments (3) reached", CLASS_CAPACITY},
	{"MAXIMUM number of CONCURRENT things", CLASS_CAPACITY},
	{"maximum of 8 environments", CLASS_CAPACITY},
	{"Maximum sessions: 4", CLASS_CAPACITY},
	{"max 4 concurrent sessions reached", CLASS_CAPACITY},
	{"Too many open sessions", CLASS_CAPACITY},
	{"the server is at capacity", CLASS_CAPACITY},
	{"CAPACITY_REACHED", CLASS_CAPACITY},
	{"StatusCode.RESOURCE_EXHAUSTED", CLASS_CAPACITY},
	{"Session not found", CLASS_SESSION},
	{"Session 6e7d7b09 not found", CLASS_SESSION},
	{"the last session was not found", CLASS_TOOL},
	{"Unknown session", CLASS_SESSION},
	{"Not Found: Session has been terminated", CLASS_SESSION},
	{"Bad Request: No valid session ID provided", CLASS_SESSION},
	{"Bad Request: Missing session ID", CLASS_SESSION},
	{"Server not initialized", CLASS_SESSION},
	{"Unexpected message, expect initialize request", CLASS_SESSION},
	{"No server assigned to session x", CLASS_SESSION},
	{"Failed to create backend for session x", CLASS_SESSION},
	{"could not get a stable MCP session ID", CLASS_SESSION},
	{"Error executing tool lake_move: 'gym_140247762780320'", CLASS_SESSION},
	{"Error executing tool lake_move: 'sim_140247762780320'", CLASS_SESSION},
	{"Error executing tool lake_move: 'position'", CLASS_TOOL},
	{"Unknown tool: nope", CLASS_UNKNOWN_TOOL},
	{"I know of an unknown tool", CLASS_TOOL},
	{"Tool nope not found", CLASS_UNKNOWN_TOOL},
	{"MCP error -32602: Tool nope not found", CLASS_UNKNOWN_TOOL},
	{"Error executing tool x: 1 validation error for xArguments", CLASS_ARGUMENTS},
	{"MCP error -32602: Invalid arguments for tool x", CLASS_ARGUMENTS},
	{"Error executing tool x: Invalid action 'JUMP'. Valid actions: [..]", CLASS_ARGUMENTS},
	{"Invalid params", CLASS_ARGUMENTS},
	{"Invalid request parameters", CLASS_ARGUMENTS},
	{"the request timed out", CLASS_TIMEOUT},
	{"401 Unauthorized", CLASS_AUTH},
	{"", CLASS_TOOL},
	{"m", CLASS_TOOL},
	{"max", CLASS_TOOL},
	{"division by zero", CLASS_TOOL},
	{"concurrent maximum", CLASS_TOOL},
};

static void test_classes(void)
{
	struct buf far = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		is_str(error_class_name(error_text_class(str_from(messages[i].message), LAYER_HTTP,
		                                         CLASS_TOOL)),
		       error_class_name(messages[i].class), "'%s'", messages[i].message);
	}
	ok(error_text_class(STR_NONE, LAYER_HTTP, CLASS_AUTH) == CLASS_AUTH, "no message");
	for (int i = 0; i < 600; i++)
		buf_char(&far, 'x');
	buf_text(&far, "at capacity");
	ok(error_text_class(buf_view(&far), LAYER_HTTP, CLASS_TOOL) == CLASS_TOOL,
	   "a page of text is not searched");
	buf_release(&far);
}

static void test_matches(void)
{
	static const struct {
		const char *text, *pattern;
		bool fits;
	} rows[] = {
		{"Invalid move, try again", "Invalid move", true},
		{"Invalid move, try again", "invalid MOVE", true},
		{"Invalid move, try again", "try", true},
		{"Invalid move, try again", "Invalid*again", true},
		{"Invalid move, try again", "^try", false},
		{"Invalid move, try again", "^invalid", true},
		{"Invalid move, try again", "again*move", false},
		{"Invalid move, try again", "*", true},
		{"Valid move", "Invalid move", false},
		{"", "x", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		ok(error_text_matches(str_from(rows[i].text), rows[i].pattern) == rows[i].fits,
		   "'%s' and '%s'", rows[i].text, rows[i].pattern);
	}
}

static void test_outcomes(void)
{
	ok(error_class_outcome(CLASS_CAPACITY, OUTCOME_OK) == OUTCOME_CAPACITY, "capacity");
	ok(error_class_outcome(CLASS_SESSION, OUTCOME_OK) == OUTCOME_SESSION_LOST, "lost");
	ok(error_class_outcome(CLASS_TIMEOUT, OUTCOME_TOOL_ERROR) == OUTCOME_TOOL_ERROR,
	   "a reply whose text says timed out is a reply");
	ok(error_class_outcome(CLASS_AUTH, OUTCOME_TOOL_ERROR) == OUTCOME_TOOL_ERROR,
	   "otherwise the outcome is unchanged");
}

/* ---- HTTP statuses ---- */

static struct env_reply mcp_reply_of(int status, bool page)
{
	struct mcp_reply r = {.got = MCP_GOT_HTTP, .http_status = status, .session_lost = true};
	struct env_reply out = {.outcome = OUTCOME_NONE};
	struct reply_reading m = {.denied = false};

	r.text = page ? STR("<!DOCTYPE html><html></html>") : STR_NONE;
	reading_init(&m);
	mcp_read_other(&r, &m, &out);
	reading_release(&m);
	return out;
}

static struct env_reply openenv_reply_of(int status, bool page)
{
	struct openenv_answer a = {.got = OPENENV_STATUS, .code = status, .page = page};
	struct reply_reading r;
	struct env_reply out;

	a.text = page ? STR("<!DOCTYPE html><html></html>") : STR_NONE;
	reading_init(&r);
	openenv_read(&a, NULL, &r, &out);
	reading_release(&r);
	return out;
}

/* A status means the same to all adapters, except for those that a protocol defines. */
static void test_statuses(void)
{
	static const struct {
		int status;
		bool page;
		enum outcome mcp, openenv;
		enum error_class mcp_class, openenv_class;
	} rows[] = {
#define BOTH(outcome, class) OUTCOME_##outcome, OUTCOME_##outcome, CLASS_##class, CLASS_##class
		{401, false, BOTH(PROTOCOL_ERROR, AUTH)},
		{403, true, BOTH(PROTOCOL_ERROR, AUTH)},
		{405, false, BOTH(PROTOCOL_ERROR, PROTOCOL)},
		{408, false, BOTH(TIMEOUT, TIMEOUT)},
		{429, false, BOTH(CAPACITY, CAPACITY)},
		{502, true, BOTH(PROTOCOL_ERROR, PROTOCOL)},
		{503, false, BOTH(CAPACITY, CAPACITY)},
		{503, true, BOTH(PROTOCOL_ERROR, PROTOCOL)},
		{504, false, BOTH(TIMEOUT, TIMEOUT)},
		{504, true, BOTH(TIMEOUT, TIMEOUT)},
		{404, false, OUTCOME_SESSION_LOST, OUTCOME_PROTOCOL_ERROR, CLASS_SESSION,
	         CLASS_PROTOCOL},
		{422, false, OUTCOME_PROTOCOL_ERROR, OUTCOME_TOOL_ERROR, CLASS_PROTOCOL,
	         CLASS_ARGUMENTS},
		{500, false, OUTCOME_PROTOCOL_ERROR, OUTCOME_TOOL_ERROR, CLASS_PROTOCOL,
	         CLASS_ENVIRONMENT},
		{500, true, BOTH(PROTOCOL_ERROR, PROTOCOL)},
#undef BOTH
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct env_reply mcp = mcp_reply_of(rows[i].status, rows[i].page),
				 openenv = openenv_reply_of(rows[i].status, rows[i].page);
		const char *body = rows[i].page ? "a web page" : "no page";

		is_str(outcome_name(mcp.outcome), outcome_name(rows[i].mcp),
		       "%d, %s: outcome of MCP", rows[i].status, body);
		is_str(error_class_name(mcp.error.class), error_class_name(rows[i].mcp_class),
		       "%d, %s: class of MCP", rows[i].status, body);
		is_str(outcome_name(openenv.outcome), outcome_name(rows[i].openenv),
		       "%d, %s: outcome of OpenEnv", rows[i].status, body);
		is_str(error_class_name(openenv.error.class),
		       error_class_name(rows[i].openenv_class), "%d, %s: class of OpenEnv",
		       rows[i].status, body);
	}
}

/* ---- events ---- */

static void test_events(void)
{
	struct event_queue q = {0};
	struct event e;
	int n = 0;

	ok(!events_take(&q, &e), "empty at first");
	events_push(&q, EVENT_NOISE, STR("{\"n\":1}"));
	events_push(&q, EVENT_RETRY, STR("{\"n\":2}"));
	ok(events_take(&q, &e) && e.kind == EVENT_NOISE && str_is(e.detail, "{\"n\":1}"),
	   "the oldest first");
	ok(events_take(&q, &e) && str_is(e.detail, "{\"n\":2}"), "then the next");
	ok(!events_take(&q, &e), "and no more");
	for (int i = 0; i < EVENTS_MAX + 44; i++)
		events_push(&q, EVENT_NOTIFICATION, STR("{}"));
	while (events_take(&q, &e))
		n++;
	is_int(n, EVENTS_MAX + 1, "events beyond the limit are combined into one");
	events_push(&q, EVENT_NOISE, STR("{}"));
	ok(events_take(&q, &e), "then events can be added again");
	events_release(&q);
}

static void test_events_dropped(void)
{
	struct event_queue q = {0};
	struct event e = {.kind = EVENT_UNKNOWN};
	struct buf big = BUF(BUF_MAX_MESSAGE);

	for (int i = 0; i < EVENTS_MAX + 44; i++)
		events_push(&q, EVENT_NOTIFICATION, STR("{}"));
	for (int i = 0; i <= EVENTS_MAX; i++)
		events_take(&q, &e);
	is_int(e.kind, EVENT_NOISE, "the last one has the reason");
	ok(str_is(e.detail, "{\"events_dropped\":44}"), "with the number");
	char *p = buf_room(&big, BUF_MAX_MESSAGE);
	memset(p, ' ', BUF_MAX_MESSAGE);
	big.n = BUF_MAX_MESSAGE;
	for (int i = 0; i < 4; i++)
		events_push(&q, EVENT_NOTIFICATION, buf_view(&big));
	ok(q.bytes <= EVENTS_MAX_BYTES && q.dropped == 2, "bytes are limited, too");
	events_release(&q);
	ok(!events_take(&q, &e), "empty after release");
	events_release(&q);
	buf_release(&big);
}

/* ---- ignored ---- */

static const struct {
	const char *given[3];
	const char *state, *wanted;
} ignores[] = {
	{{NULL}, NULL, "[\"/step_count\",\"/episode_id\"]"},
	{{NULL}, "{\"position\":0}", "[]"},
	{{NULL}, "{\"position\":0,\"grid\":\"S\"}", "[\"/grid\"]"},
	{{NULL}, "{\"grid\":\"S\"}", "[]"},
	{{NULL}, "{\"state\":3,\"grid_layout\":\"S\"}", "[\"/grid_layout\"]"},
	{{NULL}, "{\"position\":{},\"image_url\":\"data:\"}", "[\"/image_url\"]"},
	{{NULL}, "{\"image_url\":\"data:\"}", "[]"},
	{{NULL},
         "{\"step_count\":1,\"episode_id\":\"e\",\"x\":1}",
         "[\"/step_count\",\"/episode_id\"]"},
	{{NULL}, "[1]", "[]"},
	{{"/a", "/b/0"}, "{\"position\":0,\"grid\":\"S\"}", "[\"/grid\",\"/a\",\"/b/0\"]"},
	{{"none", "/a"}, "{\"position\":0,\"grid\":\"S\"}", "[\"/a\"]"},
	{{"a"}, NULL, NULL},
};

static void test_ignored(void)
{
	for (size_t i = 0; i < ARRAY_LEN(ignores); i++) {
		struct ignore_paths e = {.aside = NULL};
		struct env_conf conf = {.ignore = ignores[i].given};
		struct error err = {0};

		while (ignores[i].given[conf.ignore_count])
			conf.ignore_count++;
		int failed = ignore_paths_choose(&e, &conf, str_from(ignores[i].state), &err);

		is_str(failed ? NULL : buf_cstr(&e.json), ignores[i].wanted, "state %s",
		       ignores[i].state ? ignores[i].state : "unknown");
		ok(failed == ignore_paths_check(&conf, &err) && (!failed || err.kind == FAIL_USAGE),
		   "usage: %s", err.text);
		ignore_paths_release(&e);
	}
}

/* ---- state sources ---- */

static const struct {
	const char *spec, *kind, *target, *arguments, *message;
} sources[] = {
	{"auto", NULL, "", "", NULL},
	{"none", "none", "", "", NULL},
	{"control-plane", "control-plane", "", "", NULL},
	{"observation", "observation", "", "", NULL},
	{"observation:/a/0", "observation", "/a/0", "", NULL},
	{"resource:game://x:1", "resource", "game://x:1", "", NULL},
	{"tool:look", "tool", "look", "{}", NULL},
	{"tool:look:{\"a\":{\"b\":1}}", "tool", "look", "{\"a\":{\"b\":1}}", NULL},
	{"tool:look:{\"a\"", NULL, NULL, NULL, "\1state\2 tool: the arguments are not JSON"},
	{"tool:look:[1]", NULL, NULL, NULL, "\1state\2 tool: the arguments are not a JSON object"},
	{"tool:", NULL, NULL, NULL, "\1state\2 tool needs a target: tool:NAME[:JSON]"},
	{"tool", NULL, NULL, NULL, "\1state\2 tool needs a target"},
	{"resource", NULL, NULL, NULL, "\1state\2 resource needs a target: resource:URI"},
	{"observation:a", NULL, NULL, NULL, "\1state\2 observation needs a JSON Pointer: /a/b"},
	{"none:x", NULL, NULL, NULL, "\1state\2 none takes no target"},
	{"auto:", NULL, NULL, NULL, "\1state\2 auto takes no target"},
	{"obsrvation", NULL, NULL, NULL,
         "\1state\2: unknown source 'obsrvation'; did you mean 'observation'?"},
	{"", NULL, NULL, NULL, "\1state\2: unknown source ''"},
};

static void test_sources(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct state_source s;
		struct error err = {0};
		int failed = state_source_parse(str_from(sources[i].spec), &s, &err);

		is_str(failed ? NULL : state_kind_name(s.kind), sources[i].kind, "state '%s'",
		       sources[i].spec);
		if (sources[i].message) {
			ok(err.kind == FAIL_USAGE &&
			           str_starts(str_from(err.text), str_from(sources[i].message)),
			   "why: %s", err.text);
		} else {
			ok(str_is(s.target, sources[i].target) &&
			           str_is(s.arguments, sources[i].arguments),
			   "target and arguments");
		}
		state_source_release(&s);
	}
}

/* ---- hashed ids ---- */

static void test_hash(void)
{
	struct control_plane c = {.id = BUF(BUF_MAX_SMALL)};

	control_use_hash(&c, STR_NONE, "reward-kit", "1.0.0", true, 42);
	is_str(buf_cstr(&c.id), "a05e7652df9c7574c02c1764f9671554", "with seed 42");
	control_use_hash(&c, STR_NONE, "reward-kit", "1.0.0", false, 42);
	is_str(buf_cstr(&c.id), "00d275d1ca962c94a4823e008d2217d0", "without a seed");
	control_use_hash(
		&c, STR("{\"b\":[1,{\"z\":\"\u00e9\U0001f600\",\"a\":\"x,:\\\"y\"}],\"a\":null}"),
		"reward-kit", "1.0.0", true, 42);
	is_str(buf_cstr(&c.id), "c26af9fe8ed416123e5638057a2f39fd", "with a config");
	buf_release(&c.id);
}

int main(void)
{
	test_classes();
	test_matches();
	test_outcomes();
	test_statuses();
	test_events();
	test_events_dropped();
	test_ignored();
	test_sources();
	test_hash();
	return done();
}
