/* The built-in server over OpenEnv, by the bytes of its frames: replies, refusals, and
   which refusals end a session. */
#include "ws_client.h"

#include "base/clock.h"

#define GRID0 "\\n\\u001b[41mS\\u001b[0mFFF\\nFHFH\\nFFFH\\nHFFG\\n"
#define GRID4 "  (Down)\\nSFFF\\n\\u001b[41mF\\u001b[0mHFH\\nFFFH\\nHFFG\\n"

#define DOWN  "{\"type\":\"step\",\"data\":{\"action\":\"DOWN\"}}"
#define RESET "{\"type\":\"reset\",\"data\":{\"seed\":42,\"episode_id\":\"ep-1\"}}"
#define STATE "{\"type\":\"state\"}"
#define INVALID                                                                                    \
	"{\"type\":\"error\",\"data\":{\"message\":\"Invalid "                                     \
	"message\",\"code\":\"VALIDATION_ERROR\",\"errors\":["
#define WRONG(message, input)                                                                      \
	"{\"type\":\"value_error\",\"loc\":[\"body\"],\"msg\":\"" message "\",\"input\":" input "}"
#define NO_DICT(field, type, input)                                                                \
	WRONG("argument '" field "' is " type ", but the schema requires \\\"object\\\"", input)
#define MISSING(field, input) WRONG("the required argument \\\"" field "\\\" is missing", input)
#define NOT_OBJECT(input)     "{\"detail\":[" WRONG("the body is not a JSON object", input) "]}"
#define NO_SEED               FAILED("Seed must be an integer, zero or more", "EXECUTION_ERROR")
#define FAILED(message, code)                                                                      \
	"{\"type\":\"error\",\"data\":{\"message\":\"" message "\",\"code\":\"" code "\"}}"
#define PLACE(id, steps, position, grid)                                                           \
	"{\"type\":\"state\",\"data\":{\"episode_id\":" id ",\"step_count\":" steps                \
	",\"terminated\":false,\"position\":" position ",\"grid\":\"" grid "\"}}"

/* ---- a session ---- */

static void walk(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_str(ws_ask(fd, STATE, &f), PLACE("null", "0", "0", GRID0),
	       "there is a state before the first reset");
	is_str(ws_ask(fd, RESET, &f),
	       "{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{},"
	       "\"position\":0,\"grid\":\"" GRID0 "\"},\"reward\":null,\"done\":false}}",
	       "a reset");
	is_str(ws_ask(fd, DOWN, &f),
	       "{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{"
	       "\"prob\":1.0},\"position\":4,\"grid\":\"" GRID4
	       "\"},\"reward\":0.0,\"done\":false,\"metadata\":{\"prob\":1.0}}}",
	       "a step, with its metadata in both places");
	is_str(ws_ask(fd, STATE, &f), PLACE("\"ep-1\"", "1", "4", GRID4), "the state");
	is_int(server_steps(s), 1, "one step was executed");
	ws_say(fd, "{\"type\":\"close\"}");
	ws_next(fd, &f);
	is_int(f.code, 1000, "close is answered by a Close");
	ws_leave(fd);
	server_stop(s);
}

static void to_the_goal(void)
{
	static const char *const moves[] = {"DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"};
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	char step[128];
	int fd = ws_connect(s);

	ws_ask(fd, RESET, &f);
	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		snprintf(step, sizeof(step), "{\"type\":\"step\",\"data\":{\"action\":\"%s\"}}",
		         moves[i]);
		ws_ask(fd, step, &f);
	}
	ok(strstr(f.text, "\"reward\":1.0,\"done\":true") != NULL, "the goal: %s", f.text);
	ws_ask(fd, DOWN, &f);
	ok(strstr(f.text, "\"reward\":0.0,\"done\":true") != NULL,
	   "a step after the end is answered");
	ws_ask(fd, STATE, &f);
	ok(strstr(f.text, "\"step_count\":7,\"terminated\":true,\"position\":15"), "and counted");
	ws_leave(fd);
	server_stop(s);
}

/* Fragments, blanks, several at once: each message gets one reply, in order. */
static void message_forms(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	int fd = ws_connect(s);

	ws_send(fd, WS_TEXT, STR("{\"type\":"));
	ws_send(fd, WS_FIN | WS_PING, STR("hi"));
	ws_send(fd, WS_FIN, STR("\"state\"}"));
	ws_next(fd, &f);
	is_int(f.opcode, WS_PONG, "a ping between fragments");
	is_str(f.text, "hi", "is answered in kind");
	ws_next(fd, &f);
	is_int(f.opcode, WS_TEXT, "and the message too");
	is_str(ws_ask(fd, " \r\n" STATE "\t", &f), PLACE("null", "0", "0", GRID0),
	       "blanks do not matter");
	for (int i = 0; i < 100; i++)
		ws_say(fd, i == 50 ? DOWN : STATE);
	for (int i = 0; i < 50; i++) {
		ws_next(fd, &f);
		ok(strstr(f.text, "\"step_count\":0") != NULL, "answer %d", i);
	}
	ws_next(fd, &f);
	ok(strstr(f.text, "\"type\":\"observation\"") != NULL, "the step's");
	for (int i = 51; i < 100; i++) {
		ws_next(fd, &f);
		ok(strstr(f.text, "\"step_count\":1") != NULL, "answer %d", i);
	}
	ws_leave(fd);
	server_stop(s);
}

/* ---- refused messages, after which the session continues ---- */

static const struct {
	const char *sent, *got;
} refusals[] = {
	{"not json",
         FAILED("Invalid JSON: expected null, true or false at byte 1", "INVALID_JSON")},
	{"{} x", FAILED("Invalid JSON: unexpected text after the value at byte 3", "INVALID_JSON")},
	{"{\"type\":\"nonsense\"}", FAILED("Unknown message type: nonsense", "UNKNOWN_TYPE")},
	{"{\"a\":1}", FAILED("Unknown message type: ", "UNKNOWN_TYPE")},
	{"{\"type\":[1]}", FAILED("Unknown message type: ", "UNKNOWN_TYPE")},
	{"{\"type\":\"step\"}", INVALID MISSING("data", "{\"type\":\"step\"}") "]}}"},
	{"{\"type\":\"state\",\"id\":1e2}",
         INVALID WRONG("the tool has no argument 'id'; available: type",
                       "{\"type\":\"state\",\"id\":1e2}") "]}}"},
	{"{\"type\":\"reset\",\"data\":null}",
         INVALID NO_DICT("data", "null", "{\"type\":\"reset\",\"data\":null}") "]}}"},
	{"{\"type\":\"step\",\"data\":{\"action\":\"SIDEWAYS\"}}",
         INVALID WRONG(
		 "argument 'action' does not accept 'SIDEWAYS'; available: LEFT, DOWN, RIGHT, UP",
		 "{\"action\":\"SIDEWAYS\"}") "]}}"},
	{"{\"type\":\"step\",\"data\":{\"metadata\":5}}",
         INVALID NO_DICT("metadata", "a number", "{\"metadata\":5}") "]}}"},
	{"{\"type\":\"reset\",\"data\":{\"seed\":-1}}", NO_SEED},
	{"{\"type\":\"reset\",\"data\":{\"seed\":1.5}}", NO_SEED},
	{"{\"type\":\"reset\",\"data\":{\"episode_id\":5}}",
         INVALID WRONG(
		 "argument 'episode_id' is a number, but the schema requires [\\\"string\\\",\\\"null\\\"]",
		 "{\"episode_id\":5}") "]}}"},
	{"{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
         "list\",\"params\":{}}}",
         "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":"
         "-32603,\"message\":\"Environment does not support MCP\",\"data\":null}}}"},
	{"{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":"
         "\"initialize\"}}",
         "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{"
         "\"code\":-32601,\"message\":\"Method not found\",\"data\":null}}}"},
	{"{\"type\":\"mcp\",\"data\":{\"id\":1}}",
         "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{"
         "\"code\":-32600,\"message\":\"Invalid request\",\"data\":null}}}"},
};

static void refused(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	int fd = ws_connect(s);

	ws_ask(fd, RESET, &f);
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		is_str(ws_ask(fd, refusals[i].sent, &f), refusals[i].got, "refusal %zu", i);
	is_str(ws_ask(fd, STATE, &f), PLACE("\"ep-1\"", "0", "0", GRID0),
	       "none of them had an effect");
	is_int(server_steps(s), 0, "or was a step");
	ws_leave(fd);
	server_stop(s);
}

/* ---- what ends the session ---- */

static void session_errors(void)
{
	static const struct {
		unsigned first;
		struct str sent;
		const char *got;
	} ends[] = {
		{WS_FIN | WS_BINARY, STR_INIT(STATE),
	         FAILED("A message must be text", "SESSION_ERROR")},
		{WS_FIN | WS_TEXT, STR_INIT("[]"),
	         FAILED("A message must be an object", "SESSION_ERROR")},
		{WS_FIN | WS_TEXT, STR_INIT(" null "),
	         FAILED("A message must be an object", "SESSION_ERROR")},
	};
	struct server *s = start_server("frozen_lake?protocol=openenv&max_envs=1");
	struct ws_frame f;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		int fd = ws_connect(s);

		ws_send(fd, ends[i].first, ends[i].sent);
		ws_next(fd, &f);
		is_str(f.text, ends[i].got, "sent before the end");
		ws_next(fd, &f);
		is_int(f.code, 1000, "then Close 1000");
		ws_leave(fd);
	}
	server_stop(s);
}

static void protocol_violations(void)
{
	static const struct {
		const char *what;
		struct str sent; /* raw bytes */
		int code;
	} all[] = {
		{"a frame without a mask", STR_INIT("\x81\x02{}"), 1002},
		{"a reserved bit", STR_INIT("\xc1\x82\0\0\0\0{}"), 1002},
		{"an unknown opcode", STR_INIT("\x83\x80\0\0\0\0"), 1002},
		{"text that is not UTF-8", STR_INIT("\x81\x82\0\0\0\0\xff\xfe"), 1007},
	};
	struct server *s = start_server("frozen_lake?protocol=openenv&max_envs=1");
	struct ws_frame f;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		int fd = ws_connect(s);

		send_all(fd, all[i].sent.p, all[i].sent.n);
		ws_next(fd, &f);
		is_int(f.code, all[i].code, "%s", all[i].what);
		ok(ws_ended(fd), "and the end");
		close(fd);
	}
	server_stop(s);
}

static void too_large(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv&max_envs=1");
	size_t limit = (size_t)16 << 20;
	char *text = calloc(1, limit + 1);
	struct ws_frame f;

	memset(text, ' ', limit);
	int fd = ws_connect(s);
	ws_send(fd, WS_FIN | WS_TEXT, (struct str){text, limit});
	ws_next(fd, &f);
	ok(strstr(f.text, "INVALID_JSON") != NULL, "16 MiB is a message: %s", f.text);
	ws_send(fd, WS_TEXT, (struct str){text, limit});
	ws_send(fd, WS_FIN, (struct str){text, 1});
	ws_next(fd, &f);
	is_int(f.code, 1009, "one more byte is refused");
	close(fd);
	fd = ws_connect(s);
	ws_send(fd, WS_FIN | WS_TEXT, (struct str){text, limit + 1});
	ws_next(fd, &f);
	is_int(f.code, 1009, "nor is one large frame");
	close(fd);
	free(text);
	server_stop(s);
}

/* ---- room ---- */

#define FULL                                                                                       \
	"{\"type\":\"error\",\"data\":{\"message\":\"Server at capacity: 2/2 sessions "            \
	"active. Cannot accept new connections.\",\"code\":\"CAPACITY_REACHED\","                  \
	"\"active_sessions\":2,\"max_sessions\":2}}"

static void capacity(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv&max_envs=2");
	struct ws_frame f;
	struct got g;
	int a = ws_connect(s), b = ws_connect(s), c;

	ws_ask(a, STATE, &f);
	ws_ask(b, STATE, &f);
	c = ws_connect(s);
	ws_next(c, &f);
	is_str(f.text, FULL, "the third connects, and gets an unsolicited message");
	ws_next(c, &f);
	is_int(f.code, 1000, "then a normal Close");
	is_str(f.text, "", "without a reason");
	ask(s, "GET", "/health", "", "", &g);
	is_str(g.body, "{\"status\":\"healthy\"}", "as the server reports");
	ws_send(c, WS_FIN | WS_CLOSE, STR("\x03\xe8"));
	ok(ws_ended(c), "the answer to Close is the end");
	close(c);
	ws_leave(a);
	c = ws_connect(s);
	ws_ask(c, STATE, &f);
	is_str(f.text, PLACE("null", "0", "0", GRID0), "room is given back");
	close(b); /* without a Close frame */
	for (int i = 0; i < 1000; i++) {
		int d = ws_connect(s);

		ws_ask(d, STATE, &f);
		close(d);
		if (!strstr(f.text, "CAPACITY"))
			break;
	}
	is_str(f.text, PLACE("null", "0", "0", GRID0), "also after a client has disconnected");
	close(c);
	server_stop(s);
}

static void isolation(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	int a = ws_connect(s), b = ws_connect(s);

	ws_ask(a, RESET, &f);
	ws_ask(a, DOWN, &f);
	is_str(ws_ask(b, STATE, &f), PLACE("null", "0", "0", GRID0),
	       "each connection has its own environment");
	ws_leave(a);
	ws_leave(b);
	server_stop(s);
}

/* A step that takes an hour, without waiting for it. */
static void other_sessions_continue(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv&delay=1h");
	struct ws_frame f;
	int a = ws_connect(s), b = ws_connect(s);

	ws_say(a, DOWN);
	ws_say(a, STATE);
	ws_send(a, WS_FIN | WS_PING, STR("there?"));
	ws_next(a, &f);
	is_int(f.opcode, WS_PONG, "pings are answered meanwhile");
	is_str(ws_ask(b, STATE, &f), PLACE("null", "0", "0", GRID0), "and so is everybody else");
	is_str(ws_ask(b, "{\"type\":\"step\",\"data\":{}}", &f),
	       INVALID MISSING("action", "{}") "]}}", "an invalid step is refused without a delay");
	is_int(server_steps(s), 0, "the step is not done yet");
	server_stop(s);
	ws_next(a, &f);
	is_int(f.code, 1012, "waiting clients get the end");
	ws_next(b, &f);
	is_int(f.code, 1012, "like everybody");
	ok(ws_ended(b), "the connection ends");
	close(a);
	close(b);
}

/* ---- a world of tools ---- */

#define CALL(tool, arguments)                                                                      \
	"{\"type\":\"step\",\"data\":{\"type\":\"call_tool\",\"tool_name\":\"" tool                \
	"\",\"arguments\":" arguments "}}"
#define RPC(method, params)                                                                        \
	"{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method            \
	"\",\"params\":" params "}}"
#define OBSERVED(members)                                                                          \
	"{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{}" members             \
	"},\"reward\":"

static void tools(void)
{
	struct server *s = start_server("desk?protocol=openenv");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_str(ws_ask(fd, RESET, &f), OBSERVED("") "null,\"done\":false}}",
	       "the reset's observation is empty");
	ws_ask(fd, "{\"type\":\"step\",\"data\":{\"type\":\"list_tools\"}}", &f);
	ok(strstr(f.text, "\"tools\":[{\"name\":\"get_task\",\"description\":") &&
	           strstr(f.text, "\"input_schema\":{"),
	   "a step that lists the tools");
	is_int(server_steps(s), 0, "is none");
	ws_ask(fd, CALL("get_item", "{\"key\":\"memo\"}"), &f);
	ok(strstr(f.text, ",\"tool_name\":\"get_item\",\"result\":{\"content\":[{"
	                  "\"type\":\"text\",\"text\":\"{\\\"key\\\":\\\"memo\\\"") &&
	           strstr(f.text, "\"is_error\":false},\"error\":null},\"reward\":0.0,"),
	   "a call and its result: %s", f.text);
	is_str(ws_ask(fd, CALL("nope", "{}"), &f),
	       OBSERVED(",\"tool_name\":\"nope\",\"result\":null,\"error\":{"
	                "\"error_type\":\"tool_not_found\",\"message\":\"Unknown tool: "
	                "nope\"}") "0.0,\"done\":false}}",
	       "an unknown tool, reported in an observation");
	is_str(ws_ask(fd, CALL("get_item", "{\"key\":\"zz\"}"), &f),
	       OBSERVED(",\"tool_name\":\"get_item\",\"result\":null,\"error\":{"
	                "\"error_type\":\"execution_error\",\"message\":\"Error "
	                "executing tool get_item: No item 'zz' on the desk\"}") "0.0,"
	                                                                        "\"done\":"
	                                                                        "false}}",
	       "a call that fails");
	ws_ask(fd, STATE, &f);
	ok(strstr(f.text, "\"step_count\":3,") != NULL, "each of them is counted");
	ws_ask(fd, RPC("tools/list", "{}"), &f);
	ok(strstr(f.text, "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":7,"
	                  "\"result\":{\"tools\":[{\"name\":\"get_task\",") == f.text,
	   "the tools over MCP");
	is_str(ws_ask(fd, RPC("tools/call", "{\"name\":\"get_task\"}"), &f),
	       "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{"
	       "\"code\":-32603,\"message\":\"Call tools in messages of type step\",\"data\":null}}}",
	       "a call outside of steps");
	ws_ask(fd, STATE, &f);
	ok(strstr(f.text, "\"step_count\":3,") != NULL, "none of them is a step");
	is_str(ws_ask(fd, "{\"type\":\"step\",\"data\":{\"type\":\"zzz\"}}", &f),
	       INVALID WRONG("argument 'type' can only be \\\"call_tool\\\"",
	                     "{\"type\":\"zzz\"}") "]}}",
	       "an invalid action");
	ws_leave(fd);
	server_stop(s);
}

/* ---- pings ---- */

static struct server *start_pinging(uint64_t ping_ms, uint64_t timeout_ms)
{
	struct serve_conf c;
	struct server *s = NULL;
	struct error err;

	serve_conf_init(&c, clock_real());
	c.ping_ms = ping_ms;
	c.ping_timeout_ms = timeout_ms;
	if (serve_conf_target(&c, STR("frozen_lake?protocol=openenv"), &err) != 0 ||
	    server_start(&c, &s, &err) != 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return s;
}

static void pings(void)
{
	struct server *s = start_pinging(1, 3600000);
	struct ws_frame f;
	int fd = ws_connect(s);

	for (int i = 0; i < 3; i++) {
		ws_next(fd, &f);
		is_int(f.opcode, WS_PING, "a ping arrives");
		ws_send(fd, WS_FIN | WS_PONG, (struct str){f.text, 4});
	}
	ws_next(fd, &f);
	is_int(f.opcode, WS_PING, "and again after its pong");
	ws_send(fd, WS_FIN | WS_PONG, STR("else"));
	ws_ask(fd, STATE, &f);
	is_int(f.opcode, WS_TEXT, "a Pong with a different payload does not count");
	ws_leave(fd);
	server_stop(s);
}

static void no_pong(void)
{
	struct server *s = start_pinging(1, 1);
	struct ws_frame f;
	int fd = ws_connect(s);

	ws_next(fd, &f);
	is_int(f.opcode, WS_PING, "a ping without a pong");
	ws_say(fd, STATE);
	do {
		ws_next(fd, &f); /* the state, if it was requested in time */
	} while (f.opcode == WS_TEXT);
	is_int(f.code, 1011, "ends the connection, despite other messages");
	is_str(f.text, "keepalive ping timeout", "and why");
	close(fd);
	server_stop(s);
}

/* ---- the way in, and HTTP ---- */

#define KEY          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define V13          "Sec-WebSocket-Version: 13\r\n"
#define JSON         "Content-Type: application/json\r\n"
#define NO_HANDSHAKE "Sec-WebSocket-Key or Sec-WebSocket-Version 13 is missing\n"

static const struct {
	const char *method, *path, *headers;
	unsigned status;
	const char *got;
} handshakes[] = {
	{"GET", "/ws/", KEY V13, 403, ""},
	{"GET", "/nothing", KEY V13, 403, ""},
	{"GET", "/ws", V13, 400, NO_HANDSHAKE},
	{"GET", "/ws", KEY, 400, NO_HANDSHAKE},
	{"GET", "/ws", KEY "Sec-WebSocket-Version: 12\r\n", 400, NO_HANDSHAKE},
	{"GET", "/ws", "Sec-WebSocket-Key: short\r\n" V13, 400, NO_HANDSHAKE},
	{"DELETE", "/ws", KEY V13, 405, "a WebSocket is opened with GET\n"},
};

static void failed_handshakes(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct got g;
	char head[1024];

	for (size_t i = 0; i < ARRAY_LEN(handshakes); i++) {
		int fd = connect_to(s);
		int n = snprintf(head, sizeof(head),
		                 "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: "
		                 "keep-alive, Upgrade\r\nUpgrade: websocket\r\n%s\r\n",
		                 handshakes[i].method, handshakes[i].path, handshakes[i].headers);

		send_all(fd, head, (size_t)n);
		read_reply(fd, &g);
		is_int(g.status, handshakes[i].status, "%s %s: refused", handshakes[i].method,
		       handshakes[i].path);
		is_str(g.body, handshakes[i].got, "with the reason");
		close(fd);
	}
	server_stop(s);
}

static const struct {
	const char *method, *path, *headers, *body;
	unsigned status;
	const char *got;
} requests[] = {
	{"GET", "/ws", "", "", 404, "{\"detail\":\"Not Found\"}"},
	{"GET", "/", "", "", 404, "{\"detail\":\"Not Found\"}"},
	{"GET", "/step", "", "", 405, "{\"detail\":\"Method Not Allowed\"}"},
	{"GET", "/metadata", "", "", 200,
         "{\"name\":\"FrozenLake-v1\",\"description\":\"a frozen lake to cross: one "
         "tool, reward at the goal\",\"readme_content\":null,\"version\":\"builtin-1\","
         "\"author\":null,\"documentation_url\":null}"},
	{"GET", "/state", "", "", 200, "{\"episode_id\":null,\"step_count\":0}"},
	{"POST", "/reset", "", "", 200,
         "{\"observation\":{\"metadata\":{},\"position\":0,\"grid\":\"" GRID0
         "\"},\"reward\":null,\"done\":false}"},
	{"POST", "/reset", JSON, "{\"seed\":-1}", 422,
         "{\"detail\":[" WRONG("the seed must be an integer, zero or more", "{\"seed\":-1}") "]}"},
	{"POST", "/reset", JSON, "[]", 422, NOT_OBJECT("[]")},
	{"POST", "/reset", JSON, "{", 422, NOT_OBJECT("null")},
	{"POST", "/step", JSON, "{\"action\":{\"action\":\"DOWN\"}}", 200,
         "{\"observation\":{\"metadata\":{\"prob\":1.0},\"position\":4,\"grid\":\"" GRID4
         "\"},\"reward\":0.0,\"done\":false,\"metadata\":{\"prob\":1.0}}"},
	{"POST", "/step", JSON, "{\"action\":{}}", 422,
         "{\"detail\":[" MISSING("action", "{}") "]}"},
	{"POST", "/step", "", "", 422,
         "{\"detail\":[" WRONG("the body has no object action", "null") "]}"},
	{"POST", "/mcp", "", "x", 200,
         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":"
         "\"Parse error\",\"data\":null}}"},
};

static void over_http(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct got g;

	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		ask(s, requests[i].method, requests[i].path, requests[i].headers, requests[i].body,
		    &g);
		is_int(g.status, requests[i].status, "%s %s", requests[i].method, requests[i].path);
		is_str(g.body, requests[i].got, "and its body");
	}
	ask(s, "GET", "/schema", "", "", &g);
	ok(strstr(g.body, "{\"action\":{\"additionalProperties\":false,\"properties\":{"
	                  "\"metadata\":{\"additionalProperties\":true,\"title\":"
	                  "\"Metadata\",\"type\":\"object\"},\"action\":{\"enum\":["
	                  "\"LEFT\",\"DOWN\",\"RIGHT\",\"UP\"]") == g.body,
	   "the action's schema: %s", g.body);
	is_int(server_steps(s), 1, "one of them was a step");
	server_stop(s);
}

static void session_ids(void)
{
	struct server *s = start_server("frozen_lake?protocol=openenv");
	struct ws_frame f;
	int fd = connect_to(s);

	is_int(ws_handshake(fd, "/ws?session_id=abc"), 101, "connects with a session id");
	ws_next(fd, &f);
	is_str(f.text, FAILED("Unknown session_id: abc", "SESSION_ERROR"), "does not exist");
	ws_next(fd, &f);
	is_int(f.code, 1000, "and the end");
	ws_leave(fd);
	server_stop(s);
}

int main(void)
{
	walk();
	to_the_goal();
	message_forms();
	refused();
	session_errors();
	protocol_violations();
	too_large();
	capacity();
	isolation();
	other_sessions_continue();
	tools();
	pings();
	no_pong();
	failed_handshakes();
	over_http();
	session_ids();
	return done();
}
