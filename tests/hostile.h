/* A server that misbehaves according to a table: servers of MCP with a control plane, OpenEnv, ORS
   and NeMo Gym and a model in one, on port 0.

   A row of a table is NAME, a tab, and what is sent in place of the regular answer. The URL
   says which row, and when: http://HOST/NAME/MOMENT/mcp, ws://HOST/NAME/MOMENT/ws,
   http://HOST/NAME/MOMENT/v1; or, where only the port can be chosen, the header "Fault: NAME/MOMENT",
   with which a call's moment is "verifierscall". The moments are those of moment_of() and of the WebSocket's
   messages; "call" is every call, "call2" the second one alone, and "message" is a call or a
   state. "resume" is the GET for the rest of a call's event stream, which then ends early each
   time. Requests of revision 2026-07-28 have moments of their own: "modernopen", "modernlist",
   "moderncall". In a row \r, \n, \t, \\ and
   \xHH stand for bytes, and <<WORD ..>> for what the table `words` says.

   Everything that is executed is a line of the log, "NAME/MOMENT WHAT". A request to the
   second port, which rows may name with <<elsewhere>>, is the line "elsewhere". */
#pragma once

#include "base/mem.h"
#include "unit/ws_server.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE_ROWS 600
#define HOSTILE_BODY ((size_t)80 << 20)

struct hostile_row {
	char *name, *bytes;
	const char *table; /* its file */
};

struct hostile {
	struct hostile_row rows[HOSTILE_ROWS];
	size_t count;
	uint16_t port, elsewhere;
	int listener, other_listener;
	pthread_mutex_t lock; /* guards the members below */
	struct buf log;
	struct buf moments; /* "NAME/MOMENT WHEN" of each that occurred, to count them */
	bool echo;          /* copy the log to standard output */
};

/* A connection and its current request. */
struct hostile_peer {
	struct hostile *server;
	int fd;
	struct buf in, out, message;
	struct str verb, path, body, id;
	char place[160]; /* NAME/MOMENT */
	const char *moment;
	const struct hostile_row *row;
	bool by_header;
	int calls;
};

/* ---- tables ---- */

static inline void hostile_load(struct hostile *h, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while (f && (n = getline(&line, &room, f)) > 0 && h->count < HOSTILE_ROWS) {
		char *tab = strchr(line, '\t');

		if (!tab || line[0] == '#')
			continue;
		n -= line[n - 1] == '\n';
		tab += strspn(tab, "\t");
		h->rows[h->count++] = (struct hostile_row){
			mem_text((struct str){line, strcspn(line, "\t")}),
			mem_text((struct str){tab, (size_t)(line + n - tab)}), path};
	}
	free(line);
	if (!f || fclose(f)) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
}

static inline const struct hostile_row *hostile_find(const struct hostile *h, struct str name)
{
	for (size_t i = 0; i < h->count; i++)
		if (str_is(name, h->rows[i].name))
			return &h->rows[i];
	return NULL;
}

static inline void hostile_note(struct hostile *h, const char *place, const char *what,
                                struct str more)
{
	pthread_mutex_lock(&h->lock);
	size_t from = h->log.n;
	buf_printf(&h->log, "%s %s%s%.*s\n", place, what, more.n ? " " : "", STR_ARG(more));
	if (h->echo) {
		fwrite(h->log.p + from, 1, h->log.n - from, stdout);
		fflush(stdout);
	}
	pthread_mutex_unlock(&h->lock);
}

/* The number of occurrences of a line in the text. */
static inline int hostile_count(const struct buf *text, const char *line)
{
	size_t n = strlen(line);
	int count = 0;

	for (const char *at = buf_cstr(text); (at = strstr(at, line)); at += n) {
		bool begins = at == text->p || at[-1] == '\n';

		count += begins && (at[n] == '\n' || at[n] == '\0');
	}
	return count;
}

/* Is this the moment of the fault? Counts each moment. */
static inline bool hostile_strikes(struct hostile_peer *p, const char *when)
{
	size_t n = strcspn(p->moment, "0123456789");
	char line[240];

	snprintf(line, sizeof(line), "%s %s", p->place, when);
	pthread_mutex_lock(&p->server->lock);
	buf_printf(&p->server->moments, "%s\n", line);
	int count = hostile_count(&p->server->moments, line);
	pthread_mutex_unlock(&p->server->lock);
	bool message = !strncmp(p->moment, "message", n) &&
	               (!strcmp(when, "call") || !strcmp(when, "state"));
	return p->row && (message || (strlen(when) == n && !strncmp(when, p->moment, n))) &&
	       (!p->moment[n] || strtol(p->moment + n, NULL, 10) == count);
}

/* ---- rows ---- */

static inline bool hostile_flush(struct hostile_peer *p)
{
	wss_write(p->fd, p->out.p, p->out.n);
	buf_clear(&p->out);
	return true;
}

/* Waits until the client closes the connection. */
static inline bool hostile_wait(struct hostile_peer *p)
{
	char unused[4096];

	hostile_flush(p);
	while (recv(p->fd, unused, sizeof(unused), 0) > 0) {
	}
	return false;
}

static inline void hostile_say_ok(struct hostile_peer *p)
{
	buf_printf(&p->out,
	           "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	           "Mcp-Session-Id: hostile\r\nContent-Length: %zu\r\n\r\n",
	           p->message.n);
	buf_str(&p->out, buf_view(&p->message));
}

static inline bool hostile_say(struct hostile_peer *p, struct str row);

/* The expansion of `row` in bytes, removed from the end of p->out. */
static inline char *hostile_bytes(struct hostile_peer *p, struct str row, size_t *n)
{
	size_t from = p->out.n;

	hostile_say(p, row);
	*n = p->out.n - from;
	char *bytes = mem_text((struct str){p->out.p + from, *n});
	buf_cut(&p->out, from);
	return bytes;
}

/* The number at the beginning of the argument ("12", "64K", "3M"), and the text after it. */
static inline size_t hostile_number(struct str *argument)
{
	char *end;
	size_t n = strtoull(argument->p, &end, 10);

	n <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
	end += *end == 'K' || *end == 'M';
	end += *end == ' ';
	*argument = str_skip(*argument, (size_t)(end - argument->p));
	return n;
}

static inline bool hostile_repeat(struct hostile_peer *p, struct str argument)
{
	size_t count = hostile_number(&argument), n;
	char *bytes = hostile_bytes(p, argument, &n);

	for (size_t i = 0; i < count; i++)
		buf_add(&p->out, bytes, n);
	free(bytes);
	return true;
}

/* Sends the text repeatedly until sending fails. */
static inline bool hostile_forever(struct hostile_peer *p, struct str argument)
{
	size_t n;

	hostile_flush(p);
	char *bytes = hostile_bytes(p, argument, &n);
	while (send(p->fd, bytes, n, MSG_NOSIGNAL) > 0)
		poll(NULL, 0, 1);
	free(bytes);
	return false;
}

/* HH TEXT: a WebSocket frame with that first byte. */
static inline bool hostile_frame(struct hostile_peer *p, struct str argument)
{
	char *end;
	unsigned first = (unsigned)strtoul(argument.p, &end, 16);
	size_t n;

	argument = str_skip(argument, (size_t)(end - argument.p) + 1);
	char *bytes = hostile_bytes(p, argument, &n);
	wss_frame(&p->out, (unsigned char)first, (struct str){bytes, n});
	free(bytes);
	return true;
}

static inline bool hostile_chunk(struct hostile_peer *p, struct str argument)
{
	size_t n;
	char *bytes = hostile_bytes(p, argument, &n);

	buf_printf(&p->out, "%zx\r\n", n);
	buf_add(&p->out, bytes, n);
	buf_text(&p->out, "\r\n");
	free(bytes);
	return true;
}

/* A reply 200 with that content type and the length. */
static inline bool hostile_reply(struct hostile_peer *p, struct str argument)
{
	struct str type = {argument.p, strcspn(argument.p, " >")};
	size_t n;
	char *bytes = hostile_bytes(p, str_skip(argument, type.n + 1), &n);

	buf_printf(&p->out, "HTTP/1.1 200 OK\r\nContent-Type: %.*s\r\nContent-Length: %zu\r\n\r\n",
	           STR_ARG(type), n);
	buf_add(&p->out, bytes, n);
	free(bytes);
	return true;
}

static inline bool hostile_pause(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	hostile_flush(p);
	poll(NULL, 0, 20);
	return true;
}

static inline bool hostile_hang(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	return hostile_wait(p);
}

static inline bool hostile_close(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	hostile_flush(p);
	return false;
}

static inline bool hostile_reset(struct hostile_peer *p, struct str unused)
{
	struct linger now = {.l_onoff = 1};

	(void)unused;
	hostile_flush(p);
	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	return false;
}

static inline bool hostile_id(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	buf_str(&p->out, p->id);
	return true;
}

static inline bool hostile_message(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	buf_str(&p->out, buf_view(&p->message));
	return true;
}

/* N: the message with N more bytes in its member "pad". */
static inline bool hostile_padded(struct hostile_peer *p, struct str argument)
{
	static const char pad[] = "\"pad\":\"";
	const char *at = strstr(buf_cstr(&p->message), pad);
	size_t before = at ? (size_t)(at - p->message.p) + strlen(pad) : 0;

	buf_add(&p->out, p->message.p, before);
	for (size_t n = hostile_number(&argument); n > 0; n--)
		buf_char(&p->out, 'x');
	buf_add(&p->out, p->message.p + before, p->message.n - before);
	return true;
}

static inline bool hostile_length(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	buf_printf(&p->out, "%zu", p->message.n);
	return true;
}

static inline bool hostile_ok(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	hostile_say_ok(p);
	return true;
}

static inline bool hostile_elsewhere(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	buf_printf(&p->out, "127.0.0.1:%u", (unsigned)p->server->elsewhere);
	return true;
}

static inline bool hostile_accept(struct hostile_peer *p, struct str unused)
{
	(void)unused;
	wss_accept_key(buf_cstr(&p->in), &p->out);
	return true;
}

static const struct {
	const char *word;
	bool (*say)(struct hostile_peer *p,
	            struct str argument); /* false: the connection is over */
} hostile_words[] = {
	{"ok", hostile_ok},               /* the complete regular reply */
	{"message", hostile_message},     /* its body */
	{"padded", hostile_padded},       /* N: the same, with N more bytes */
	{"length", hostile_length},       /* its length */
	{"id", hostile_id},               /* of the request */
	{"accept", hostile_accept},       /* the correct Sec-WebSocket-Accept */
	{"elsewhere", hostile_elsewhere}, /* HOST:PORT that must not be contacted */
	{"reply", hostile_reply},         /* TYPE TEXT */
	{"chunk", hostile_chunk},         /* TEXT */
	{"frame", hostile_frame},         /* HH TEXT */
	{"repeat", hostile_repeat},       /* N TEXT */
	{"forever", hostile_forever},     /* TEXT */
	{"pause", hostile_pause},         /* sends the bytes so far and waits briefly */
	{"wait", hostile_hang},           /* sends nothing more */
	{"close", hostile_close},
	{"reset", hostile_reset},
};

static inline bool hostile_say_word(struct hostile_peer *p, struct str inside)
{
	size_t n = 0;

	while (n < inside.n && inside.p[n] >= 'a' && inside.p[n] <= 'z')
		n++;
	for (size_t i = 0; i < ARRAY_LEN(hostile_words); i++)
		if (str_is((struct str){inside.p, n}, hostile_words[i].word))
			return hostile_words[i].say(p, str_skip(inside, n + 1));
	fprintf(stderr, "no such word: <<%.*s>>\n", STR_ARG(inside));
	exit(2);
}

/* Appends the bytes of an escape; returns the escape's length in characters. */
static inline size_t hostile_escape(struct buf *out, const char *at)
{
	static const char from[] = "rnt0\\", to[] = "\r\n\t\0\\";
	char digits[3] = {0};

	if (at[1] == 'x') {
		memcpy(digits, at + 2, 2);
		buf_char(out, (char)strtoul(digits, NULL, 16));
		return 4;
	}
	const char *found = at[1] ? strchr(from, at[1]) : NULL;
	if (!found) {
		buf_char(out, '\\'); /* JSON escapes */
		return 1;
	}
	buf_char(out, to[found - from]);
	return 2;
}

/* The text after << up to the matching >>. */
static inline struct str hostile_inside(struct str rest)
{
	int depth = 1;

	for (size_t i = 0; i + 1 < rest.n; i++) {
		if (!strncmp(rest.p + i, "<<", 2) || !strncmp(rest.p + i, ">>", 2)) {
			depth += rest.p[i] == '<' ? 1 : -1;
			if (!depth)
				return (struct str){rest.p, i};
			i++;
		}
	}
	fprintf(stderr, "no end: <<%.*s\n", STR_ARG(rest));
	exit(2);
}

static inline bool hostile_say(struct hostile_peer *p, struct str row)
{
	while (row.n) {
		size_t used = 1;

		if (str_starts(row, STR("<<"))) {
			struct str inside = hostile_inside(str_skip(row, 2));

			if (!hostile_say_word(p, inside))
				return false;
			used = inside.n + 4;
		} else if (*row.p == '\\') {
			used = hostile_escape(&p->out, row.p);
		} else {
			buf_char(&p->out, *row.p);
		}
		row = str_skip(row, used);
	}
	return true;
}

/* Sends the fault or the regular reply. False: close the connection. */
static inline bool hostile_answer(struct hostile_peer *p, bool strikes)
{
	bool goes_on = true;

	if (strikes)
		goes_on = hostile_say(p, str_from(p->row->bytes));
	else
		hostile_say_ok(p);
	hostile_flush(p);
	return goes_on;
}

/* ---- regular replies ---- */

/* The text after "KEY": up to one of `ends`; empty if the key is missing. */
static inline struct str hostile_member(struct str text, const char *key, const char *ends)
{
	const char *at = text.n ? strstr(text.p, key) : NULL;

	if (!at)
		return STR("");
	at += strlen(key);
	at += strspn(at, " \\\":");
	return (struct str){at, strcspn(at, ends)};
}

static inline void hostile_result(struct hostile_peer *p, const char *result)
{
	buf_clear(&p->message);
	buf_printf(&p->message, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}", STR_ARG(p->id),
	           result);
}

static inline void hostile_call(struct hostile_peer *p)
{
	struct str move = hostile_member(p->body, "\"move\":", "\"");
	char result[128];

	hostile_note(p->server, p->place, "call", move);
	pthread_mutex_lock(&p->server->lock);
	snprintf(result, sizeof(result),
	         "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"at\\\":%zu}\"}]}",
	         p->server->log.n);
	pthread_mutex_unlock(&p->server->lock);
	hostile_result(p, result);
}

/* Each request of revision 2026-07-28 has the revision. */
static inline bool hostile_is_modern(const struct hostile_peer *p)
{
	return hostile_member(p->body, "\"io.modelcontextprotocol/protocolVersion\":", "\"").n > 0;
}

/* Determines the moment and writes the regular reply. */
static inline const char *hostile_rpc(struct hostile_peer *p)
{
	struct str method = hostile_member(p->body, "\"method\":", "\"");
	bool modern = hostile_is_modern(p);

	p->id = hostile_member(p->body, "\"id\":", ",}");
	if (str_is(method, "server/discover")) {
		hostile_result(
			p, "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
			   "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":"
			   "\"hostile\",\"version\":\"1\"}}");
		return "modernopen";
	}
	if (str_is(method, "initialize")) {
		hostile_result(p, "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		                  "\"serverInfo\":{\"name\":\"hostile\",\"version\":\"1\"}}");
		return "open";
	}
	if (str_is(method, "tools/list")) {
		hostile_result(
			p,
			"{\"tools\":[{\"name\":\"act\",\"inputSchema\":{\"type\":\"object\","
			"\"properties\":{\"move\":{\"type\":\"string\",\"description\":\"A, B, C or D\"}},"
			"\"required\":[\"move\"]}}]}");
		return modern ? "modernlist" : "list";
	}
	if (str_is(method, "tools/call")) {
		hostile_call(p);
		return modern ? "moderncall" : p->by_header ? "verifierscall" : "call";
	}
	hostile_result(p, "{}");
	return p->id.n ? "other" : "notification";
}

static inline const char *hostile_control(struct hostile_peer *p)
{
	bool state = str_ends(p->path, STR("state")), reward = str_ends(p->path, STR("reward"));

	buf_clear(&p->message);
	if (strncmp(p->moment, "control", 7) != 0)
		return "none";
	buf_text(&p->message,
	         state    ? "{\"position\":0}"
	         : reward ? "{\"reward\":0.0}"
	                  : "{\"terminated\":false,\"truncated\":false,\"step_count\":0}");
	return "control";
}

static inline const char *hostile_model(struct hostile_peer *p)
{
	buf_clear(&p->message);
	buf_text(
		&p->message,
		"{\"id\":\"m\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"m\",\"choices\":[{"
		"\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{"
		"\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"lake_move\","
		"\"arguments\":\"{\\\"action\\\":\\\"DOWN\\\"}\"}}]},"
		"\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,"
		"\"completion_tokens\":1,\"total_tokens\":2}}");
	return "model";
}

/* The HTTP pages of an OpenEnv server: only its schema exists. */
static inline const char *hostile_page(struct hostile_peer *p)
{
	buf_clear(&p->message);
	if (!str_ends(p->path, STR("/schema")))
		return "none";
	buf_text(
		&p->message,
		"{\"action\":{\"title\":\"Walk\",\"type\":\"object\",\"properties\":{\"move\":"
		"{\"type\":\"string\",\"description\":\"A, B, C or D\"}},\"required\":[\"move\"]},\"observation\":{},\"state\":{}}");
	return "page";
}

struct hostile_route {
	const char *path, *moment, *reply; /* the reply is JSON; NULL: a call's */
};

static inline const char *hostile_routed(struct hostile_peer *p, const struct hostile_route *r,
                                         size_t count)
{
	buf_clear(&p->message);
	for (size_t i = 0; i < count; i++) {
		if (!str_ends(p->path, str_from(r[i].path)))
			continue;
		if (!r[i].reply) {
			hostile_note(p->server, p->place, "call",
			             hostile_member(p->body, "move", "\\\""));
		}
		buf_text(&p->message, r[i].reply ? r[i].reply
		                                 : "{\"ok\":true,\"output\":{\"blocks\":[],"
		                                   "\"reward\":1},\"observation\":\"\"}");
		return r[i].moment;
	}
	return NULL;
}

/* An ORS server and the three kinds of resources servers of NeMo Gym; NULL: none of their pages. */
static inline const char *hostile_route(struct hostile_peer *p)
{
	static const struct hostile_route routes[] = {
		{"/list_environments", "orsnames", "[\"ors\"]"},
		{"/create_session", "orssession",
	         "event: task_id\ndata: s\n\nevent: end\ndata:\n\n"},
		{"/create", "orscreate", "{\"sid\":\"s\"}"},
		{"/ors/splits", "orssplits", "[{\"name\":\"train\"}]"},
		{"/ors/prompt", "orsprompt", "[]"},
		{"/ors/task_tools", "orstools", "{\"tools\":[{\"name\":\"act\"}]}"},
		{"/ors/call", "orscall", NULL},
		{"/delete", "orsclose", "{}"},
		{"/delete_session", "orsclose", "{}"},
		{"/gym/openapi.json", "gympage",
	         "{\"paths\":{\"/seed_session\":{},\"/verify\":{},\"/act\":{\"post\":{}}}}"},
		{"/gym/seed_session", "gymseed", "{}"},
		{"/gym/act", "gymcall", NULL},
		{"/gym/verify", "gymverify", "{\"reward\":1}"},
		{"/steps/openapi.json", "stepspage",
	         "{\"paths\":{\"/reset\":{},\"/step\":{},\"/aggregate_metrics\":{}}}"},
		{"/steps/reset", "stepsreset", "{\"observation\":\"\",\"info\":{}}"},
		{"/steps/step", "stepscall", NULL},
		{"/native/openapi.json", "nativepage",
	         "{\"paths\":{\"/seed_session\":{},\"/verify\":{},\"/close_session\":{},"
	         "\"/act\":{\"post\":{}}}}"},
		{"/native/seed_session", "nativeseed", "{\"resources_session_id\":\"r\"}"},
		{"/native/act", "nativecall", NULL},
		{"/native/verify", "nativeverify", "{\"reward\":1}"},
		{"/native/close_session", "nativeclose", "{}"},
	};

	return hostile_routed(p, routes, ARRAY_LEN(routes));
}

/* The last event id before the stream ended identifies the call. */
static inline const char *hostile_resume(struct hostile_peer *p, const char *last)
{
	p->id = (struct str){last, strcspn(last, "\r\n")};
	hostile_result(p, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"at\\\":0}\"}]}");
	return "resume";
}

static inline const char *hostile_moment(struct hostile_peer *p)
{
	bool get = str_is(p->verb, "GET");
	const char *last = get ? strstr(buf_cstr(&p->in), "Last-Event-ID: call-") : NULL;

	if (last)
		return hostile_resume(p, last + strlen("Last-Event-ID: call-"));

	if (strstr(p->path.p, "/control/") &&
	    strstr(p->path.p, "/control/") < p->path.p + p->path.n) {
		return hostile_control(p);
	}
	if (str_ends(p->path, STR("/chat/completions")))
		return hostile_model(p);
	const char *route = hostile_route(p);
	if (route)
		return route;
	if (!str_ends(p->path, STR("/mcp")))
		return hostile_page(p);
	buf_clear(&p->message);
	return get ? "background" : str_is(p->verb, "DELETE") ? "close" : hostile_rpc(p);
}

/* ---- HTTP ---- */

/* An event stream that ends before the reply. */
static inline bool hostile_end_early(struct hostile_peer *p)
{
	buf_clear(&p->message);
	buf_printf(&p->message, "id: call-%.*s\nretry: 1\ndata: \n\n", STR_ARG(p->id));
	buf_printf(
		&p->out,
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %zu\r\n\r\n",
		p->message.n);
	buf_str(&p->out, buf_view(&p->message));
	return hostile_flush(p);
}

static inline bool hostile_http(struct hostile_peer *p)
{
	const char *moment = hostile_moment(p);
	const char *status = !strcmp(moment, "background")     ? "405 Method Not Allowed"
	                     : !strcmp(moment, "notification") ? "202 Accepted"
	                     : !strcmp(moment, "none")         ? "404 Not Found"
	                                                       : NULL;
	bool strikes = hostile_strikes(p, moment);

	if (!strcmp(p->moment, "resume") && !strcmp(moment, "call"))
		return hostile_end_early(p);
	if (!strikes && !strcmp(moment, "resume")) {
		buf_printf(&p->out,
		           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		           "Content-Length: %zu\r\n\r\ndata: %.*s\n\n",
		           p->message.n + strlen("data: \n\n"), STR_ARG(buf_view(&p->message)));
		return hostile_flush(p);
	}
	if (!strikes && !strcmp(moment, "orssession")) {
		buf_printf(&p->out,
		           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		           "Content-Length: %zu\r\n\r\n%s",
		           p->message.n, buf_cstr(&p->message));
		return hostile_flush(p);
	}
	if (!strikes && status) {
		buf_printf(&p->out, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
		return hostile_flush(p);
	}
	return hostile_answer(p, strikes);
}

/* ---- WebSocket ---- */

static inline const char *hostile_ws_message(struct hostile_peer *p)
{
	static const char observation[] =
		"{\"type\":\"observation\",\"data\":{\"observation\":{\"at\":%d,\"pad\":\"\"},"
		"\"reward\":0.0,\"done\":false}}";
	struct str type = hostile_member(p->body, "\"type\":", "\"");

	buf_clear(&p->message);
	if (str_is(type, "step")) {
		hostile_note(p->server, p->place, "call",
		             hostile_member(p->body, "\"move\":", "\""));
		buf_printf(&p->message, observation, ++p->calls);
		return "call";
	}
	if (str_is(type, "reset")) {
		buf_printf(&p->message, observation, 0);
		return "reset";
	}
	buf_printf(&p->message,
	           "{\"type\":\"state\",\"data\":{\"episode_id\":\"e-1\",\"step_count\":%d,"
	           "\"at\":%d,\"pad\":\"\"}}",
	           p->calls, p->calls);
	return str_is(type, "state") ? "state" : "close";
}

static inline void hostile_websocket(struct hostile_peer *p)
{
	struct wss_got f = {0};
	bool goes_on = true;

	if (hostile_strikes(p, "handshake")) {
		goes_on = hostile_answer(p, true);
	} else {
		wss_reply(buf_cstr(&p->in), "", &p->out);
		hostile_flush(p);
	}
	for (wss_next(p->fd, &f); goes_on && f.first; wss_next(p->fd, &f)) {
		p->body = buf_view(&f.payload);
		bool text = f.first == 0x81;
		const char *moment = text ? hostile_ws_message(p) : "close";

		if (hostile_strikes(p, moment)) {
			goes_on = hostile_answer(p, true);
		} else if (text) {
			wss_send(p->fd, 0x81, buf_view(&p->message));
		} else if (f.first == 0x88) {
			wss_send(p->fd, 0x88, p->body);
			break;
		}
	}
	buf_release(&f.payload);
}

/* ---- connections ---- */

/* The length of the next complete request; 0 when more bytes are needed. */
static inline size_t hostile_whole(struct hostile_peer *p)
{
	const char *text = buf_cstr(&p->in), *end = strstr(text, "\r\n\r\n");
	const char *length = end ? strstr(text, "Content-Length:") : NULL;
	size_t body = 0;

	if (!end)
		return 0;
	if (length && length < end)
		body = strtoull(length + 15, NULL, 10);
	size_t head = (size_t)(end - text) + 4;
	p->verb = (struct str){text, strcspn(text, " ")};
	p->path = (struct str){text + p->verb.n + 1, strcspn(text + p->verb.n + 1, " ")};
	p->body = (struct str){text + head, body};
	return p->in.n >= head + body ? head + body : 0;
}

/* The path is /NAME/MOMENT/.., or a header says it. */
static inline void hostile_find_row(struct hostile_peer *p)
{
	static const char header[] = "\nFault: ";
	const char *said = strstr(buf_cstr(&p->in), header);
	struct str rest = said ? str_from(said + strlen(header)) : str_skip(p->path, 1);
	struct str name = {rest.p, strcspn(rest.p, "/ ")};
	size_t moment = strcspn(rest.p + name.n + 1, "/ \r");

	p->by_header = said;
	snprintf(p->place, sizeof(p->place), "%.*s", (int)(name.n + 1 + moment), rest.p);
	p->moment = strchr(p->place, '/') ? strchr(p->place, '/') + 1 : "";
	p->row = hostile_find(p->server, name);
	p->id = STR(""); /* the earlier request's bytes are freed */
}

static inline bool hostile_serve_one(struct hostile_peer *p)
{
	hostile_find_row(p);
	if (strstr(buf_cstr(&p->in), "Upgrade: websocket")) {
		hostile_websocket(p);
		return false;
	}
	return hostile_http(p);
}

static inline void *hostile_serve(void *arg)
{
	struct hostile_peer *p = arg;
	bool open = true;
	char piece[65536];
	ssize_t n;

	while (open && (n = recv(p->fd, piece, sizeof(piece), 0)) > 0) {
		size_t used;

		buf_add(&p->in, piece, (size_t)n);
		while (open && (used = hostile_whole(p)) > 0) {
			open = hostile_serve_one(p);
			buf_drop(&p->in, used);
			if (!p->in.n) {
				buf_release(
					&p->in); /* so that ASan finds dangling pointers into it */
			}
		}
	}
	close(p->fd);
	buf_release(&p->in);
	buf_release(&p->out);
	buf_release(&p->message);
	free(p);
	return NULL;
}

static inline void *hostile_serve_elsewhere(void *arg)
{
	struct hostile *h = arg;
	int fd;

	while ((fd = accept(h->other_listener, NULL, NULL)) >= 0) {
		hostile_note(h, "elsewhere", "was asked", STR(""));
		close(fd);
	}
	return NULL;
}

static inline void *hostile_accept_all(void *arg)
{
	struct hostile *h = arg;
	pthread_attr_t small;
	int fd;

	pthread_attr_init(&small);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	while ((fd = accept(h->listener, NULL, NULL)) >= 0) {
		struct hostile_peer *p = mem_new(sizeof(*p));
		pthread_t thread;

		*p = (struct hostile_peer){.server = h,
		                           .fd = fd,
		                           .in = BUF(HOSTILE_BODY),
		                           .out = BUF(HOSTILE_BODY),
		                           .message = BUF(HOSTILE_BODY),
		                           .moment = ""};
		if (pthread_create(&thread, &small, hostile_serve, p))
			abort();
	}
	pthread_attr_destroy(&small);
	return NULL;
}

/* Serves in its own threads until the program ends. */
static inline void hostile_begin(struct hostile *h)
{
	pthread_t thread;

	h->log = h->moments = BUF(BUF_MAX_MESSAGE);
	pthread_mutex_init(&h->lock, NULL);
	h->listener = loopback_listen(&h->port);
	h->other_listener = loopback_listen(&h->elsewhere);
	if (pthread_create(&thread, NULL, hostile_accept_all, h) || pthread_detach(thread) ||
	    pthread_create(&thread, NULL, hostile_serve_elsewhere, h) || pthread_detach(thread)) {
		abort();
	}
}
