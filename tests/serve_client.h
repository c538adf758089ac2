/* A client of the built-in server for its tests: raw requests and complete replies, each on
   its own connection by default. It does not interpret MCP. One translation unit per program
   includes it. */
#pragma once

#include "serve/serve.h"

#include "tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define DEADLINE_S 20

struct got {
	unsigned status; /* 0: the connection ended without a reply */
	char session[64];
	char head[8 << 10];
	char body[64 << 10]; /* without chunk framing */
};

static inline struct server *start_server(const char *target)
{
	struct serve_conf c;
	struct server *s = NULL;
	struct error err;

	serve_conf_init(&c, clock_real());
	if (serve_conf_target(&c, str_from(target), &err) != 0 || server_start(&c, &s, &err) != 0) {
		fprintf(stderr, "# %s: %s\n", target, err.text);
		exit(1);
	}
	return s;
}

static inline int connect_to_port(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct timeval deadline = {.tv_sec = DEADLINE_S};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		perror("# connect");
		exit(1);
	}
	return fd;
}

static inline int connect_to(const struct server *s)
{
	return connect_to_port(server_port(s));
}

static inline void send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* the caller checks the reply */
		bytes += sent;
		n -= (size_t)sent;
	}
}

/* headers: complete lines with CRLF. */
static inline void send_request(int fd, const char *method, const char *path, const char *headers,
                                const char *body)
{
	char head[4096];
	int n = snprintf(head, sizeof(head),
	                 "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: "
	                 "close\r\n%sContent-Length: "
	                 "%zu\r\n\r\n",
	                 method, path, headers, strlen(body));

	send_all(fd, head, (size_t)n);
	send_all(fd, body, strlen(body));
}

static inline void join_chunks(char *body)
{
	char *to = body, *from = body;

	for (;;) {
		size_t n = (size_t)strtoul(from, &from, 16);

		from += 2;
		memmove(to, from, n);
		to += n;
		from += n + 2;
		if (n == 0)
			break;
	}
	*to = '\0';
}

/* Reads to the end of the connection. */
static inline void read_reply(int fd, struct got *g)
{
	char bytes[72 << 10];
	size_t n = 0;
	ssize_t more;

	memset(g, 0, sizeof(*g));
	while (n < sizeof(bytes) - 1 && (more = recv(fd, bytes + n, sizeof(bytes) - 1 - n, 0)) > 0)
		n += (size_t)more;
	bytes[n] = '\0';
	char *end = strstr(bytes, "\r\n\r\n");

	if (!end || n < 12)
		return;
	g->status = (unsigned)strtoul(bytes + 9, NULL, 10);
	snprintf(g->head, sizeof(g->head), "%.*s", (int)(end + 2 - bytes), bytes);
	snprintf(g->body, sizeof(g->body), "%s", end + 4);
	if (strstr(g->head, "ransfer-encoding: chunked"))
		join_chunks(g->body);
	char *session = strstr(g->head, "mcp-session-id: ");

	if (session) {
		snprintf(g->session, sizeof(g->session), "%.*s", (int)strcspn(session + 16, "\r\n"),
		         session + 16);
	}
}

static inline void ask(const struct server *s, const char *method, const char *path,
                       const char *headers, const char *body, struct got *g)
{
	int fd = connect_to(s);

	send_request(fd, method, path, headers, body);
	read_reply(fd, g);
	close(fd);
}

#define MCP_HEADERS                                                                                \
	"Accept: application/json, text/event-stream\r\nContent-Type: "                            \
	"application/json\r\n"

static inline void post_in(const struct server *s, const char *session, const char *body,
                           struct got *g)
{
	char headers[512];

	snprintf(headers, sizeof(headers), MCP_HEADERS "%s%s%s", session ? "mcp-session-id: " : "",
	         session ? session : "", session ? "\r\n" : "");
	ask(s, "POST", "/mcp", headers, body, g);
}

/* initialize with `_extra` as given, or without it (NULL). */
static inline void open_session(const struct server *s, const char *extra, struct got *g)
{
	char body[4096];

	snprintf(body, sizeof(body),
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
	         "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	         "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"%s%s}}}",
	         extra ? ",\"_extra\":" : "", extra ? extra : "");
	post_in(s, NULL, body, g);
}

/* tools/call; arguments: raw JSON. */
static inline void call_tool(const struct server *s, const char *session, const char *tool,
                             const char *arguments, struct got *g)
{
	char body[1024];

	snprintf(body, sizeof(body),
	         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":"
	         "{\"name\":\"%s\",\"arguments\":%s}}",
	         tool, arguments);
	post_in(s, session, body, g);
}

static inline void call(const struct server *s, const char *session, const char *arguments,
                        struct got *g)
{
	call_tool(s, session, "lake_move", arguments, g);
}

static inline void move(const struct server *s, const char *session, const char *action,
                        struct got *g)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "{\"action\":\"%s\"}", action);
	call(s, session, arguments, g);
}

static inline void control(const struct server *s, const char *method, const char *what,
                           const char *env, const char *body, struct got *g)
{
	char path[128], headers[256];

	snprintf(path, sizeof(path), "/control/%s", what);
	snprintf(headers, sizeof(headers), "mcp-session-id: %s\r\n", env);
	ask(s, method, path, headers, body, g);
}

static inline void end_session(const struct server *s, const char *session, struct got *g)
{
	char headers[128];

	snprintf(headers, sizeof(headers), "mcp-session-id: %s\r\n", session);
	ask(s, "DELETE", "/mcp", headers, "", g);
}

/* The position in an observation, anywhere in the body; -1: none. */
static inline long position_in(const struct got *g)
{
	const char *at = strstr(g->body, "\"position\":");

	return at ? strtol(at + 11, NULL, 10) : -1;
}

/* The message in the body of an event stream with one event: the text after `data: `, in place. */
static inline const char *message_of(struct got *g)
{
	static const char head[] = "event: message\r\ndata: ";
	size_t n = strlen(g->body);

	if (strncmp(g->body, head, sizeof(head) - 1) != 0 || n < 4 ||
	    strcmp(g->body + n - 4, "\r\n\r\n") != 0) {
		return "(no stream with one message)";
	}
	g->body[n - 4] = '\0';
	return g->body + sizeof(head) - 1;
}
