/* The MCP endpoint of the healthy server, byte for byte. */
#include "serve_client.h"

#define STATE_4       "  (Down)\\nSFFF\\n\\u001b[41mF\\u001b[0mHFH\\nFFFH\\nHFFG\\n"
#define STATE_4_TWICE "  (Down)\\\\nSFFF\\\\n\\\\u001b[41mF\\\\u001b[0mHFH\\\\nFFFH\\\\nHFFG\\\\n"

#define RESULT(json) "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":" json "}"
#define ERROR(json)  "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":" json "}"
#define FAILED(text)                                                                               \
	RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":true}")
#define EXECUTING  "Error executing tool lake_move: "
#define VALIDATION EXECUTING "1 validation error for lake_moveArguments\\naction\\n  "
#define REFUSED(code, text)                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":" code                   \
	",\"message\":\"" text "\"}}"

static void check_opening(const struct server *s)
{
	static const struct {
		const char *wanted, *given;
	} rows[] = {
		{"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"},
		{"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
		{"2099-01-01", "2025-11-25"}, {"2024-10-07", "2025-11-25"},
	};
	struct got g;
	char text[1024];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text),
		         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\","
		         "\"params\":"
		         "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":"
		         "{}}}",
		         rows[i].wanted);
		post_in(s, NULL, text, &g);
		is_int(g.status, 200, "initialize wanting %s", rows[i].wanted);
		is_int(strlen(g.session), 32, "names a session of 32 digits");
		ok(strstr(g.head, "content-type: text/event-stream\r\n") != NULL, "in a stream");
		snprintf(text, sizeof(text),
		         RESULT("{\"protocolVersion\":\"%s\",\"capabilities\":{"
		                "\"experimental\":{},"
		                "\"prompts\":{\"listChanged\":false},\"resources\":{"
		                "\"subscribe\":"
		                "false,\"listChanged\":false},\"tools\":{\"listChanged\":"
		                "false}},"
		                "\"serverInfo\":{\"name\":\"FrozenLake-v1\",\"version\":"
		                "\"builtin-1\"}}"),
		         rows[i].given);
		is_str(message_of(&g), text, "and agrees on %s", rows[i].given);
	}
}

/* Requests in an open session. wants: the message, or NULL if only the status is checked.
   */
static const struct {
	const char *what, *body;
	unsigned status;
	const char *wants;
} messages[] = {
	{"initialized", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202,
         NULL},
	{"an unknown notification", "{\"jsonrpc\":\"2.0\",\"method\":\"nope\"}", 202, NULL},
	{"a response", "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", 202, NULL},
	{"ping", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}", 200, RESULT("{}")},
	{"an id that is text", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"ping\"}", 200,
         "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"result\":{}}"},
	{"tools/list", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}", 200,
         RESULT("{\"tools\":[{\"name\":\"lake_move\",\"description\":\"Moves one "
                "field on the "
                "frozen lake. Actions: LEFT, DOWN, RIGHT, UP.\",\"inputSchema\":{"
                "\"properties\":{\"action\":{\"enum\":[\"LEFT\",\"DOWN\","
                "\"RIGHT\",\"UP\"],"
                "\"title\":\"Action\",\"type\":\"string\"}},\"required\":["
                "\"action\"],"
                "\"title\":\"lake_moveArguments\",\"type\":\"object\"},"
                "\"outputSchema\":{"
                "\"properties\":{\"result\":{\"additionalProperties\":true,"
                "\"title\":"
                "\"Result\",\"type\":\"object\"}},\"required\":[\"result\"],"
                "\"title\":"
                "\"lake_moveOutput\",\"type\":\"object\"}}]}")},
	{"resources", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/list\"}", 200,
         RESULT("{\"resources\":[]}")},
	{"resource templates",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/templates/list\"}", 200,
         RESULT("{\"resourceTemplates\":[]}")},
	{"prompts", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"prompts/list\"}", 200,
         RESULT("{\"prompts\":[]}")},
	{"a resource",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/"
         "read\",\"params\":{\"uri\":"
         "\"game://x\"}}",
         200, ERROR("{\"code\":0,\"message\":\"Unknown resource: game://x\"}")},
	{"an unknown method", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}", 200,
         ERROR("{\"code\":-32602,\"message\":\"Invalid request "
               "parameters\",\"data\":\"\"}")},
	{"a call without a name",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{}}", 200,
         ERROR("{\"code\":-32602,\"message\":\"Invalid request "
               "parameters\",\"data\":\"\"}")},
	{"an unknown tool",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
         "call\",\"params\":{\"name\":"
         "\"nope\",\"arguments\":{}}}",
         200, FAILED("Unknown tool: nope")},
	{"no JSON", "{\"jsonrpc\":", 400, NULL},
	{"no JSON-RPC", "{\"a\":1}", 400,
         REFUSED("-32602", "Validation error: not a JSON-RPC message")},
	{"a batch", "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]", 400,
         REFUSED("-32602", "Validation error: not a JSON-RPC message")},
};

static void check_messages(const struct server *s)
{
	struct got opened, g;

	open_session(s, NULL, &opened);
	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		post_in(s, opened.session, messages[i].body, &g);
		is_int(g.status, messages[i].status, "%s: status", messages[i].what);
		is_str(g.session, opened.session, "%s: the same session", messages[i].what);
		if (messages[i].wants) {
			is_str(g.status == 200 ? message_of(&g) : g.body, messages[i].wants,
			       "%s: the answer", messages[i].what);
		}
	}
}

static void check_moves(const struct server *s)
{
	static const struct {
		const char *arguments, *wants;
	} rows[] = {
		{"{\"action\":\"DOWN\"}",
	         RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"{\\n  "
	                "\\\"position\\\": 4,\\n  "
	                "\\\"grid\\\": \\\"" STATE_4_TWICE "\\\",\\n  \\\"action\\\": "
	                "\\\"DOWN\\\"\\n}\"}],\"structuredContent\":{"
	                "\"result\":{\"position\":4,\"grid\":\"" STATE_4
	                "\",\"action\":\"DOWN\"}},\"isError\":false}")},
		{"{\"action\":\"JUMP\"}", FAILED(EXECUTING "Invalid action 'JUMP'. Valid actions: "
	                                                   "['LEFT', 'DOWN', 'RIGHT', 'UP']")},
		{"{\"action\":\"  \"}", FAILED(EXECUTING "Invalid action ''. Valid actions: "
	                                                 "['LEFT', 'DOWN', 'RIGHT', 'UP']")},
		{"{\"action\":\"\"}",
	         FAILED(EXECUTING "Invalid action parameter: ''. Must be a non-empty string. "
	                          "Valid actions: LEFT, DOWN, RIGHT, UP")},
		{"{}", FAILED(VALIDATION "Field required")},
		{"null", FAILED(VALIDATION "Field required")},
		{"{\"acton\":\"UP\"}", FAILED(VALIDATION "Field required")},
		{"{\"action\":5}", FAILED(VALIDATION "Input should be a valid string")},
		{"{\"action\":null}", FAILED(VALIDATION "Input should be a valid string")},
		{"[]", ERROR("{\"code\":-32602,\"message\":\"Invalid request "
	                     "parameters\",\"data\":\"\"}")},
	};
	struct got opened, g;
	uint64_t steps = server_steps(s);

	open_session(s, "{\"session_id\":\"moves\"}", &opened);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		call(s, opened.session, rows[i].arguments, &g);
		is_str(message_of(&g), rows[i].wants, "call with %s", rows[i].arguments);
	}
	is_int(server_steps(s) - steps, 1, "one of these calls was a step");
	move(s, opened.session, "\\t down ", &g);
	is_int(position_in(&g), 8, "small letters and blanks around them are fine");
	ask(s, "DELETE", "/mcp", "mcp-session-id: nobody\r\n", "", &g);
	is_int(g.status, 404, "an unknown session cannot be closed");
}

/* Requests that are refused before the message is parsed. */
static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}";
static const struct {
	const char *what, *method, *path, *headers, *body;
	unsigned status;
	const char *wants;
} refusals[] = {
	{"no session", "POST", "/mcp", MCP_HEADERS, ping, 400,
         REFUSED("-32600", "Bad Request: Missing session ID")},
	{"an unknown session", "POST", "/mcp", MCP_HEADERS "mcp-session-id: x\r\n", ping, 404,
         REFUSED("-32600", "Session not found")},
	{"a session of the right length", "POST", "/mcp",
         MCP_HEADERS "mcp-session-id: 00000000000000000000000000000000\r\n", ping, 404,
         REFUSED("-32600", "Session not found")},
	{"one type accepted", "POST", "/mcp",
         "Content-Type: application/json\r\nAccept: application/json\r\n", ping, 406,
         REFUSED("-32600", "Not Acceptable: Client must accept both application/json and "
                           "text/event-stream")},
	{"nothing accepted", "POST", "/mcp", "Content-Type: application/json\r\n", ping, 406, NULL},
	{"no JSON sent", "POST", "/mcp",
         "Accept: application/json, text/event-stream\r\nContent-Type: "
         "text/plain\r\n",
         ping, 400, "Invalid Content-Type header"},
	{"GET", "GET", "/mcp", "Accept: text/event-stream\r\n", "", 405,
         REFUSED("-32600", "Method Not Allowed")},
	{"DELETE without a session", "DELETE", "/mcp", "", "", 400,
         REFUSED("-32600", "Bad Request: Missing session ID")},
	{"a local page", "POST", "/mcp", MCP_HEADERS "Origin: http://localhost:3000\r\n", ping, 400,
         REFUSED("-32600", "Bad Request: Missing session ID")},
	{"another path", "POST", "/", MCP_HEADERS, ping, 404, "Not Found"},
	{"a path that only begins so", "POST", "/mcpx", MCP_HEADERS, ping, 404, "Not Found"},
	{"the slash", "POST", "/mcp/", MCP_HEADERS, ping, 400,
         REFUSED("-32600", "Bad Request: Missing session ID")},
};

static void check_refusals(const struct server *s)
{
	struct got g;

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		ask(s, refusals[i].method, refusals[i].path, refusals[i].headers, refusals[i].body,
		    &g);
		is_int(g.status, refusals[i].status, "%s: status", refusals[i].what);
		if (refusals[i].wants)
			is_str(g.body, refusals[i].wants, "%s: the body", refusals[i].what);
	}
	post_in(s, NULL, ping, &g);
	is_int(strlen(g.session), 32, "a refusal names a session");
	post_in(s, g.session, ping, &g);
	is_int(g.status, 404, "that does not exist");
}

static void check_revision_header(const struct server *s)
{
	struct got opened, g;
	char headers[512];

	open_session(s, NULL, &opened);
	snprintf(headers, sizeof(headers),
	         MCP_HEADERS "mcp-session-id: %s\r\nMCP-Protocol-Version: 1999-01-01\r\n",
	         opened.session);
	ask(s, "POST", "/mcp", headers, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}", &g);
	is_int(g.status, 400, "an unknown revision in the header");
	is_str(g.body,
	       REFUSED("-32600", "Bad Request: Unsupported protocol version: 1999-01-01. Supported "
	                         "versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"),
	       "is answered with the known ones");
}

static void check_large_body(const struct server *s)
{
	size_t n = (size_t)5 << 20;
	char *body = malloc(n + 1);
	struct got g;

	memset(body, ' ', n);
	body[n] = '\0';
	post_in(s, NULL, body, &g);
	is_int(g.status, 413, "more than 4 MiB");
	body[(4 << 20) - 1] = '\0';
	post_in(s, NULL, body, &g);
	is_int(g.status, 400, "not more is read, blank as it is");
	free(body);
}

/* Two requests on one connection, the second one sent in two parts. */
static void check_kept_connection(const struct server *s)
{
	static const char first[] = "GET /control/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	static const char second[] =
		"GET /control/nope HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
	int fd = connect_to(s);
	char bytes[512];
	struct got g;
	size_t n = 0;
	ssize_t more;

	send_all(fd, first, sizeof(first) - 1);
	bytes[0] = '\0';
	while (!strstr(bytes, "header\"}") &&
	       (more = recv(fd, bytes + n, sizeof(bytes) - 1 - n, 0)) > 0) {
		n += (size_t)more;
		bytes[n] = '\0';
	}
	send_all(fd, second, 10);
	send_all(fd, second + 10, sizeof(second) - 11);
	read_reply(fd, &g);
	is_int(g.status, 404, "the connection serves the next request");
	close(fd);
}

int main(void)
{
	struct server *s = start_server("frozen_lake?max_envs=100");

	check_opening(s);
	check_messages(s);
	check_moves(s);
	check_refusals(s);
	check_revision_header(s);
	check_large_body(s);
	check_kept_connection(s);
	server_stop(s);
	server_stop(NULL);
	return done();
}
