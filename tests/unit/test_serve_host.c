/* What every server does before it looks at a request: it refuses a body of unclear length, and
   idle connections do not keep others out. */
#include "serve_client.h"

#include "net/listen.h"
#include "serve/llm/llm.h"
#include "serve/llm/reply_script.h"

#define IDLE 1500 /* more than a server with select() could have */

static const struct {
	const char *headers, *body;
	bool refused;
} rows[] = {
	{"Content-Length: 2\r\n", "{}", false},
	{"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", false},
	{"Content-Length: 2\r\nContent-Length: 40\r\n", "{}", true},
	{"content-length: 2\r\nContent-Length: 2\r\n", "{}", true},
	{"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", true},
	{"Transfer-Encoding: chunked\r\nContent-Length: 200\r\n", "2\r\n{}\r\n0\r\n\r\n", true},
};

/* The connection ends after a refusal: what follows could be read as another request. */
static void check_lengths(const char *name, uint16_t port, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char request[512], reply[4096] = "";
		int fd = connect_to_port(port);
		size_t n = 0;

		int length = snprintf(request, sizeof(request),
		                      "POST %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n%s", path,
		                      rows[i].headers,
		                      rows[i].refused ? "" : "Connection: close\r\n", rows[i].body);
		send_all(fd, request, (size_t)length);
		for (ssize_t got = 1; got > 0 && n < sizeof(reply) - 1; n += (size_t)got) {
			got = recv(fd, reply + n, sizeof(reply) - 1 - n, 0);
			got = got < 0 ? 0 : got;
		}
		close(fd);
		ok(strncmp(reply, "HTTP/1.1 ", 9) == 0 &&
		           rows[i].refused == (strstr(reply, "its length twice") != NULL) &&
		           (!rows[i].refused || strncmp(reply + 9, "400", 3) == 0),
		   "%s: row %zu: %.3s", name, i, reply + (n > 9 ? 9 : 0));
	}
}

/* Half of them say nothing, half begin a request. */
static void check_idle(const char *name, uint16_t port, const char *path)
{
	static int idle[IDLE];
	struct got g;

	for (size_t i = 0; i < IDLE; i++) {
		idle[i] = connect_to_port(port);
		if (i % 2)
			send_all(idle[i], "POST / HT", 9);
	}
	int fd = connect_to_port(port);
	send_request(fd, "GET", path, "", "");
	read_reply(fd, &g);
	close(fd);
	ok(g.status, "%s: answers next to %d idle connections: %u", name, IDLE, g.status);
	for (size_t i = 0; i < IDLE; i++)
		close(idle[i]);
}

int main(void)
{
	struct llm_script script;
	struct llm_server_conf model = {.made = &script, .clock = clock_real()};
	struct server *mcp = start_server("frozen_lake"),
		      *openenv = start_server("frozen_lake?protocol=openenv");
	struct llm_server *llm = NULL;
	struct error err;

	if (llm_script_parse(STR("{\"replies\":[{}]}"), "script", &script, &err) ||
	    llm_server_start(&model, &llm, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	listen_allow_many();
	check_lengths("mcp", server_port(mcp), "/mcp");
	check_lengths("openenv", server_port(openenv), "/step");
	check_lengths("llm", llm_server_port(llm), "/v1/chat/completions");
	check_idle("mcp", server_port(mcp), "/mcp");
	check_idle("openenv", server_port(openenv), "/health");
	check_idle("llm", llm_server_port(llm), "/v1/models");
	server_stop(mcp);
	server_stop(openenv);
	llm_server_stop(llm);
	return done();
}
