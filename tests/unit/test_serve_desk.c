/* The desk: the replies of its tools byte for byte, what is visible in its state only,
   rewards, and that a seed determines everything but the clock. */
#include "serve_client.h"

#include "serve/world/desk.h"

/* ---- the desk itself ---- */

static const char *state_of(const struct desk *d)
{
	static struct buf text;

	text.max = BUF_MAX_SMALL;
	buf_clear(&text);
	desk_state(d, &text);
	return buf_cstr(&text);
}

static void check_seeds(void)
{
	char first[4096];
	int different = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct desk a = {0}, b = {0}, other = {0};

		desk_init(&a, seed, 5);
		desk_init(&b, seed, 5);
		desk_init(&other, seed + 1, 5);
		snprintf(first, sizeof(first), "%s", state_of(&a));
		is_str(state_of(&b), first, "seed %d: one desk", (int)seed);
		different += strcmp(state_of(&other), first) != 0;
		int wanted = 0;

		for (size_t i = 0; i < a.count; i++) {
			wanted += a.items[i].wanted;
			if (a.items[i].drawer == DRAWER_ARCHIVE)
				ok(0, "seed %d: the archive is empty at first", (int)seed);
		}
		is_int(wanted, DESK_WANTED, "seed %d: three different wanted items", (int)seed);
		desk_release(&a);
		desk_release(&b);
		desk_release(&other);
	}
	is_int(different, 50, "a different seed gives a different desk");
}

static void check_state(void)
{
	struct desk d = {0};

	desk_init(&d, 7, 5);
	is_str(state_of(&d),
	       "{\"clock\":5,\"drawers\":{\"inbox\":{\"ledger\":{\"value\":"
	       "9007199254740993132,\"stamps\":0},\"memo\":{\"value\":\"nul \\u0000, tab "
	       "\\t, 77\",\"stamps\":0},\"mass\":{\"value\":[1E400,-0,89.0e-3,null],"
	       "\"stamps\":0}},\"shelf\":{\"tide\":{\"value\":-0.7700,\"stamps\":0},"
	       "\"\xcf\x80\":{\"value\":3.1415926535897932384626433832795028811,"
	       "\"stamps\":0},\"caf\\u00e9\":{\"value\":{\"open\":true,\"tables\":198},"
	       "\"stamps\":0},\"cafe\xcc\x81\":{\"value\":\"op\\u0065n, \\/47\","
	       "\"stamps\":0},\"\xf0\x9f\x97\x9d\":{\"value\":\"\\ud83d\\udd11 56\","
	       "\"stamps\":0}},\"archive\":{}},\"task\":{\"archive\":[\"caf\\u00e9\","
	       "\"\xf0\x9f\x97\x9d\",\"\xcf\x80\"],\"filed\":0}}",
	       "the desk of seed 7");
	ok(desk_find(&d, STR("\"caf\xc3\xa9\"")) == desk_find(&d, STR("\"caf\\u00e9\"")),
	   "a key is its text, however escaped");
	ok(desk_find(&d, STR("\"caf\xc3\xa9\"")) != desk_find(&d, STR("\"cafe\\u0301\"")),
	   "letters that look alike are different keys");
	ok(desk_find(&d, STR("\"\\ud83d\\udddd\"")) != NULL, "a pair of escapes is one");
	ok(!desk_find(&d, STR("\"\\ud83d\"")), "half of it is not valid");
	desk_release(&d);
}

static void check_room(void)
{
	static char big[DESK_ITEM_MAX + 1];
	struct desk d = {0};
	char key[32];

	desk_init(&d, 7, 0);
	memset(big, '1', sizeof(big));
	ok(desk_put(&d, STR("\"k\""), (struct str){big, DESK_ITEM_MAX - 3}),
	   "an item as large as can be");
	ok(!desk_put(&d, STR("\"k\""), (struct str){big, DESK_ITEM_MAX - 2}),
	   "one byte more is refused");
	for (size_t i = d.count; i < DESK_ITEMS_MAX; i++) {
		snprintf(key, sizeof(key), "\"%zu\"", i);
		if (!desk_put(&d, str_from(key), STR("null")))
			ok(0, "room for item %zu", i);
	}
	ok(!desk_put(&d, STR("\"more\""), STR("null")), "no room for more");
	ok(desk_put(&d, STR("\"k\""), STR(" [\n1 ,\r 2]")), "a new value needs none");
	struct str value = desk_find(&d, STR("\"k\""))->value;

	ok(str_is(value, " [1 , 2]"), "kept as spelled, but on one line");
	desk_release(&d);
}

/* ---- its tools ---- */

#define RESULT(json) "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":" json "}"
#define SAID(text)                                                                                 \
	RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":false}")
#define REFUSED(text)                                                                              \
	RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":true}")
#define MISSING "Field required"

/* A sequence of calls on the desk of seed 7; reward and steps are those of the control
   plane after the call. */
static const struct {
	const char *tool, *arguments, *wants;
	int reward, steps;
} story[] = {
	{"get_task", "{}",
         SAID("{\\\"archive\\\":[\\\"caf\\\\u00e9\\\",\\\"\xf0\x9f\x97\x9d"
              "\\\",\\\"\xcf\x80\\\"]}"),
         0, 1},
	{"list_items", "null",
         SAID("{\\\"inbox\\\":[\\\"ledger\\\",\\\"memo\\\",\\\"mass\\\"],\\\"shelf\\\":["
              "\\\"tide\\\",\\\"\xcf\x80\\\",\\\"caf\\\\u00e9\\\",\\\"cafe\xcc\x81\\\","
              "\\\"\xf0\x9f\x97\x9d\\\"],\\\"archive\\\":[]}"),
         0, 2},
	{"get_item", "{\"key\":\"memo\"}",
         SAID("{\\\"key\\\":\\\"memo\\\",\\\"drawer\\\":\\\"inbox\\\",\\\"value\\\":"
              "\\\"nul \\\\u0000, tab \\\\t, 77\\\"}"),
         0, 3},
	{"search", "{\"text\":\"a\\u0066\"}",
         RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"2 of 8 items\"}],"
                "\"structuredContent\":{\"result\":[{\"key\":\"caf\\u00e9\",\"drawer\":"
                "\"shelf\",\"value\":{\"open\":true,\"tables\":198}},{\"key\":"
                "\"cafe\xcc\x81\",\"drawer\":\"shelf\",\"value\":\"op\\u0065n, "
                "\\/47\"}]},\"isError\":false}"),
         0, 4},
	{"search", "{\"text\":\"zzz\"}",
         RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"0 of 8 items\"}],"
                "\"structuredContent\":{\"result\":[]},\"isError\":false}"),
         0, 5},
	{"get_item", "{}",
         REFUSED("Error executing tool get_item: 1 validation error for "
                 "get_itemArguments\\nkey\\n  " MISSING),
         0, 5},
	{"move_item", "{}",
         REFUSED("Error executing tool move_item: 2 validation errors for "
                 "move_itemArguments\\nkey\\n  " MISSING "\\ndrawer\\n  " MISSING),
         0, 5},
	{"put_item", "{\"key\":7,\"value\":null}",
         REFUSED("Error executing tool put_item: 1 validation error for "
                 "put_itemArguments\\nkey\\n  Input should be a valid string"),
         0, 5},
	{"get_item", "{\"key\":\"Ledger\"}",
         REFUSED("Error executing tool get_item: No item 'Ledger' on the desk"), 0, 5},
	{"move_item", "{\"key\":\"ledger\",\"drawer\":\"attic\"}",
         REFUSED("Error executing tool move_item: No drawer 'attic'. Drawers: "
                 "['inbox', 'shelf', 'archive']"),
         0, 5},
	{"lake_move", "{\"action\":\"UP\"}", REFUSED("Unknown tool: lake_move"), 0, 5},
	{"put_item", "{\"key\":\"new\",\"value\":-1.50E+0400}",
         SAID("{\\\"key\\\":\\\"new\\\",\\\"drawer\\\":\\\"inbox\\\",\\\"value\\\":-1."
              "50E+"
              "0400}"),
         0, 6},
	{"put_item", "{\"key\":\"n\\u0065w\",\"value\":\"\\ud800\"}",
         SAID("{\\\"key\\\":\\\"new\\\",\\\"drawer\\\":\\\"inbox\\\",\\\"value\\\":"
              "\\\"\\\\ud800\\\"}"),
         0, 7},
	{"stamp_item", "{\"key\":\"new\"}", SAID("Done."), 0, 8},
	{"stamp_item", "{\"key\":\"new\"}", SAID("Done."), 0, 9},
	{"delete_item", "{\"key\":\"tide\"}", SAID("Gone."), 0, 10},
	{"delete_item", "{\"key\":\"tide\"}",
         REFUSED("Error executing tool delete_item: No item 'tide' on the desk"), 0, 10},
	{"move_item", "{\"key\":\"memo\",\"drawer\":\"archive\"}",
         SAID("{\\\"key\\\":\\\"memo\\\",\\\"drawer\\\":\\\"archive\\\",\\\"value\\\":"
              "\\\"nul \\\\u0000, tab \\\\t, 77\\\"}"),
         0, 11},
	{"move_item", "{\"key\":\"\xcf\x80\",\"drawer\":\"archive\"}", NULL, 1, 12},
	{"move_item", "{\"key\":\"\xcf\x80\",\"drawer\":\"shelf\"}", NULL, 0, 13},
	{"move_item", "{\"key\":\"\xcf\x80\",\"drawer\":\"archive\"}", NULL, 0, 14},
	{"move_item", "{\"key\":\"caf\xc3\xa9\",\"drawer\":\"archive\"}", NULL, 1, 15},
	{"move_item", "{\"key\":\"\xf0\x9f\x97\x9d\",\"drawer\":\"archive\"}", NULL, 1, 16},
};

static void seeded(const struct server *s, const char *id, struct got *opened)
{
	struct got g;
	char extra[64];

	snprintf(extra, sizeof(extra), "{\"session_id\":\"%s\"}", id);
	open_session(s, extra, opened);
	control(s, "GET", "initial_state", id, "", &g);
	control(s, "POST", "reset_session", id, "{\"seed\":7}", &g);
}

static void check_sequence(const struct server *s)
{
	struct got opened, g;
	char wants[128];

	seeded(s, "story", &opened);
	for (size_t i = 0; i < ARRAY_LEN(story); i++) {
		call_tool(s, opened.session, story[i].tool, story[i].arguments, &g);
		if (story[i].wants) {
			is_str(message_of(&g), story[i].wants, "%zu: %s %s", i, story[i].tool,
			       story[i].arguments);
		}
		control(s, "GET", "reward", "story", "", &g);
		snprintf(wants, sizeof(wants), "{\"reward\":%d,\"step_count\":%d}", story[i].reward,
		         story[i].steps);
		is_str(g.body, wants, "%zu: its reward", i);
		control(s, "GET", "status", "story", "", &g);
		is_int(strstr(g.body, "\"terminated\":true") != NULL, i + 1 == ARRAY_LEN(story),
		       "%zu: over or not", i);
	}
	ok(strstr(g.body, "\"total_reward\":3.0") != NULL, "three in all");
	control(s, "GET", "info", "story", "", &g);
	is_str(g.body, "{\"filed\":3}", "and three filed");
	control(s, "GET", "initial_state", "story", "", &g);
	ok(strstr(g.body, "\"new\":{\"value\":\"\\ud800\",\"stamps\":2}") != NULL,
	   "the stamps are in the state");
	ok(!strstr(g.body, "\"tide\""), "and the deleted item is not in it");
	end_session(s, opened.session, &g);
}

static void check_loss(const struct server *s)
{
	struct got opened, g;

	seeded(s, "loss", &opened);
	call_tool(s, opened.session, "delete_item", "{\"key\":\"\xcf\x80\"}", &g);
	control(s, "GET", "status", "loss", "", &g);
	is_str(g.body,
	       "{\"terminated\":true,\"truncated\":false,\"step_count\":1,"
	       "\"total_reward\":0.0}",
	       "a wanted item is deleted: the episode ends without a reward");
	end_session(s, opened.session, &g);
}

/* The clock's value, and the state without it. */
static uint64_t clock_of(const struct server *s, const char *id, char rest[8192])
{
	struct got g;
	char *after;

	control(s, "GET", "initial_state", id, "", &g);
	if (strncmp(g.body, "{\"clock\":", 9) != 0)
		return 0;
	uint64_t clock = strtoull(g.body + 9, &after, 10);

	snprintf(rest, 8192, "%s", after);
	return clock;
}

static void check_clock(const struct server *s)
{
	struct got opened, g;
	char before[8192] = "", after[8192] = "";

	seeded(s, "clock", &opened);
	uint64_t at = clock_of(s, "clock", before);

	ok(at > UINT64_C(1000000000000), "the clock begins at the time of day");
	is_int(clock_of(s, "clock", after) - at, 0, "reading does not change it");
	call_tool(s, opened.session, "list_items", "{}", &g);
	is_int(clock_of(s, "clock", after) - at, 1, "reading does");
	is_str(after, before, "and nothing changed");
	call_tool(s, opened.session, "get_item", "{}", &g);
	is_int(clock_of(s, "clock", after) - at, 2, "so does a refusal");
	is_str(after, before, "and nothing changed");
	call_tool(s, opened.session, "put_item", "{\"key\":\"tide\",\"value\":-0.7700}", &g);
	is_int(clock_of(s, "clock", after) - at, 3, "so does writing");
	is_str(after, before, "and nothing changed");
	call_tool(s, opened.session, "put_item", "{\"key\":\"tide\",\"value\":-0.77}", &g);
	(void)clock_of(s, "clock", after);
	ok(strcmp(after, before) != 0, "though a zero less is a change");
	end_session(s, opened.session, &g);
}

static void check_list(const struct server *s)
{
	struct got opened, g;
	size_t reading = 0, tools = 0;

	open_session(s, NULL, &opened);
	post_in(s, opened.session, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}", &g);
	for (const char *at = g.body; (at = strstr(at, "\"annotations\":")); at++) {
		tools++;
		reading += strncmp(at,
		                   "\"annotations\":{\"readOnlyHint\":true,"
		                   "\"idempotentHint\":true,",
		                   56) == 0;
	}
	is_int(tools, 8, "eight tools with annotations");
	is_int(reading, 4, "four of them only read");
	end_session(s, opened.session, &g);
}

/* Faults do not depend on the world. */
static void check_faults(void)
{
	struct server *s = start_server("desk?fault=capacity&fault=drop-iserror&max_envs=1");
	struct got a, b, g;

	open_session(s, "{\"session_id\":\"a\"}", &a);
	open_session(s, "{\"session_id\":\"b\"}", &b);
	call_tool(s, b.session, "list_items", "{}", &g);
	ok(strstr(g.body, "\\\"tool\\\": \\\"list_items\\\"") != NULL, "no room, for this tool");
	call_tool(s, a.session, "list_items", "{}", &g);
	call_tool(s, a.session, "get_item", "{\"key\":\"tide\"}", &g);
	is_str(message_of(&g), SAID("Error executing tool get_item: environment step failed"),
	       "every second call fails, whichever it is");
	server_stop(s);
}

int main(void)
{
	struct server *s = start_server("desk");

	check_seeds();
	check_state();
	check_room();
	check_sequence(s);
	check_loss(s);
	check_clock(s);
	check_list(s);
	server_stop(s);
	check_faults();
	return done();
}
