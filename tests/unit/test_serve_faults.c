/* Every fault of the built-in server over MCP, as a client sees it; a fault without a row
   fails the test. */
#include "serve_client.h"

#include "serve/fault/fault.h"
#include "serve/gym/gym.h"

#define TEXT(t, is_error)                                                                          \
	"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\","               \
	"\"text\":\"" t "\"}],\"isError\":" is_error "}}"
/* The error of the report that led to this project, under the n-th made-up id. */
#define FULL(limit, digits)                                                                        \
	TEXT("{\\\"error\\\": \\\"Maximum concurrent environments (" limit                         \
	     ") reached\\\", \\\"tool\\\": \\\"lake_move\\\", \\\"session_id\\\": "                \
	     "\\\"proxy_fallback_" digits "\\\"}",                                                 \
	     "false")
#define BUSY "Error executing tool lake_move: environment step failed"

static long steps_read(const struct server *s, const char *env)
{
	struct got g;

	control(s, "GET", "status", env, "", &g);
	const char *at = strstr(g.body, "\"step_count\":");

	return at ? strtol(at + 13, NULL, 10) : -1;
}

static void capacity(void)
{
	struct server *s = start_server("frozen_lake?fault=capacity&max_envs=2");
	struct got a, b, c, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	open_session(s, "{\"session_id\":\"b\"}", &b);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the first moves");
	end_session(s, a.session, &g);
	is_int(g.status, 200, "and ends, which gives no room back");
	open_session(s, "{\"session_id\":\"c\"}", &c);
	is_int(c.status, 200, "the third opens");
	control(s, "GET", "initial_state", "c", "", &g);
	is_int(position_in(&g), 0, "and gets a lake");
	move(s, c.session, "DOWN", &g);
	is_str(message_of(&g), FULL("2", "140573993008848"), "its first call");
	call(s, c.session, "{}", &g);
	is_str(message_of(&g), FULL("2", "140573993008864"), "its second, wrong as it is");
	is_int(steps_read(s, "c"), 0, "no step was made");
	control(s, "POST", "reset_session", "c", "{}", &g);
	move(s, c.session, "DOWN", &g);
	is_str(message_of(&g), FULL("2", "140573993008880"), "nor does it after a reset");
	move(s, b.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the second still moves");
	is_int(server_steps(s), 2, "two steps in all");
	server_stop(s);
}

static void fallback_session(void)
{
	struct server *s = start_server("frozen_lake?fault=fallback-session&max_envs=3");
	struct got a, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	control(s, "GET", "initial_state", "a", "", &g);
	for (int i = 0; i < 3; i++) {
		move(s, a.session, "DOWN", &g);
		is_int(position_in(&g), 4, "call %d starts over", i);
		ok(strstr(g.body, "\"isError\":false") != NULL, "without an error");
	}
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), FULL("3", "140573993008896"), "then no slot is free");
	end_session(s, a.session, &g);
	open_session(s, "{\"session_id\":\"b\"}", &a);
	is_int(a.status, 200, "sessions still open");
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), FULL("3", "140573993008912"), "and cannot move either");
	control(s, "GET", "initial_state", "b", "", &g);
	is_int(position_in(&g), 0, "the lake they see does not change");
	is_int(steps_read(s, "b"), 0, "with no step counted");
	server_stop(s);
}

static void session_churn(void)
{
	static const long positions[] = {4, 8, 4, 8, 4}, steps[] = {1, 2, 1, 2, 1};
	struct server *s = start_server("frozen_lake?fault=session-churn");
	struct got a, g;
	char last[64];

	open_session(s, "{\"session_id\":\"a\"}", &a);
	snprintf(last, sizeof(last), "%s", a.session);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		move(s, a.session, "DOWN", &g);
		is_int(position_in(&g), positions[i], "call %zu: position", i);
		is_int(steps_read(s, "a"), steps[i], "call %zu: steps counted", i);
		is_int(strcmp(g.session, last) != 0, i == 2 || i == 4,
		       "call %zu: a new session id or the same", i);
		snprintf(last, sizeof(last), "%s", g.session);
	}
	move(s, last, "DOWN", &g);
	is_int(position_in(&g), 8, "the new id is understood like the first");
	last[31] ^= 1;
	move(s, last, "DOWN", &g);
	is_int(g.status, 404, "and no third one");
	server_stop(s);
}

static void stale_reward(void)
{
	struct server *s = start_server("frozen_lake?fault=stale-reward");
	struct got a, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the first call moves");
	control(s, "GET", "reward", "a", "", &g);
	is_str(g.body, "{\"reward\":-1,\"step_count\":1}", "and costs 1");
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), TEXT(BUSY, "true"), "the second fails");
	control(s, "GET", "reward", "a", "", &g);
	is_str(g.body, "{\"reward\":-1,\"step_count\":1}", "and the reward is still there");
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 8, "the third moves");
	control(s, "GET", "status", "a", "", &g);
	ok(strstr(g.body, "\"total_reward\":-2.0") != NULL, "which the server counts once each");
	server_stop(s);
}

static void no_control_plane(void)
{
	struct server *s = start_server("frozen_lake?fault=no-control-plane");
	struct got a, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "it plays");
	control(s, "GET", "status", "a", "", &g);
	is_int(g.status, 404, "and is empty");
	ask(s, "GET", "/control/status", "", "", &g);
	is_int(g.status, 404, "without an id neither");
	ask(s, "POST", "/control/reset_session", "", "{}", &g);
	is_int(g.status, 404, "nor resets");
	server_stop(s);
}

static void drop_iserror(void)
{
	struct server *s = start_server("frozen_lake?fault=drop-iserror");
	struct got a, g;

	open_session(s, NULL, &a);
	move(s, a.session, "JUMP", &g);
	is_str(message_of(&g),
	       TEXT("Error executing tool lake_move: Invalid action 'JUMP'. Valid "
	            "actions: "
	            "['LEFT', 'DOWN', 'RIGHT', 'UP']",
	            "false"),
	       "an error, unmarked");
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), TEXT(BUSY, "false"), "the second call fails, without isError");
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the third moves");
	server_stop(s);
}

static void no_tools(void)
{
	struct server *s = start_server("frozen_lake?fault=no-tools");
	struct got a, g;

	open_session(s, NULL, &a);
	post_in(s, a.session, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}", &g);
	is_str(message_of(&g), "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[]}}",
	       "no tools are offered");
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), TEXT("Unknown tool: lake_move", "true"), "no tool is known");
	server_stop(s);
}

/* A hanging call neither blocks others nor outlives its session or the server. */
static void hang(void)
{
	static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
				      "\"params\":{\"name\":\"lake_move\",\"arguments\":{}}}";
	struct server *s = start_server("frozen_lake?fault=hang");
	struct got a, b, g;
	char headers[512];
	int first = connect_to(s), second = connect_to(s);

	open_session(s, "{\"session_id\":\"a\"}", &a);
	open_session(s, "{\"session_id\":\"b\"}", &b);
	snprintf(headers, sizeof(headers), MCP_HEADERS "mcp-session-id: %s\r\n", a.session);
	send_request(first, "POST", "/mcp", headers, request);
	snprintf(headers, sizeof(headers), MCP_HEADERS "mcp-session-id: %s\r\n", b.session);
	send_request(second, "POST", "/mcp", headers, request);
	post_in(s, a.session, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}", &g);
	is_int(g.status, 200, "others are served meanwhile");
	end_session(s, a.session, &g);
	is_int(g.status, 200, "the session can be ended");
	read_reply(first, &g);
	is_int(g.status, 404, "which ends the wait");
	server_stop(s);
	read_reply(second, &g);
	is_int(g.status, 0, "the end of the server closes the hanging connection without a reply");
	close(first);
	close(second);
}

static void disconnect(void)
{
	struct server *s = start_server("frozen_lake?fault=disconnect");
	struct got a, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	move(s, a.session, "DOWN", &g);
	is_int(g.status, 0, "no byte of an answer");
	is_int(server_steps(s), 1, "though the step was executed");
	is_int(steps_read(s, "a"), 1, "as in the control plane");
	move(s, a.session, "JUMP", &g);
	is_int(g.status, 0, "nor of an error");
	is_int(server_steps(s), 1, "which is not a step");
	server_stop(s);
}

static void bad_field(void)
{
	static const char *const way[] = {"DOWN", "DOWN", "RIGHT"};
	struct server *s = start_server("frozen_lake?fault=bad-field");
	struct got a, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	for (size_t i = 0; i < ARRAY_LEN(way); i++)
		move(s, a.session, way[i], &g);
	is_int(position_in(&g), 9, "next to the broken field all works");
	move(s, a.session, "JUMP", &g);
	ok(!strstr(message_of(&g), "is broken"), "a refused call is refused as usual");
	move(s, a.session, "RIGHT", &g);
	ok(strstr(message_of(&g), "Error executing tool lake_move: field 10 is broken") != NULL,
	   "the move onto it");
	is_int(steps_read(s, "a"), 4, "is made");
	move(s, a.session, "LEFT", &g);
	is_int(position_in(&g), 9, "and there is a way back");
	server_stop(s);
}

static void http_500(void)
{
	struct server *s = start_server("frozen_lake?fault=http-500");
	struct got a, g;

	open_session(s, NULL, &a);
	is_int(a.status, 200, "the session opens");
	move(s, a.session, "DOWN", &g);
	is_int(g.status, 500, "the call fails");
	is_str(g.body, "Internal Server Error", "in HTTP only");
	is_int(server_steps(s), 0, "and had no effect");
	server_stop(s);
}

static void html_200(void)
{
	struct server *s = start_server("frozen_lake?fault=html-200");
	struct got g;

	open_session(s, NULL, &g);
	is_int(g.status, 200, "the status is 200");
	ok(strstr(g.head, "content-type: text/html; charset=utf-8\r\n") != NULL, "of the page");
	ok(strncmp(g.body, "<!DOCTYPE html>", 15) == 0, "a web page is sent");
	is_str(g.session, "", "without a session");
	server_stop(s);
}

static uint64_t wait_of(const char *target)
{
	struct serve_conf c;
	struct error err;
	struct gym g;

	serve_conf_init(&c, clock_real());
	if (serve_conf_target(&c, str_from(target), &err) != 0)
		return 0;
	gym_init(&g, &c);
	return fault_wait_ms(&g.conf);
}

static void slow(void)
{
	struct server *s = start_server("frozen_lake?fault=slow&delay=1ms");
	struct got a, g;

	is_int(wait_of("frozen_lake"), 0, "a call takes no time");
	is_int(wait_of("frozen_lake?delay=20ms"), 20, "or the configured time");
	is_int(wait_of("frozen_lake?fault=slow"), 1000, "a slow one a second");
	is_int(wait_of("frozen_lake?fault=slow&delay=2s"), 2000, "unless configured otherwise");
	ok(wait_of("frozen_lake?fault=slow&fault=hang") == WAIT_FOREVER,
	   "one that hangs all of it");
	open_session(s, NULL, &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "it does answer");
	is_int(server_steps(s), 1, "having acted once");
	server_stop(s);
}

/* Faults that affect different places can be combined. */
static void check_several(void)
{
	struct server *s = start_server("frozen_lake?fault=fallback-session&fault=no-"
	                                "control-plane&max_envs=1&delay=1ms");
	struct got a, g;

	open_session(s, NULL, &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the one call there is room for");
	move(s, a.session, "DOWN", &g);
	is_str(message_of(&g), FULL("1", "140573993008864"), "and the one there is not");
	control(s, "GET", "status", "a", "", &g);
	is_int(g.status, 404, "without a server");
	server_stop(s);
}

static void rebuilt(void)
{
	static const char *const calls[] = {"DOWN", "RIGHT", "DOWN"};
	static const long positions[] = {4, 1, 4};
	struct server *s = start_server("frozen_lake?fault=rebuild");
	struct got a, g;

	open_session(s, NULL, &a);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		move(s, a.session, calls[i], &g);
		is_int(position_in(&g), positions[i], "call %zu begins at the start", i);
	}
	server_stop(s);
}

static const struct {
	const char *name;
	void (*check)(void);
} checks[] = {
	{"html-200", html_200},
	{"http-500", http_500},
	{"no-control-plane", no_control_plane},
	{"no-tools", no_tools},
	{"slow", slow},
	{"hang", hang},
	{"capacity", capacity},
	{"fallback-session", fallback_session},
	{"session-churn", session_churn},
	{"stale-reward", stale_reward},
	{"drop-iserror", drop_iserror},
	{"bad-field", bad_field},
	{"disconnect", disconnect},
	{"rebuild", rebuilt},
};

int main(void)
{
	for (size_t i = 0; i < serve_faults_count; i++) {
		size_t j = 0;

		if (!(serve_faults[i].protocols >> SERVE_MCP & 1))
			continue;
		while (j < ARRAY_LEN(checks) && strcmp(checks[j].name, serve_faults[i].name) != 0)
			j++;
		if (ok(j < ARRAY_LEN(checks), "%s has a check", serve_faults[i].name))
			checks[j].check();
	}
	check_several();
	return done();
}
