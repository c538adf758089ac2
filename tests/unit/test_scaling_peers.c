/* Data from servers, models and clients is processed in linear time: replies, tool calls in
   text, streams, requests to the built-in servers. See scaling.h. */
#include "env/environments.h"
#include "env/mcp/headers.h"
#include "env/mcp/input.h"
#include "env/mcp/mcp_internal.h"
#include "env/mcp/mcp_session.h"
#include "env/openenv/openenv.h"
#include "json/arguments.h"
#include "json/index.h"
#include "json/schema.h"
#include "net/frames.h"
#include "net/handshake.h"
#include "policy/draw.h"
#include "policy/llm/calls.h"
#include "policy/llm/completion.h"
#include "policy/toolformats/reader_internal.h"
#include "scaling.h"
#include "serve/llm/reply_script.h"
#include "serve/openenv/openenv.h"

#include <stdlib.h>

/* ---- answers of environments ---- */

#define MEMBERS "\"k%d\":%d"

static void body(const char *first, int n)
{
	struct buf now = text(), then = text();

	repeat(&now, first, MEMBERS, "}", n, false);
	repeat(&then, "{", MEMBERS, "}", n, true);
	struct hidden_error_context before = {{NULL, 0}, buf_view(&then)};
	(void)hidden_error_in_body(buf_view(&now), before);
	(void)hidden_error_in_strings(buf_view(&now), buf_view(&then));
	buf_release(&now);
	buf_release(&then);
}

static void failed_as_before(int n)
{
	body("{\"success\":false,\"ok\":false,\"status\":\"error\",", n);
}

static void error_text_as_before(int n)
{
	body("{\"output\":\"Error: no\",", n);
}

/* Few members, one of them long: each lookup used to read all of it. */
static void one_long_member(int n)
{
	struct buf now = text(), then = text();

	repeat(&now, "{\"success\":false,\"output\":\"Error: no\",", MEMBERS, "}", n, false);
	repeat(&then, "{\"k0\":0,\"long\":\"", "12345678", "\"}", n, false);
	struct hidden_error_context before = {{NULL, 0}, buf_view(&then)};
	(void)hidden_error_in_body(buf_view(&now), before);
	AUTO_ARENA names = {0};
	struct json_index index;
	struct json_member m;
	json_index_begin(&index, buf_view(&then), &names);
	for (size_t at = 0; json_next_member(buf_view(&now), &at, &m);)
		(void)json_index_find(&index, m.key);
	buf_release(&now);
	buf_release(&then);
}

static void elicit(const char *properties, const char *required, int n)
{
	struct buf params = text(), result = text(), why = text();

	repeat(&params, "{\"requestedSchema\":{\"properties\":{", properties, "},", n, false);
	repeat(&params, "\"required\":[", required, "]}}", n, true);
	elicit_answer(buf_view(&params), &result, &why);
	buf_release(&params);
	buf_release(&result);
	buf_release(&why);
}

static void form_fields(int n)
{
	elicit("\"k%d\":{\"type\":\"string\",\"default\":\"x\"}", "\"k%d\"", n);
}

static void form_required_again(int n)
{
	elicit("\"k%d\":{\"type\":\"string\",\"default\":\"x\"}", "\"k0\"", n);
}

static void form_options(int n)
{
	struct buf params = text(), result = text(), why = text();

	repeat(&params,
	       "{\"requestedSchema\":{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
	       "\"enum\":[",
	       "\"w%d\"", "]},", n, false);
	repeat(&params, "\"default\":[", "\"w%d\"", "]}}}}", n, true);
	elicit_answer(buf_view(&params), &result, &why);
	buf_release(&params);
	buf_release(&result);
	buf_release(&why);
}

static void marked_arguments(int n)
{
	struct buf lines = BUF(4096);
	struct buf tool = text(), arguments = text();

	repeat(&tool,
	       "{\"inputSchema\":{\"properties\":{\"x\":{\"type\":\"string\",\"x-mcp-header\":\"X\"},",
	       "\"k%d\":{\"type\":\"string\"}", "}}}", n, false);
	repeat(&arguments, "{\"x\":\"1\",", "\"k%d\":\"v\"", "}", n, true);
	mcp_header_add_params(&lines, buf_view(&tool), buf_view(&arguments));
	buf_release(&lines);
	buf_release(&tool);
	buf_release(&arguments);
}

/* ---- tools/list_changed ---- */

static struct buf tools;

static int answer_list(struct mcp_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
                       struct error *err)
{
	(void)c, (void)q, (void)err;
	*r = (struct mcp_reply){.got = MCP_GOT_RESULT, .message.result = buf_view(&tools)};
	return 0;
}

static const struct mcp_channel_ops fake = {.name = "fake", .exchange = answer_list};

static void list_changed(int n)
{
	struct io_conf io_conf = {.clock = clock_real(), .stop_fd = -1};
	struct mcp_session session = {.ops = &fake, .tools_changed = true, .request = text()};
	struct env_mcp e = {.session = &session, .tools = text()};
	struct error err;

	if (io_new(&io_conf, &session.conf.io, &err))
		abort();
	session.conf.events = &e.base.events;
	session.marked = text();
	tools = text();
	repeat(&tools, "{\"tools\":[", "{\"name\":\"t%d\"}", "]}", n, false);
	repeat(&e.tools, "[", "{\"name\":\"t%d\",\"title\":\"T\"}", "]", n, true);
	if (mcp_check_tools(&e, &err))
		abort();
	buf_release(&tools);
	buf_release(&e.tools);
	buf_release(&session.request);
	buf_release(&session.marked);
	events_release(&e.base.events);
	io_free(session.conf.io);
}

/* ---- OpenEnv ---- */

static void openenv_frame(int n)
{
	struct openenv_question q = {.known_tool = true};
	struct openenv_answer a = {.got = OPENENV_ANSWER};
	struct buf data = text(), then = text();
	struct reply_reading reading;
	struct env_reply reply;

	repeat(&data, "{\"observation\":{\"text\":\"Error: no\",\"success\":false,", MEMBERS,
	       "},\"reward\":1}", n, false);
	repeat(&then, "{\"success\":true,", MEMBERS, "}", n, true);
	q.before.last = buf_view(&then);
	a.data = buf_view(&data);
	reading_init(&reading);
	openenv_read(&a, &q, &reading, &reply);
	reading_release(&reading);
	buf_release(&data);
	buf_release(&then);
}

static void openenv_errors(int n)
{
	struct openenv_answer a = {.got = OPENENV_ERROR};
	struct reply_reading reading;
	struct buf data = text();
	struct env_reply reply;

	repeat(&data, "{\"message\":\"no\",\"errors\":[", "{\"loc\":[\"a\",%d],\"msg\":\"m\"}",
	       "]}", n, false);
	a.data = buf_view(&data);
	reading_init(&reading);
	openenv_read(&a, NULL, &reading, &reply);
	reading_release(&reading);
	buf_release(&data);
}

/* ---- schemas ---- */

static void references(int n)
{
	struct buf schema = text(), arguments = text(), out = text();
	struct named_values none = {.count = 0};
	struct arena arena = {0};
	struct error err;
	struct rng r;

	repeat(&schema, "{\"properties\":{", "\"k%d\":{\"$ref\":\"#/$defs/d%d\"}", "},", n, false);
	repeat(&schema, "\"$defs\":{", "\"d%d\":{\"type\":\"string\"}", "},", n, true);
	repeat(&schema, "\"required\":[", "\"k%d\"", "]}", n, true);
	repeat(&arguments, "{", "\"k%d\":\"w\"", "}", n, true);
	(void)!arguments_check(arguments_read(&arena, buf_view(&schema)), buf_view(&arguments),
	                       &err);
	rng_seed(&r, 1, 0);
	draw_arguments(&r, buf_view(&schema), &none, &out);
	arena_release(&arena);
	buf_release(&schema);
	buf_release(&arguments);
	buf_release(&out);
}

static void alternatives(int n)
{
	struct buf schema = text();
	struct arena arena = {0};
	struct references r;

	repeat(&schema, "{\"anyOf\":[", "{\"$ref\":\"#/$defs/d%d\"}", "],", n, false);
	repeat(&schema, "\"$defs\":{", "\"d%d\":{\"type\":\"string\"}", "}}", n, true);
	references_begin(&r, buf_view(&schema), &arena);
	(void)schema_names(&r, buf_view(&schema), "number");
	arena_release(&arena);
	buf_release(&schema);
}

static void wrong_words(int n)
{
	struct buf schema = text();
	struct arena arena = {0};
	struct error err;

	repeat(&schema, "{\"properties\":{\"k\":{\"type\":\"string\",\"enum\":[", "\"w%d\"", "]}}}",
	       n, false);
	const struct arguments_schema *s = arguments_read(&arena, buf_view(&schema));
	for (int i = 0; i < n; i++) { /* for as many calls */
		(void)!arguments_check(s, STR("{\"k\":\"none of them, and not near to one\"}"),
		                       &err);
	}
	arena_release(&arena);
	buf_release(&schema);
}

/* ---- models ---- */

static const char *format_read;

static void read_text(const struct buf *reply)
{
	struct reading_conf conf = {
		.tools = STR(
			"[{\"name\":\"f\",\"inputSchema\":{\"properties\":{\"a\":{},\"b\":{}}}}]"),
		.format = format_read,
		.repair = true};
	struct arena arena = {0};
	struct reading out;

	reading_text(&conf, buf_view(reply), &arena, &out);
	arena_release(&arena);
}

static const struct tool_format *row;
static const char *between;

/* The mark and its possible continuations, repeated. */
static void marks_again(const char *mark, int n)
{
	struct buf reply = text();

	for (int i = 0; i < n; i++) {
		buf_text(&reply, mark);
		buf_text(&reply, between);
	}
	read_text(&reply);
	buf_release(&reply);
}

/* The beginning of one call, and in it the mark repeatedly. */
static void marks_inside(const char *mark, int n)
{
	struct buf reply = text();

	buf_text(&reply, row->open[0] ? row->open[0] : "");
	buf_text(&reply, between);
	for (int i = 0; i < n; i++) {
		buf_text(&reply, mark);
		buf_text(&reply, between);
	}
	read_text(&reply);
	buf_release(&reply);
}

static bool is_linear(uint64_t few, uint64_t many)
{
	return few > 0 && many <= TIMES_WORSE * few;
}

/* The marks with each text between them; one result for all texts. */
static void check_mark(const char *mark, void (*work)(const char *mark, int n), int n,
                       const char *const *texts, const char *how)
{
	for (; *texts; texts++) {
		between = *texts;
		blocks = 0;
		work(mark, n / 4);
		uint64_t few = blocks;
		blocks = 0;
		work(mark, n);
		if (!is_linear(few, blocks))
			break;
	}
	char what[512];
	snprintf(what, sizeof(what), "%s: \"%s\" %s%s%s", row->name, mark, how,
	         *texts ? ", between: " : "", *texts ? *texts : "");
	for (char *feed; (feed = strchr(what, '\n')) != NULL;)
		*feed = ' '; /* some marks contain one */
	ok(!*texts, "%s", what);
}

#define ROW_MARKS (9 * MARKS_MAX)

static size_t marks_of(const char *marks[ROW_MARKS])
{
	const char *const *const lists[] = {row->open,        row->close,      row->parameter,
	                                    row->value_close, row->name_end,   row->before_json,
	                                    row->around,      row->section_end};
	const char *const others[MARKS_MAX] = {row->key_end, row->value_open, row->quote,
	                                       "</think>", "```"};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < MARKS_MAX && lists[i][k]; k++)
			marks[count++] = lists[i][k];
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		marks[count] = others[i];
		count += others[i] != NULL;
	}
	return count;
}

static void check_row(void)
{
	const char *const texts[] = {"",
	                             "f",
	                             " f\n{\"a\":",
	                             "=a>b",
	                             "=\"f\">",
	                             "a=\"b\">",
	                             "{\"name\":\"f\",\"arguments\":{\"a\":\"",
	                             "[{\"name\":\"g\"}]",
	                             "function",
	                             "```json",
	                             "(",
	                             ")",
	                             NULL};
	const char *const few[] = {"", "f", "function", "{", NULL};
	const char *marks[ROW_MARKS];
	size_t count = marks_of(marks);

	for (size_t i = 0; i < count; i++) {
		check_mark(marks[i], marks_again, N, texts, "again and again");
		check_mark(marks[i], marks_inside, N, texts, "inside a call");
	}
	for (size_t i = 0; i < count * count; i++) {
		char pair[256];

		snprintf(pair, sizeof(pair), "%s%s", marks[i / count], marks[i % count]);
		check_mark(pair, marks_again, N / 4, few, "again and again");
	}
}

static void check_formats(void)
{
	for (size_t i = 0; i < tool_formats_count; i++) {
		row = &tool_formats[i];
		format_read = NULL;
		check_row();
		format_read = row->name;
		check_row();
	}
	format_read = NULL;
}

static void bare_reply(const char *first, const char *each, int n)
{
	struct buf reply = text();

	repeat(&reply, first, each, "", n, false);
	read_text(&reply);
	buf_release(&reply);
}

static void bare_objects(int n)
{
	bare_reply("", "{\"name\":\"f\",\"arguments\":{\"a\":%d}}\n", n);
}

/* Fewer marks than the reader examines for one value at most: if it examined those behind each
   value again, the work would be quadratic. */
static void undeclared_parameters(int n)
{
	bare_reply("<function=f><parameter=a>", "x</parameter><parameter=p%d>", n / 4);
}

static void bare_keywords(int n)
{
	bare_reply("f(", "a%d='it's', ", n);
}

static void bare_quotes(int n)
{
	bare_reply("[f(a='", "'", n);
}

static void thoughts(int n)
{
	bare_reply("", "<think>%d</think>", n);
}

static void open_thoughts(int n)
{
	bare_reply("", "<think>[THINK]%d", n);
}

static void brackets(int n)
{
	bare_reply("", "[{", n);
}

static void stream_deltas(int n)
{
	struct buf all = text();
	struct chat_stream s;
	struct chat_reply reply;
	struct error err;

	repeat(&all, "",
	       "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\",\"tool_calls\":[{\"index\":%d,"
	       "\"id\":\"i%d\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n",
	       "", n, false);
	chat_stream_init(&s);
	for (struct str rest = buf_view(&all); rest.n;) {
		size_t length = (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p);

		if (chat_stream_add(&s, (struct str){rest.p, length}, &err))
			abort();
		rest = str_skip(rest, length + 1);
	}
	chat_stream_reply(&s, true, &reply);
	chat_reply_release(&reply);
	chat_stream_release(&s);
	buf_release(&all);
}

static void native_calls(int n)
{
	struct calls_conf conf = {.tools = STR("[{\"name\":\"f\"}]"), .repair = true};
	struct buf body = text();
	struct chat_reply reply;
	struct tool_calls calls;
	struct arena arena = {0};
	struct error err;

	repeat(&body, "{\"choices\":[{\"message\":{\"tool_calls\":[",
	       "{\"id\":\"i%d\",\"function\":{\"name\":\"f\",\"arguments\":\"{'a':1}\"}}", "]}}]}",
	       n, false);
	if (chat_reply_read(buf_view(&body), &reply, &err))
		abort();
	calls_read(&conf, &reply, &arena, &calls);
	arena_release(&arena);
	chat_reply_release(&reply);
	buf_release(&body);
}

/* ---- our servers ---- */

static void serve_request(const char *protocol, const char *method, const char *path,
                          const struct buf *request)
{
	struct serve_conf conf;
	struct reply r = {.body = text()};
	struct request q = {.method = str_from(method),
	                    .path = str_from(path),
	                    .body = buf_view(request),
	                    .session = STR_NONE,
	                    .accept = STR("application/json, text/event-stream"),
	                    .content_type = STR("application/json")};
	struct gym gym;
	struct openenv openenv;
	struct error err;

	serve_conf_init(&conf, clock_real());
	if (serve_conf_target(&conf, str_from(protocol), &err))
		abort();
	gym_init(&gym, &conf);
	openenv_init(&openenv, &conf);
	if (conf.protocol == SERVE_OPENENV)
		openenv_answer(&openenv, &q, &r);
	else
		exchange_answer(&gym, &q, &r);
	gym_release(&gym);
	openenv_release(&openenv);
	buf_release(&r.body);
}

static void serve_members(const char *protocol, const char *path, const char *first,
                          const char *last, int n)
{
	struct buf request = text();

	repeat(&request, first, MEMBERS, last, n, false);
	serve_request(protocol, "POST", path, &request);
	buf_release(&request);
}

static void mcp_request_body(int n)
{
	serve_members("frozen_lake", "/mcp",
	              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
	              "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
	              "\"name\":\"t\",\"version\":\"1\",",
	              "}}}", n);
}

static void control_body(int n)
{
	serve_members("frozen_lake", "/control/reset_session", "{\"seed\":1,", "}", n);
}

static void openenv_reset_body(int n)
{
	serve_members("frozen_lake?protocol=openenv", "/reset", "{\"seed\":1,", "}", n);
}

static void openenv_step_body(int n)
{
	serve_members("frozen_lake?protocol=openenv", "/step", "{\"action\":{\"action\":1,", "}}",
	              n);
}

static void openenv_message(int n)
{
	struct openenv_reply greeting = {.text = text()}, r = {.text = text()};
	struct buf message = text();
	struct openenv_session s;
	struct serve_conf conf;
	struct openenv o;

	repeat(&message, "{\"type\":\"step\",\"data\":{\"action\":1,", MEMBERS, "}}", n, false);
	serve_conf_init(&conf, clock_real());
	openenv_init(&o, &conf);
	openenv_open(&o, &s, STR_NONE, &greeting);
	openenv_handle_message(&s, buf_view(&message), false, false, &r);
	openenv_session_close(&s);
	openenv_release(&o);
	buf_release(&message);
	buf_release(&r.text);
	buf_release(&greeting.text);
}

static void chat_messages(int n)
{
	struct buf body = text(), why = text();
	struct arena arena = {0};
	struct scripted_request asked;

	repeat(&body, "{\"model\":\"m\",\"tools\":[",
	       "{\"type\":\"function\",\"function\":{\"name\":\"t%d\",\"parameters\":{}}}", "],", n,
	       false);
	repeat(&body, "\"messages\":[",
	       "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c%d\",\"type\":"
	       "\"function\",\"function\":{\"name\":\"t%d\",\"arguments\":\"{}\"}}]},"
	       "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"x\"}",
	       "]}", n, false);
	llm_check(buf_view(&body), &arena, &asked, &why);
	arena_release(&arena);
	buf_release(&body);
	buf_release(&why);
}

static void small_frames(int n)
{
	static const char ping[] = "\x89\x80mask",
			  piece[] = "\x01\x81mask"
				    "a",
			  more[] = "\x00\x81mask"
				   "a";
	struct frames f;

	frames_init(&f, false, 16 << 20, 64 << 20);
	frames_feed(&f, (struct str){piece, 7});
	for (int i = 0; i < n; i++) {
		frames_feed(&f, (struct str){ping, 6});
		frames_feed(&f, (struct str){more, 7});
		for (struct frame_message *m; (m = frames_next(&f));)
			frame_message_free(m);
	}
	frames_release(&f);
}

static void handshake_lines(int n)
{
	static const unsigned char key[HANDSHAKE_KEY_BYTES];
	struct buf reply = text();
	struct handshake h;
	struct error err;

	repeat(&reply, "HTTP/1.1 403 no\r\n", "x: %d\r\n", "\r\n", n, false);
	if (handshake_begin(&h, "http://127.0.0.1/ws", "t", NULL, 0, key, &err))
		abort();
	for (size_t i = 0;
	     i < reply.n && handshake_feed(&h, (struct str){reply.p + i, 1}, &err) == 0;) {
		i++;
	}
	handshake_release(&h);
	buf_release(&reply);
}

/* Nested arrays and recursive objects of the schema: 30 or 100 to the power of 6 values. */
static void check_powers(void)
{
	static const char *const schemas[] = {
		"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"required\":[\"a\"],\"$defs\":{"
		"\"a\":{\"type\":\"array\",\"minItems\":100,\"items\":{\"$ref\":\"#/$defs/a\"}}}}",
		"{\"type\":\"object\",\"additionalProperties\":false",
	};
	struct named_values none = {.count = 0};
	struct buf schema = text();

	buf_text(&schema, schemas[1]);
	repeat(&schema, ",\"properties\":{", "\"k%d\":{\"$ref\":\"#\"}", "}", 30, false);
	repeat(&schema, ",\"required\":[", "\"k%d\"", "]}", 30, false);
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
		struct buf out = text();
		struct json_fault fault;
		struct rng r;

		rng_seed(&r, 1, 0);
		blocks = 0;
		draw_arguments(&r, i ? buf_view(&schema) : str_from(schemas[i]), &none, &out);
		ok(blocks < (uint64_t)1e9 && json_validate(buf_view(&out), &fault) == 0,
		   "values that multiply: %llu blocks, %zu bytes", (unsigned long long)blocks,
		   out.n);
		buf_release(&out);
	}
	buf_release(&schema);
}

static const struct scaling_case cases[] = {
	{"members of a failed answer that are as before", failed_as_before},
	{"members next to a text that looks like an error", error_text_as_before},
	{"members that are searched for next to a long one", one_long_member},
	{"fields of a form", form_fields},
	{"a required field named again and again", form_required_again},
	{"options of a field, all of them the default", form_options},
	{"arguments of a tool with one header", marked_arguments},
	{"tools that are listed again", list_changed},
	{"members of an OpenEnv observation", openenv_frame},
	{"errors of an OpenEnv frame", openenv_errors},
	{"references of a schema", references},
	{"alternatives that are references", alternatives},
	{"calls with a wrong word of as many", wrong_words},
	{"objects one after the other", bare_objects},
	{"undeclared parameters", undeclared_parameters},
	{"keyword arguments", bare_keywords},
	{"quotes", bare_quotes},
	{"thoughts", thoughts},
	{"thoughts without an end", open_thoughts},
	{"brackets", brackets},
	{"calls of a stream", stream_deltas},
	{"calls of a reply", native_calls},
	{"members of a request to serve's MCP", mcp_request_body},
	{"members of a request to its control plane", control_body},
	{"members of an OpenEnv reset", openenv_reset_body},
	{"members of an OpenEnv step", openenv_step_body},
	{"members of an OpenEnv message", openenv_message},
	{"tools and messages of a chat request", chat_messages},
	{"frames of one message", small_frames},
	{"headers of a handshake's reply, byte by byte", handshake_lines},
};

int main(void)
{
	struct error err;

	if (io_global_init(&err))
		abort();
	scaling_run(cases, ARRAY_LEN(cases));
	check_formats();
	check_powers();
	io_global_cleanup();
	return done();
}
