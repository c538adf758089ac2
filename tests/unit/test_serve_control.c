/* The control plane of the healthy server, and seeds. */
#include "serve_client.h"

#define START                                                                                      \
	"{\"position\":0,\"grid\":\"\\n\\u001b[41mS\\u001b["                                       \
	"0mFFF\\nFHFH\\nFFFH\\nHFFG\\n\"}"

/* A sequence of requests on one environment; for a move, status is the resulting position.
   */
static const struct {
	const char *method, *what, *body;
	unsigned status;
	const char *wants;
} story[] = {
	{"GET", "status", "", 404, "{\"error\":\"Session lake \\\"A\\\" not found\"}"},
	{"GET", "reward", "", 404, "{\"error\":\"Session lake \\\"A\\\" not found\"}"},
	{"GET", "info", "", 404, "{\"error\":\"Session lake \\\"A\\\" not found\"}"},
	{"POST", "reset_session", "{\"seed\":42}", 200,
         "{\"message\":\"Session reset successfully\"}"},
	{"GET", "status", "", 404, "{\"error\":\"Session lake \\\"A\\\" not found\"}"},
	{"GET", "initial_state", "", 200, START},
	{"GET", "status", "", 200,
         "{\"terminated\":false,\"truncated\":false,\"step_count\":0,\"total_"
         "reward\":0.0}"},
	{"GET", "reward", "", 200, "{\"reward\":0.0,\"step_count\":0}"},
	{"GET", "info", "", 200, "{}"},
	{"move", "DOWN", "", 4, ""},
	{"GET", "reward", "", 200, "{\"reward\":0,\"step_count\":1}"},
	{"GET", "info", "", 200, "{\"prob\":1.0}"},
	{"move", "DOWN", "", 8, ""},
	{"move", "JUMP", "", 0, ""},
	{"GET", "status", "", 200,
         "{\"terminated\":false,\"truncated\":false,\"step_count\":2,\"total_"
         "reward\":0.0}"},
	{"move", "RIGHT", "", 9, ""},
	{"move", "DOWN", "", 13, ""},
	{"move", "RIGHT", "", 14, ""},
	{"move", "RIGHT", "", 15, ""},
	{"GET", "reward", "", 200, "{\"reward\":1,\"step_count\":6}"},
	{"move", "JUMP", "", 0, ""},
	{"GET", "reward", "", 200, "{\"reward\":1,\"step_count\":6}"},
	{"GET", "status", "", 200,
         "{\"terminated\":true,\"truncated\":false,\"step_count\":6,\"total_"
         "reward\":1.0}"},
	{"move", "LEFT", "", 15, ""},
	{"GET", "reward", "", 200, "{\"reward\":0,\"step_count\":7}"},
	{"GET", "status", "", 200,
         "{\"terminated\":true,\"truncated\":false,\"step_count\":7,\"total_"
         "reward\":1.0}"},
	{"POST", "reset_session", "{}", 200, "{\"message\":\"Session reset successfully\"}"},
	{"GET", "initial_state", "", 200, START},
	{"GET", "reward", "", 200, "{\"reward\":0.0,\"step_count\":0}"},
	{"POST", "reset_session", "", 500, "Internal Server Error"},
	{"POST", "reset_session", "[]", 500, "Internal Server Error"},
	{"POST", "reset_session", "{\"seed\":-1}", 500, "Internal Server Error"},
	{"POST", "reset_session", "{\"seed\":\"7\"}", 500, "Internal Server Error"},
	{"POST", "status", "", 405, "Method Not Allowed"},
	{"GET", "reset_session", "", 405, "Method Not Allowed"},
	{"GET", "nope", "", 404, "Not Found"},
};

static void check_sequence(const struct server *s)
{
	struct got opened, g;

	open_session(s, "{\"session_id\":\"lake \\\"A\\\"\",\"seed\":42}", &opened);
	for (size_t i = 0; i < ARRAY_LEN(story); i++) {
		if (strcmp(story[i].method, "move") == 0) {
			move(s, opened.session, story[i].what, &g);
			is_int(position_in(&g), story[i].status ? (int)story[i].status : -1,
			       "%zu: move %s", i, story[i].what);
			continue;
		}
		control(s, story[i].method, story[i].what, "lake \"A\"", story[i].body, &g);
		is_int(g.status, story[i].status, "%zu: %s %s", i, story[i].method, story[i].what);
		is_str(g.body, story[i].wants, "%zu: its body", i);
	}
}

static void check_no_id(const struct server *s)
{
	static const char *const names[] = {"initial_state", "reward", "status", "info"};
	struct got g;
	char path[64];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "/control/%s", names[i]);
		ask(s, "GET", path, "", "", &g);
		is_int(g.status, 400, "%s without an id", path);
		is_str(g.body, "{\"error\":\"Missing mcp-session-id header\"}", "and why");
	}
	ask(s, "POST", "/control/reset_session", "", "{}", &g);
	is_int(g.status, 400, "reset_session without an id: the mark of a server that has it");
}

/* The state of a new session with that seed. */
static void state_of(const struct server *s, const char *seed, struct got *g)
{
	struct got opened;

	open_session(s, "{\"session_id\":\"seeds\"}", &opened);
	control(s, "GET", "initial_state", "seeds", "", g);
	control(s, "POST", "reset_session", "seeds", seed, g);
	control(s, "GET", "initial_state", "seeds", "", g);
	end_session(s, opened.session, &opened);
}

static void check_seeds(void)
{
	static const char *const seeds[] = {"{\"seed\":0}", "{\"seed\":1}", "{\"seed\":42}",
	                                    "{\"seed\":123456789012}"};
	struct server *s = start_server("frozen_lake?map=random8x8");
	struct got a, b;
	char last[512] = "";

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		state_of(s, seeds[i], &a);
		state_of(s, seeds[i], &b);
		is_str(a.body, b.body, "%s draws the same lake twice", seeds[i]);
		ok(strcmp(a.body, last) != 0, "and differs from the previous one");
		snprintf(last, sizeof(last), "%.500s", a.body);
	}
	state_of(s, "{\"seed\":null}", &a);
	state_of(s, "{}", &b);
	ok(strcmp(a.body, b.body) != 0, "no seed: a new lake each time");
	server_stop(s);
}

/* Moves with one seed on the slippery lake. */
static void move_with_seed(const struct server *s, long positions[20])
{
	struct got opened, g;

	open_session(s, NULL, &opened);
	control(s, "GET", "initial_state", opened.session, "", &g);
	control(s, "POST", "reset_session", opened.session, "{\"seed\":7}", &g);
	for (int i = 0; i < 20; i++) {
		move(s, opened.session, "DOWN", &g);
		positions[i] = position_in(&g);
	}
	control(s, "GET", "info", opened.session, "", &g);
}

static void check_slips(void)
{
	struct server *s = start_server("frozen_lake?map=8x8&slippery=1");
	long first[20], second[20];
	bool slipped = false;

	move_with_seed(s, first);
	move_with_seed(s, second);
	ok(memcmp(first, second, sizeof(first)) == 0, "a seed slips the same way twice");
	for (int i = 0; i < 20; i++)
		slipped = slipped || first[i] % 8 != 0;
	ok(slipped, "and does slip");
	server_stop(s);
}

int main(void)
{
	struct server *s = start_server("frozen_lake");

	check_sequence(s);
	check_no_id(s);
	server_stop(s);
	check_seeds();
	check_slips();
	return done();
}
