/* Every fault of the built-in server over OpenEnv, as a client sees it. */
#include "serve/fault/fault.h"
#include "ws_client.h"

#define MOVE(action) "{\"type\":\"step\",\"data\":{\"action\":\"" action "\"}}"
#define STATE        "{\"type\":\"state\"}"
#define RESET(seed)  "{\"type\":\"reset\",\"data\":{\"seed\":" seed ",\"episode_id\":\"ep-1\"}}"

/* The integer after `"key":`; -1: none. */
static long number_of(const struct ws_frame *f, const char *key)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "\"%s\":", key);
	const char *at = strstr(f->text, wanted);

	return at ? strtol(at + strlen(wanted), NULL, 10) : -1;
}

static long position_after(int fd, const char *message)
{
	struct ws_frame f;

	ws_ask(fd, message, &f);
	return number_of(&f, "position");
}

static bool has_text(const struct ws_frame *f, const char *part)
{
	return strstr(f->text, part) != NULL;
}

static struct server *faulty(const char *faults)
{
	char target[128];

	snprintf(target, sizeof(target), "frozen_lake?protocol=openenv&%s", faults);
	return start_server(target);
}

/* A slot is free when the connection ends after our Close. */
static bool is_refused(const struct server *s)
{
	struct ws_frame f;
	int fd = ws_connect(s);

	ws_ask(fd, STATE, &f);
	bool refused = has_text(&f, "\"CAPACITY_REACHED\"");
	ws_leave(fd);
	return refused;
}

static void leak_slot(void)
{
	struct server *s = faulty("fault=leak-slot&max_envs=2");

	ok(!is_refused(s), "the first is let in");
	ok(!is_refused(s), "and the second");
	ok(is_refused(s), "the third is not, though both have left");
	server_stop(s);
	s = faulty("max_envs=1");
	for (int i = 0; i < 3; i++)
		ok(!is_refused(s), "a healthy one lets everybody in, one by one");
	server_stop(s);
}

static void capacity(void)
{
	struct server *s = faulty("fault=capacity&max_envs=1");
	struct ws_frame f;
	int a = ws_connect(s), b;

	is_int(position_after(a, MOVE("DOWN")), 4, "the first moves");
	ws_leave(a);
	b = ws_connect(s);
	is_int(position_after(b, RESET("1")), 0, "the second still opens");
	is_str(ws_ask(b, MOVE("DOWN"), &f),
	       "{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{},"
	       "\"error\":\"Maximum concurrent environments (1) reached\"},\"reward\":"
	       "null,\"done\":false}}",
	       "and gets the refusal in an observation");
	is_int(position_after(b, STATE), 0, "it never moves");
	is_int(server_steps(s), 1, "one step in all");
	ws_leave(b);
	server_stop(s);
}

static void alias(void)
{
	struct server *s = faulty("fault=alias");
	int a = ws_connect(s), b = ws_connect(s);

	is_int(position_after(a, RESET("1")), 0, "one resets");
	is_int(position_after(b, MOVE("DOWN")), 4, "the other session acts");
	is_int(position_after(a, STATE), 4, "and moves the first");
	is_int(position_after(b, RESET("1")), 0, "resets");
	is_int(position_after(a, STATE), 0, "and resets it");
	ws_leave(a);
	is_int(position_after(b, MOVE("DOWN")), 4, "which outlives its sessions");
	ws_leave(b);
	server_stop(s);
}

static void seed_ignored(void)
{
	struct ws_frame first, other;

	for (int healthy = 0; healthy < 2; healthy++) {
		struct server *s =
			faulty(healthy ? "map=random8x8" : "map=random8x8&fault=seed-ignored");
		int fd = ws_connect(s);

		ws_ask(fd, RESET("42"), &first);
		ws_ask(fd, RESET("42"), &other);
		is_int(strcmp(first.text, other.text) == 0, healthy, "one seed, %s",
		       healthy ? "one lake" : "two lakes");
		ws_ask(fd, STATE, &other);
		ok(has_text(&other, "\"episode_id\":\"ep-1\""), "the id is honored");
		ws_leave(fd);
		server_stop(s);
	}
}

static void no_metadata(void)
{
	struct server *s = faulty("fault=no-metadata");
	struct ws_frame f;
	struct got g;
	int fd = ws_connect(s);

	ws_ask(fd, MOVE("DOWN"), &f);
	is_int(number_of(&f, "position"), 4, "a step");
	ok(!has_text(&f, "metadata"), "contains nothing else: %s", f.text);
	ask(s, "POST", "/reset", "", "", &g);
	ok(!strstr(g.body, "metadata"), "nor does plain HTTP: %s", g.body);
	ws_leave(fd);
	server_stop(s);
}

static void close_1011(void)
{
	struct server *s = faulty("fault=close-1011");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_int(position_after(fd, MOVE("DOWN")), 4, "one step");
	is_int(position_after(fd, MOVE("DOWN")), 8, "and once more");
	is_int(position_after(fd, STATE), 8, "reading is not a step");
	ws_say(fd, MOVE("RIGHT"));
	ws_next(fd, &f);
	is_int(f.code, 1011, "the third ends it");
	is_str(f.text, "keepalive ping timeout", "in those words");
	is_int(server_steps(s), 2, "without having acted");
	ws_leave(fd);
	server_stop(s);
}

static void stateless(void)
{
	struct server *s = faulty("fault=stateless");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_int(position_after(fd, RESET("1")), 0, "a reset");
	for (int i = 0; i < 3; i++) {
		is_int(position_after(fd, MOVE("DOWN")), 4, "each step is the first");
		ws_ask(fd, STATE, &f);
		is_int(number_of(&f, "step_count"), 0, "of an environment that no longer exists");
		ok(has_text(&f, "\"episode_id\":null"), "with its name");
	}
	ws_leave(fd);
	server_stop(s);
}

static void zombie(void)
{
	struct server *s = faulty("fault=zombie&max_envs=1");
	struct ws_frame f;
	int a = ws_connect(s), b;

	is_int(position_after(a, MOVE("DOWN")), 4, "one step");
	is_int(position_after(a, MOVE("DOWN")), 8, "and once more");
	ok(is_refused(s), "that is all the room there is");
	for (int i = 0; i < 3; i++) {
		ws_ask(a, MOVE("RIGHT"), &f);
		is_int(number_of(&f, "position"), 8, "there is a reply, but nothing moves");
		ok(has_text(&f, "\"reward\":0.0,\"done\":false"), "nor is it over");
	}
	ws_ask(a, STATE, &f);
	is_int(number_of(&f, "step_count"), 2, "or counted");
	b = ws_connect(s);
	is_int(position_after(b, MOVE("DOWN")), 4, "the slot belongs to a different session");
	ws_leave(a);
	ok(is_refused(s), "and is not given back twice");
	ws_leave(b);
	ok(!is_refused(s), "but once");
	server_stop(s);
}

static void late_reply(void)
{
	struct server *s = faulty("fault=late-reply");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_int(position_after(fd, MOVE("DOWN")), 4, "one step");
	ws_say(fd, MOVE("DOWN"));
	ws_say(fd, STATE);
	is_int(position_after(fd, MOVE("RIGHT")), 8, "the third is answered as the second");
	ws_next(fd, &f);
	ok(has_text(&f, "\"type\":\"state\"") && number_of(&f, "position") == 8,
	   "then comes the reply to the earlier request");
	ws_next(fd, &f);
	is_int(number_of(&f, "position"), 9, "and then its own");
	is_int(position_after(fd, MOVE("DOWN")), 13, "the next is on time");
	is_int(server_steps(s), 4, "each acted once");
	ws_leave(fd);
	server_stop(s);
}

static void disconnect(void)
{
	struct server *s = faulty("fault=disconnect&max_envs=1");
	int fd = ws_connect(s);

	is_int(position_after(fd, RESET("1")), 0, "a reset is answered");
	ws_say(fd, MOVE("DOWN"));
	ok(ws_ended(fd), "a step ends the connection, without a Close");
	is_int(server_steps(s), 1, "having acted");
	close(fd);
	server_stop(s);
}

static void slow_and_hang(void)
{
	struct server *s = faulty("fault=slow&delay=1ms");
	struct ws_frame f;
	int fd = ws_connect(s);

	is_int(position_after(fd, MOVE("DOWN")), 4, "a slow step is answered");
	ws_leave(fd);
	server_stop(s);
	s = faulty("fault=hang&max_envs=1");
	fd = ws_connect(s);
	ws_say(fd, MOVE("DOWN"));
	ws_send(fd, WS_FIN | WS_PING, STR("?"));
	ws_next(fd, &f);
	is_int(f.opcode, WS_PONG, "one that hangs leaves the connection open");
	is_int(server_steps(s), 0, "and never acts");
	ws_leave(fd);
	ok(!is_refused(s), "the slot is released when the connection ends");
	server_stop(s);
}

#define JSON "Content-Type: application/json\r\n"

static void instance_shared(void)
{
	struct server *s = faulty("fault=instance-shared");
	struct got g;
	int fd = connect_to(s);

	is_int(ws_handshake(fd, "/ws"), 403, "no WebSocket is offered");
	close(fd);
	ask(s, "GET", "/schema", "", "", &g);
	is_int(g.status, 404, "and no schema");
	ask(s, "GET", "/openapi.json", "", "", &g);
	ok(strstr(g.body, "\"title\":\"Environment HTTP Server\"") != NULL, "but a name");
	ask(s, "POST", "/reset", JSON, "{\"seed\":1,\"episode_id\":\"mine\"}", &g);
	is_int(position_in(&g), 0, "a reset");
	ask(s, "POST", "/step", JSON, "{\"action\":{\"action\":\"DOWN\"}}", &g);
	is_int(position_in(&g), 4, "a step");
	ask(s, "POST", "/step", JSON, "{\"action\":\"DOWN\"}", &g);
	is_int(position_in(&g), 8,
	       "an action without a wrapper is accepted, and continues from there");
	ok(!strstr(g.body, "metadata"), "without metadata");
	ask(s, "GET", "/state", "", "", &g);
	ok(strstr(g.body, "{\"episode_id\":null,\"step_count\":2,") == g.body,
	   "the state is everybody's: %s", g.body);
	ask(s, "POST", "/step", JSON, "{\"action\":{\"action\":\"OVER\"}}", &g);
	is_int(g.status, 422, "a refused action is 422");
	ask(s, "GET", "/health", "", "", &g);
	is_str(g.body, "{\"status\":\"healthy\"}", "the server is healthy");
	is_int(server_steps(s), 2, "two steps");
	server_stop(s);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"leak-slot", leak_slot},
	{"capacity", capacity},
	{"alias", alias},
	{"seed-ignored", seed_ignored},
	{"no-metadata", no_metadata},
	{"close-1011", close_1011},
	{"stateless", stateless},
	{"zombie", zombie},
	{"late-reply", late_reply},
	{"disconnect", disconnect},
	{"slow", slow_and_hang},
	{"hang", NULL},
	{"instance-shared", instance_shared},
};

static bool is_tested(const char *fault)
{
	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		if (strcmp(fault, tests[i].name) == 0)
			return true;
	return false;
}

static void belongs(void)
{
	struct serve_conf c;
	struct server *s = NULL;
	struct error err;

	serve_conf_init(&c, clock_real());
	is_int(serve_conf_target(&c, STR("frozen_lake?fault=zombie&protocol=openenv"), &err), 0,
	       "in any order");
	is_int(serve_conf_check(&c, &err), 0, "fault and protocol go together");
	c.protocol = SERVE_MCP;
	is_int(server_start(&c, &s, &err), -1, "or do not");
	is_int(err.kind, FAIL_USAGE, "which is a usage error");
	is_str(err.text, "fault 'zombie' needs protocol openenv", "with the cure");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		if (tests[i].run)
			tests[i].run();
	for (size_t i = 0; i < serve_faults_count; i++) {
		ok(!(serve_faults[i].protocols >> SERVE_OPENENV & 1) ||
		           is_tested(serve_faults[i].name),
		   "%s has a test if it is one of OpenEnv", serve_faults[i].name);
	}
	belongs();
	return done();
}
