/* Which requests are accepted, by Origin and Host, on every path of every server. */
#include "serve_client.h"

#include "serve/llm/llm.h"

#include <stdio.h>

#define UPGRADE                                                                                    \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"               \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static const struct {
	const char *origin, *host; /* NULL: not sent */
	unsigned refused;          /* 0: accepted; the same where http://app.test is allowed: */
	unsigned refused_then;
} rows[] = {
	{NULL, "localhost", 0, 0},
	{NULL, "LOCALHOST:8000", 0, 0},
	{NULL, "127.0.0.1", 0, 0},
	{NULL, "127.0.0.1:8000", 0, 0},
	{NULL, "192.168.1.7:8000", 0, 0},
	{NULL, "[::1]:8000", 0, 0},
	{"http://localhost:3000", "localhost", 0, 0},
	{"https://127.0.0.1", "localhost", 0, 0},
	{"http://[::1]:1", "localhost", 0, 0},
	{"http://evil.example", "localhost", 403, 403},
	{"http://localhost.evil.example", "localhost", 403, 403},
	{"http://127.0.0.1.evil.example", "localhost", 403, 403},
	{"http://localhost/../evil", "localhost", 403, 403},
	{"file://localhost", "localhost", 403, 403},
	{"null", "localhost", 403, 403},
	{"", "localhost", 403, 403},
	{NULL, "evil.example", 421, 421},
	{NULL, "evil.example:8000", 421, 421},
	{NULL, "127.0.0.1.evil.example", 421, 421},
	{NULL, "localhost.evil.example", 421, 421},
	{NULL, "localhost:80:80", 421, 421},
	{NULL, "", 421, 421},
	{"http://app.test", "localhost", 403, 0},
	{"HTTP://App.Test", "localhost", 403, 0},
	{"https://app.test", "localhost", 403, 403},
	{"http://app.test:81", "localhost", 403, 403},
	{NULL, "app.test", 421, 0},
	{"http://app.test", "app.test", 403, 0},
};

static unsigned status_of(int fd, const char *method, const char *path, const char *origin,
                          const char *host)
{
	char head[1024], start[16] = "";
	size_t n = 0;
	int length =
		snprintf(head, sizeof(head),
	                 "%s %s HTTP/1.1\r\n%s%s%sHost: %s\r\n%sContent-Length: 0\r\n\r\n", method,
	                 path, origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "",
	                 host, strcmp(path, "/ws") == 0 ? UPGRADE : "Connection: close\r\n");

	send_all(fd, head, (size_t)length);
	while (n < sizeof(start) - 1) {
		ssize_t got = recv(fd, start + n, sizeof(start) - 1 - n, 0);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	return n > 12 ? (unsigned)strtoul(start + 9, NULL, 10) : 0;
}

static bool is_refusal(unsigned status)
{
	return status == 403 || status == 421;
}

static void check_path(uint16_t port, const char *method, const char *path, bool allowed)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned wanted = allowed ? rows[i].refused_then : rows[i].refused;
		unsigned got = status_of(connect_to_port(port), method, path, rows[i].origin,
		                         rows[i].host);

		ok(got && (wanted ? got == wanted : !is_refusal(got)),
		   "%s %s, Origin %s, Host %s: %u", method, path,
		   rows[i].origin ? rows[i].origin : "-", rows[i].host, got);
	}
}

static const char *const app[] = {"http://app.test"};
static const char *const everybody[] = {"*"};

static struct server *start(const char *target, struct allowed_origins origins)
{
	struct serve_conf c;
	struct server *s = NULL;
	struct error err;

	serve_conf_init(&c, clock_real());
	c.origins = origins;
	if (serve_conf_target(&c, str_from(target), &err) || server_start(&c, &s, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return s;
}

static void check_server(const char *target, const char *const *paths)
{
	for (int allowed = 0; allowed < 2; allowed++) {
		struct server *s = start(target, (struct allowed_origins){app, allowed ? 1 : 0});

		for (const char *const *p = paths; *p; p++) {
			check_path(server_port(s), **p == '/' ? "GET" : "POST", strchr(*p, '/'),
			           allowed);
		}
		server_stop(s);
	}
}

static void check_star(void)
{
	struct server *s =
		start("frozen_lake?protocol=openenv", (struct allowed_origins){everybody, 1});

	is_int(status_of(connect_to_port(server_port(s)), "GET", "/ws", "http://evil.example",
	                 "evil.example"),
	       101, "a star lets everybody in");
	server_stop(s);
}

static void check_model(void)
{
	char script[] = "/tmp/rolldbg-test-XXXXXX";
	int fd = mkstemp(script);

	if (fd < 0 || write(fd, "{\"key\":\"k\",\"replies\":[{}]}", 26) != 26) {
		perror("# script");
		exit(1);
	}
	close(fd);
	for (int allowed = 0; allowed < 2; allowed++) {
		struct llm_server_conf c = {
			.script = script, .clock = clock_real(), .origins = {app, allowed ? 1 : 0}};
		struct llm_server *s = NULL;
		struct error err;

		if (llm_server_start(&c, &s, &err)) {
			fprintf(stderr, "# %s\n", err.text);
			exit(1);
		}
		check_path(llm_server_port(s), "GET", "/v1/models", allowed);
		llm_server_stop(s);
	}
	unlink(script);
}

static void check_values(void)
{
	static const char *const bad[] = {"app.test", "http://", "http://a/b", "ws://app.test",
	                                  "**"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = {0};

		is_int(allowed_origins_check(&(struct allowed_origins){&bad[i], 1}, &err), -1,
		       "%s is not an origin", bad[i]);
		is_int(err.kind, FAIL_USAGE, "%s", err.text);
	}
}

int main(void)
{
	static const char *const mcp[] = {
		"/mcp",     "POST/mcp", "/mcp/", "/control/status", "POST/control/reset_session",
		"/nowhere", NULL};
	static const char *const openenv[] = {"/ws",        "/health",  "/schema",
	                                      "POST/reset", "/nowhere", NULL};

	check_server("frozen_lake", mcp);
	check_server("frozen_lake?fault=session-churn", mcp);
	check_server("frozen_lake?protocol=openenv", openenv);
	check_star();
	check_model();
	check_values();
	return done();
}
