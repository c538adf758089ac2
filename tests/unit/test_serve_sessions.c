/* Which sessions share an environment, the session limit, and when slots are released. */
#include "serve_client.h"

#include "serve/gym/gym.h"

#include <pthread.h>

static void check_session_lifetime(const struct server *s)
{
	struct got a, g;

	open_session(s, NULL, &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "without an id from the client it is still played");
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 8, "in one environment");
	control(s, "GET", "status", a.session, "", &g);
	ok(strstr(g.body, "\"step_count\":2") != NULL, "which bears the transport's id");
	end_session(s, a.session, &g);
	is_int(g.status, 200, "DELETE ends it");
	is_str(g.body, "", "without a word");
	move(s, a.session, "DOWN", &g);
	is_int(g.status, 404, "then it does not exist");
	end_session(s, a.session, &g);
	is_int(g.status, 404, "and cannot end again");
	control(s, "GET", "status", a.session, "", &g);
	is_int(g.status, 404, "nor is there an environment");
}

static void check_sharing(const struct server *s)
{
	struct got a, b, g;

	open_session(s, "{\"session_id\":\"shared\"}", &a);
	open_session(s, "{\"session_id\":\"shared\"}", &b);
	ok(strcmp(a.session, b.session) != 0, "two transports");
	move(s, a.session, "DOWN", &g);
	move(s, b.session, "DOWN", &g);
	is_int(position_in(&g), 8, "that chose one id are in one environment");
	end_session(s, a.session, &g);
	move(s, b.session, "RIGHT", &g);
	is_int(position_in(&g), 9, "which outlives the first of them");
	end_session(s, b.session, &g);
	open_session(s, "{\"session_id\":\"shared\"}", &a);
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "and not the last");
	end_session(s, a.session, &g);
}

static void check_second_initialize(const struct server *s)
{
	struct got a, g;

	open_session(s, "{\"session_id\":\"one\"}", &a);
	move(s, a.session, "DOWN", &g);
	move(s, a.session, "DOWN", &g);
	post_in(s, a.session,
	        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
	        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
	        "\"name\":"
	        "\"x\",\"version\":\"1\",\"_extra\":{\"session_id\":\"two\"}}}}",
	        &g);
	is_int(g.status, 200, "a second initialize");
	is_str(g.session, a.session, "keeps the session");
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "but calls go to the environment that it names");
	control(s, "GET", "status", "two", "", &g);
	ok(strstr(g.body, "\"step_count\":1") != NULL, "which is the one of that id");
	control(s, "GET", "status", "one", "", &g);
	is_int(g.status, 404, "and the other, without a session now, is gone");
	end_session(s, a.session, &g);
}

static void check_bad_ids(const struct server *s)
{
	struct got g;
	char extra[2200];

	open_session(s, "{\"session_id\":5}", &g);
	ok(strstr(g.body, "\"code\":-32602") != NULL, "an id that is not a string is refused");
	snprintf(extra, sizeof(extra), "{\"session_id\":\"%0*d\"}", ENV_ID_MAX + 1, 0);
	open_session(s, extra, &g);
	ok(strstr(g.body, "\"code\":-32602") != NULL, "so is one of %d bytes", ENV_ID_MAX + 1);
	snprintf(extra, sizeof(extra), "{\"session_id\":\"%0*d\"}", ENV_ID_MAX, 0);
	open_session(s, extra, &g);
	ok(strstr(g.body, "\"result\"") != NULL, "one byte less is fine");
	end_session(s, g.session, &g);
}

static void check_limit(void)
{
	struct server *s = start_server("frozen_lake?max_envs=2");
	struct got a, b, g;

	control(s, "GET", "initial_state", "passer-by", "", &g);
	is_int(g.status, 200, "a control plane request is enough to create an environment");
	open_session(s, "{\"session_id\":\"a\"}", &a);
	is_int(a.status, 200, "the first session");
	open_session(s, "{\"session_id\":\"b\"}", &b);
	is_int(b.status, 200, "the second: an environment without a session is replaced");
	control(s, "GET", "status", "passer-by", "", &g);
	is_int(g.status, 404, "and no longer exists");
	open_session(s, "{\"session_id\":\"c\"}", &g);
	is_int(g.status, 503, "the third is refused at the door");
	is_str(g.body,
	       "{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":-32603,"
	       "\"message\":"
	       "\"Too many open sessions\"}}",
	       "with the reason");
	is_str(g.session, "", "and no session");
	open_session(s, "{\"session_id\":\"a\"}", &g);
	is_int(g.status, 200, "one in an environment there is needs no room");
	control(s, "GET", "initial_state", "c", "", &g);
	is_int(g.status, 500, "the control plane does not create another one");
	is_str(g.body, "{\"error\":\"Maximum concurrent environments (2) reached\"}",
	       "with the reason");
	move(s, a.session, "DOWN", &g);
	is_int(position_in(&g), 4, "the first continues");
	end_session(s, b.session, &g);
	open_session(s, "{\"session_id\":\"c\"}", &g);
	is_int(g.status, 200, "DELETE gave room back");
	server_stop(s);
}

/* ---- many at once ---- */

#define PLAYERS 12

struct player {
	pthread_t thread;
	const struct server *server;
	int number;
	bool played;
};

static bool reach_goal(const struct server *s, const char *session)
{
	static const char *const actions[] = {"DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"};
	static const long positions[] = {4, 8, 9, 13, 14, 15};
	struct got g;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		move(s, session, actions[i], &g);
		if (position_in(&g) != positions[i])
			return false;
	}
	return true;
}

static void *play(void *arg)
{
	struct player *p = arg;
	struct got opened, g;
	char extra[64];

	snprintf(extra, sizeof(extra), "{\"session_id\":\"player %d\"}", p->number);
	open_session(p->server, extra, &opened);
	p->played = reach_goal(p->server, opened.session);
	end_session(p->server, opened.session, &g);
	return NULL;
}

static void check_many(const char *target)
{
	struct server *s = start_server(target);
	struct player players[PLAYERS];

	for (int i = 0; i < PLAYERS; i++) {
		players[i] = (struct player){.server = s, .number = i};
		pthread_create(&players[i].thread, NULL, play, &players[i]);
	}
	for (int i = 0; i < PLAYERS; i++) {
		pthread_join(players[i].thread, NULL);
		ok(players[i].played, "%s: player %d reached the goal in its own environment",
		   target, i);
	}
	is_int(server_steps(s), PLAYERS * 6, "and every step was counted");
	server_stop(s);
}

int main(void)
{
	struct server *s = start_server("frozen_lake");

	check_session_lifetime(s);
	check_sharing(s);
	check_second_initialize(s);
	check_bad_ids(s);
	server_stop(s);
	check_limit();
	check_many("frozen_lake?max_envs=12");
	check_many("frozen_lake?max_envs=12&delay=5ms");
	return done();
}
