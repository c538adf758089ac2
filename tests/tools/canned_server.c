/* An MCP server that replies from a file, for command tests of unusual replies.

   canned_server FILE: prints "listening on 127.0.0.1:PORT", then replies to POST requests. A
   row of FILE is METHOD, a tab and the reply's "result"; or, after the tab, "error " and the
   reply's "error", "raw " and the body, or "hang" (no reply). In a raw body \x1b stands for
   the escape byte. Requests without a row get -32601, notifications 202, DELETE 200, all
   other requests 404. Each request is a line on standard output: "POST initialize", "DELETE". */
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "loopback.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROWS_MAX 32

struct row {
	char *method, *answer;
};

struct canned {
	struct row rows[ROWS_MAX];
	size_t count;
};

struct connection {
	const struct canned *canned;
	int fd;
	struct buf in, out;
};

static void load(struct canned *c, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (f && (n = getline(&line, &room, f)) > 0 && c->count < ROWS_MAX) {
		char *tab = strchr(line, '\t');

		if (!tab)
			continue;
		n -= line[n - 1] == '\n';
		c->rows[c->count++] =
			(struct row){mem_text((struct str){line, (size_t)(tab - line)}),
		                     mem_text((struct str){tab + 1, (size_t)(line + n - tab - 1)})};
	}
	free(line);
	if (f)
		fclose(f);
}

static const char *row_of(const struct canned *c, struct str method)
{
	for (size_t i = 0; i < c->count; i++)
		if (str_is(method, c->rows[i].method))
			return c->rows[i].answer;
	return "error {\"code\":-32601,\"message\":\"no such method\"}";
}

/* The text after "KEY": up to one of `ends`; empty if the key is missing. */
static struct str member(const char *body, const char *key, const char *ends)
{
	const char *at = strstr(body, key);

	at = at ? at + strlen(key) : "";
	at += strspn(at, " \"");
	return (struct str){at, strcspn(at, ends)};
}

static void reply(struct connection *c, const char *status, const char *type, struct str body)
{
	buf_printf(&c->out,
	           "HTTP/1.1 %s\r\nContent-Type: %s\r\nMcp-Session-Id: canned\r\n"
	           "Content-Length: %zu\r\n\r\n",
	           status, type, body.n);
	buf_str(&c->out, body);
}

static void reply_raw(struct connection *c, const char *text)
{
	struct buf body = BUF(BUF_MAX_SMALL);

	for (const char *at; (at = strstr(text, "\\x1b")); text = at + 4) {
		buf_add(&body, text, (size_t)(at - text));
		buf_char(&body, '\x1b');
	}
	buf_text(&body, text);
	reply(c, "200 OK", "text/html", buf_view(&body));
	buf_release(&body);
}

/* False: there is no reply ("hang"). */
static bool answer_post(struct connection *c, const char *request)
{
	struct str method = member(request, "\"method\":", "\"");
	struct str id = member(request, "\"id\":", ",}");
	const char *answer = row_of(c->canned, method);
	struct buf body = BUF(BUF_MAX_SMALL);

	if (!strcmp(answer, "hang"))
		return false;
	if (!id.n) {
		reply(c, "202 Accepted", "text/plain", STR(""));
		return true;
	}
	if (!strncmp(answer, "raw ", 4)) {
		reply_raw(c, answer + 4);
		return true;
	}
	bool error = !strncmp(answer, "error ", 6);
	buf_printf(&body, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"%s\":%s}", STR_ARG(id),
	           error ? "error" : "result", error ? answer + 6 : answer);
	reply(c, "200 OK", "application/json", buf_view(&body));
	buf_release(&body);
	return true;
}

static bool answer_request(struct connection *c, const char *head, const char *body)
{
	struct str verb = {head, strcspn(head, " ")};
	struct str method = member(body, "\"method\":", "\"");
	bool control = !strstr(head, " /mcp ");

	if (!control) {
		printf("%.*s%s%.*s\n", STR_ARG(verb), method.n ? " " : "", STR_ARG(method));
		fflush(stdout);
	}
	if (!control && str_is(verb, "POST"))
		return answer_post(c, body);
	reply(c, !control && str_is(verb, "DELETE") ? "200 OK" : "404 Not Found", "text/plain",
	      STR(""));
	return true;
}

/* Looks for a complete request: 1, with its lengths; 0 when more bytes are needed. */
static int whole_request(struct buf *in, size_t *head, size_t *all)
{
	const char *text = buf_cstr(in), *end = strstr(text, "\r\n\r\n");
	const char *length = end ? strstr(text, "Content-Length:") : NULL;
	uint64_t n = 0;

	if (!end)
		return 0;
	if (length && length < end) {
		length += strlen("Content-Length:");
		length += strspn(length, " ");
		(void)text_u64((struct str){length, strspn(length, "0123456789")}, &n);
	}
	*head = (size_t)(end - text) + 4;
	*all = *head + n;
	return in->n >= *all;
}

static bool send_all(struct connection *c)
{
	struct str rest = buf_view(&c->out);

	while (rest.n) {
		ssize_t n = send(c->fd, rest.p, rest.n, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		rest = str_skip(rest, (size_t)n);
	}
	buf_clear(&c->out);
	return true;
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	bool open = true;
	char piece[4096];
	ssize_t n;

	while (open && (n = recv(c->fd, piece, sizeof(piece), 0)) > 0) {
		size_t head, all;

		buf_add(&c->in, piece, (size_t)n);
		while (open && whole_request(&c->in, &head, &all)) {
			char *body = mem_text((struct str){c->in.p + head, all - head});

			open = answer_request(c, c->in.p, body) ? send_all(c) : true;
			free(body);
			memmove(c->in.p, c->in.p + all, c->in.n - all);
			buf_cut(&c->in, c->in.n - all);
		}
	}
	close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	free(c);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct canned canned;
	uint16_t port;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: canned_server FILE\n");
		return 2;
	}
	load(&canned, argv[1]);
	int listener = loopback_listen(&port);
	printf("listening on 127.0.0.1:%u\n", (unsigned)port);
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		struct connection *c = mem_new(sizeof(*c));
		pthread_t thread;

		*c = (struct connection){&canned, fd, BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)};
		if (pthread_create(&thread, NULL, serve, c))
			return 1;
		pthread_detach(thread);
	}
	return 0;
}
