/* An OpenEnv server with one defect, for command tests of misbehaving peers.

   misbehaving_openenv HABIT prints "listening on 127.0.0.1:PORT" and serves a corridor, where
   each step moves to the next tile, until it is killed. The defect occurs when a session is
   opened, or in the reply to its second step: see the tables, whose names are printed
   without an argument. "cornered" has none: only steps back move. "forgets": each
   second step starts anew, unnoticed by its count. "noisy": a reading differs now and then, whatever the seed. "sets": a step
   sets one member to its way, whatever it was; nothing is wrong with that. Each step received is a line on standard output: "step 1". */
#include "base/mem.h"
#include "unit/ws_server.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#define SCHEMA                                                                                     \
	"{\"action\":{\"title\":\"Walk\",\"type\":\"object\",\"properties\":"                      \
	"{\"way\":{\"type\":\"string\",\"enum\":[\"on\",\"aside\",\"back\"]}},\"required\":"       \
	"[\"way\"]},\"observation\":{},\"state\":{}}"
#define ONE_MIB ((size_t)1 << 20)

struct habit {
	const char *name;
	bool (*act)(int fd); /* false: close the connection */
};

/* The state of a session. */
struct session {
	int fd;
	int steps, back;
	const char *wall; /* that the last step met */
	const char *way;  /* of the last step */
	char episode[80];
};

static bool send_text(int fd, const char *text)
{
	wss_send(fd, 0x81, str_from(text));
	return true;
}

/* Sends nothing until the client closes the connection. */
static bool wait_for_end(int fd)
{
	struct wss_got f = {0};

	do {
		wss_next(fd, &f);
	} while (f.first);
	buf_release(&f.payload);
	return false;
}

/* ---- when a session is opened ---- */

static bool decline(int fd)
{
	static const char text[] = "HTTP/1.1 401 Unauthorized\r\nContent-Length: "
				   "0\r\nConnection: close\r\n\r\n";

	wss_write(fd, text, sizeof(text) - 1);
	return false;
}

static bool redirect(int fd)
{
	static const char text[] = "HTTP/1.1 307 Temporary Redirect\r\nLocation: "
				   "ws://127.0.0.1:9/ws\r\nContent-Length: 0\r\n\r\n";

	wss_write(fd, text, sizeof(text) - 1);
	return false;
}

static bool close_at_once(int fd)
{
	(void)fd;
	return false;
}

static const struct habit at_handshake[] = {
	{"declines", decline},
	{"redirects", redirect},
	{"leaves", close_at_once},
	{"never-shakes-hands", wait_for_end},
};

/* Sends the frame repeatedly until sending fails. */
static bool send_repeatedly(int fd, unsigned char first, struct str payload)
{
	struct buf bytes = BUF(BUF_MAX_SMALL);

	wss_frame(&bytes, first, payload);
	while (send(fd, bytes.p, bytes.n, MSG_NOSIGNAL) > 0)
		poll(NULL, 0, 1);
	buf_release(&bytes);
	return false;
}

static bool ping_for_ever(int fd)
{
	return send_repeatedly(fd, 0x89, STR("there?"));
}

static bool send_for_ever(int fd)
{
	return send_repeatedly(fd, 0x81, STR("{\"type\":\"news\",\"data\":{}}"));
}

static const struct habit at_greeting[] = {
	{"never-answers", wait_for_end},
	{"pings-only", ping_for_ever},
	{"talks-to-nobody", send_for_ever},
};

/* ---- in place of the reply to the second step ---- */

static bool cut_off(int fd)
{
	static const char head[] = "\x81\x7e\x02\x00{\"type\":\"obs";

	wss_write(fd, head, sizeof(head) - 1);
	return false;
}

static bool announce_gibibyte(int fd)
{
	static const char head[] = "\x81\x7f\0\0\0\0\x40\0\0\0{";

	wss_write(fd, head, sizeof(head) - 1);
	return wait_for_end(fd);
}

static bool send_gibibyte(int fd)
{
	struct buf piece = BUF(ONE_MIB + 16);
	char *zeros = calloc(1, ONE_MIB);

	wss_send(fd, 0x01, STR("{"));
	wss_frame(&piece, 0x00, (struct str){zeros, zeros ? ONE_MIB : 0});
	for (int i = 0; i < 1024; i++)
		wss_write(fd, piece.p, piece.n);
	free(zeros);
	buf_release(&piece);
	return false;
}

static bool send_binary(int fd)
{
	wss_send(fd, 0x82, STR("{\"type\":\"observation\"}"));
	return true;
}

static bool send_page(int fd)
{
	return send_text(fd, "<html>Bad Gateway</html>");
}

static bool send_nan(int fd)
{
	return send_text(fd, "{\"type\":\"observation\",\"data\":{\"observation\":{"
	                     "\"heat\":NaN},\"reward\":0,\"done\":false}}");
}

static bool send_bad_text(int fd)
{
	return send_text(fd, "{\"type\":\"observation\",\"data\":\"\xff\xfe\"}");
}

static bool send_reserved(int fd)
{
	wss_send(fd, 0xc1, STR("{}"));
	return true;
}

static bool send_other_type(int fd)
{
	return send_text(fd, "{\"type\":\"reset\",\"data\":{}}");
}

static bool send_twice(int fd)
{
	static const char text[] = "{\"type\":\"observation\",\"data\":{\"observation\":{"
				   "\"tile\":2},\"reward\":0,\"done\":false}}";

	send_text(fd, text);
	return send_text(fd, text);
}

static bool send_nothing(int fd)
{
	return wait_for_end(fd);
}

static bool end_session(int fd)
{
	return send_text(fd, "{\"type\":\"error\",\"data\":{\"message\":\"'text'\","
	                     "\"code\":\"SESSION_ERROR\"}}");
}

static bool close_with(int fd, int code, const char *reason)
{
	wss_send_close(fd, code, reason);
	return false;
}

static bool close_1009(int fd)
{
	return close_with(fd, 1009, "message too big");
}

static bool close_1011(int fd)
{
	return close_with(fd, 1011, "keepalive ping timeout");
}

static bool close_1013(int fd)
{
	return close_with(fd, 1013, "\x1b[31mtry again later");
}

static const struct habit at_second_step[] = {
	{"cut-off", cut_off},
	{"announces-1-gib", announce_gibibyte},
	{"sends-1-gib", send_gibibyte},
	{"binary", send_binary},
	{"web-page", send_page},
	{"nan", send_nan},
	{"not-utf-8", send_bad_text},
	{"reserved-bits", send_reserved},
	{"other-type", send_other_type},
	{"twice", send_twice},
	{"silent", send_nothing},
	{"session-error", end_session},
	{"close-1009", close_1009},
	{"close-1011", close_1011},
	{"close-1013", close_1013},
};

/* ---- a corridor ---- */

static const struct habit *find(const struct habit *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

#define FIND(list, name) find(list, ARRAY_LEN(list), name)

static const char *habit_name;
#define CORNERED "cornered"
#define FORGETS  "forgets"
#define NOISY    "noisy"
#define SETS     "sets"

static void answer_page(int fd, const char *request)
{
	struct buf out = BUF(BUF_MAX_SMALL);
	bool schema = !strncmp(request, "GET /schema ", 12);
	const char *body = schema ? SCHEMA : "{\"name\":\"Corridor\",\"version\":\"1\"}";

	buf_printf(&out,
	           "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	           "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
	           strlen(body), body);
	wss_write(fd, out.p, out.n);
	buf_release(&out);
}

static void start_episode(struct session *s, const char *question)
{
	const char *at = strstr(question, "\"episode_id\":\"");

	at = at ? at + strlen("\"episode_id\":\"") : "";
	snprintf(s->episode, sizeof(s->episode), "%.*s", (int)strcspn(at, "\""), at);
	s->steps = s->back = 0;
	s->wall = s->way = "no";
}

static void walk(struct session *s, const char *question)
{
	bool back = strstr(question, "\"back\"") != NULL;
	bool aside = strstr(question, "\"aside\"") != NULL;

	s->steps++;
	s->back += back;
	s->wall = back ? "no" : aside ? "the east" : "the north";
	s->way = back ? "back" : aside ? "aside" : "on";
}

static bool cornered(void)
{
	return !strcmp(habit_name, CORNERED);
}

static atomic_int replies;

static bool sets(void)
{
	return !strcmp(habit_name, SETS);
}

static int tile(const struct session *s)
{
	bool forgets = !strcmp(habit_name, FORGETS);

	return sets()                ? 0
	       : cornered()          ? s->back
	       : forgets && s->steps ? 2 - s->steps % 2
	                             : s->steps;
}

static bool answer(struct session *s, const char *question)
{
	const struct habit *habit = FIND(at_second_step, habit_name);
	char text[400];

	if (strstr(question, "\"type\":\"close\""))
		return close_with(s->fd, 1000, "");
	if (strstr(question, "\"type\":\"reset\"")) {
		start_episode(s, question);
	} else if (strstr(question, "\"type\":\"step\"")) {
		walk(s, question);
		printf("step %d\n", s->steps);
		fflush(stdout);
		if (s->steps == 2 && habit)
			return habit->act(s->fd);
	} else {
		snprintf(text, sizeof(text),
		         "{\"type\":\"state\",\"data\":{\"episode_id\":\"%s\","
		         "\"step_count\":%d,\"tile\":%d}}",
		         s->episode, s->steps, tile(s));
		return send_text(s->fd, text);
	}
	char wall[40] = "";
	if (cornered() || !strcmp(habit_name, FORGETS))
		snprintf(wall, sizeof(wall), ",\"met\":\"%s wall\"", s->wall);
	if (sets())
		snprintf(wall, sizeof(wall), ",\"way\":\"%s\"", s->way);
	if (!strcmp(habit_name, NOISY))
		snprintf(wall, sizeof(wall), ",\"heat\":%d",
		         20 + (atomic_fetch_add(&replies, 1) % 43 == 42));
	snprintf(text, sizeof(text),
	         "{\"type\":\"observation\",\"data\":{\"observation\":{\"tile\":%d%s},"
	         "\"reward\":0.0,\"done\":false}}",
	         tile(s), wall);
	return send_text(s->fd, text);
}

static void serve_session(int fd, const char *request)
{
	struct session s = {.fd = fd};
	struct buf reply = BUF(BUF_MAX_SMALL);
	struct wss_got f = {0};
	const struct habit *habit = FIND(at_greeting, habit_name);

	wss_reply(request, "", &reply);
	wss_write(fd, reply.p, reply.n);
	buf_release(&reply);
	bool open = !habit || habit->act(fd);
	while (open) {
		wss_next(fd, &f);
		if (f.first == 0x81) {
			buf_text(&f.payload, ""); /* terminates it */
			open = answer(&s, buf_cstr(&f.payload));
		} else {
			open = f.first && f.first != 0x88;
		}
	}
	buf_release(&f.payload);
}

static void *serve(void *arg)
{
	int *place = arg, fd = *place;
	const struct habit *habit = FIND(at_handshake, habit_name);
	char request[8192];

	if (!wss_request(fd, request, sizeof(request))) {
		/* closed before a complete request */
	} else if (strncmp(request, "GET /ws ", 8) != 0) {
		answer_page(fd, request);
	} else if (!habit || habit->act(fd)) {
		serve_session(fd, request);
	}
	close(fd);
	free(place);
	return NULL;
}

static const struct {
	const struct habit *list;
	size_t count;
} tables[] = {
	{at_handshake, ARRAY_LEN(at_handshake)},
	{at_greeting, ARRAY_LEN(at_greeting)},
	{at_second_step, ARRAY_LEN(at_second_step)},
};

static void print_habits(void)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (size_t j = 0; j < tables[i].count; j++)
			printf("%s\n", tables[i].list[j].name);
}

static bool is_habit(const char *name)
{
	bool known = !strcmp(name, "none") || !strcmp(name, CORNERED) || !strcmp(name, FORGETS) ||
	             !strcmp(name, NOISY) || !strcmp(name, SETS);

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		known = known || find(tables[i].list, tables[i].count, name);
	return known;
}

int main(int argc, char **argv)
{
	uint16_t port;
	int fd;

	if (argc < 2) {
		print_habits();
		return 0;
	}
	habit_name = argv[1];
	if (!is_habit(habit_name)) {
		fprintf(stderr, "misbehaving_openenv: no such habit: '%s'\n", habit_name);
		return 2;
	}
	int listener = loopback_listen(&port);
	printf("listening on 127.0.0.1:%u\n", port);
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		int *place = mem_new(sizeof(*place));
		pthread_t thread;

		*place = fd;
		if (pthread_create(&thread, NULL, serve, place))
			abort();
		pthread_detach(thread);
	}
	return 1;
}
