/* Every property against a server with one defect: the verdict, the maximum of open
   sessions, and that all of them were closed. */
#include "env/failure.h"
#include "evidence/clocks.h"
#include "net/io.h"
#include "probe/probe.h"
#include "tap.h"

#include <stdlib.h>

#define SESSIONS 3
#define CAP      2

enum flaw {
	SHARED = 1,            /* one world for all sessions */
	STATELESS = 2,         /* each step in a new world */
	SEED_IGNORED = 4,      /* each episode starts in a different state */
	SEED_STARTS = 8,       /* the seed determines the start only */
	ONE_GENERATOR = 16,    /* all worlds draw from one generator, which each reset seeds */
	DETERMINISTIC = 32,    /* nothing is random */
	LEAK = 64,             /* slots are never released */
	DIRTY = 128,           /* a second reset has no effect */
	RESET_REFUSED = 256,   /* only the first call gets a reply */
	NO_STATE = 512,        /* the state source does not reply */
	RESTLESS = 1024,       /* the state changes without a call */
	OPEN_HANGS = 2048,     /* no reply beyond CAP sessions */
	QUEUES = 4096,         /* no reply beyond CAP sessions until another one ends */
	DIES = 8192,           /* at the CAP-th session the server exits */
	STEP_FAILS = 16384,    /* every call fails */
	STEP_HANGS = 32768,    /* no call gets a reply */
	STEP_FULL = 65536,     /* the session beyond CAP opens, but its call is refused */
	UNKNOWN_TOOL = 131072, /* the advertised tool does not exist */
	NO_TOOLS = 262144,
	NO_COUNT = 524288, /* steps are not counted */
	CHURN = 1 << 20,   /* the episode changes after two steps */
	LOST_SOURCE = 1 << 21,
	INTERRUPTED = 1 << 22, /* during the first call */
	NO_LIMIT = 1 << 23,
	PLAIN = 1 << 24, /* MCP: no reset, no seed, no state */
	NO_RESET = 1 << 25,
	RESET_FAILS = 1 << 26, /* every one */
	FROZEN = 1 << 27,      /* calls are counted and answered, but the state does not change */
	NOBODY = 1 << 28,
	ONCE_OVER = 1 << 29, /* the episode ends with its first step */
	BREAKS = 1 << 30,    /* the third call of an episode gets no reply */
};

struct world {
	int64_t value, steps;
	uint64_t state;
};

struct fake {
	struct env base;
	const struct env_conf *conf;
	struct world world;
	struct json_paths *none;
	char text[96], observation[96];
	int64_t view;
	int resets, place;
	bool said;
};

#define STOPS (UINT64_C(1) << 31) /* after two steps nothing changes */
/* the world refuses its fourth step, and a session shows the state that its own last call left */
#define OWN_VIEW (UINT64_C(1) << 32)
#define GONE     (UINT64_C(1) << 33) /* once sessions were closed nobody listens */

/* The server. One per test. */
static struct {
	uint64_t flaws;
	int open, most, taken, opened, closed, starts, looks;
	uint64_t generator;
	struct world shared;
} server;

static bool has(uint64_t flaw)
{
	return (server.flaws & flaw) != 0;
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static struct fake *fake_of(struct env *e)
{
	return (struct fake *)e;
}

static struct world *world_of(struct fake *f)
{
	return has(SHARED) ? &server.shared : &f->world;
}

static void begin(struct fake *f, struct world *w)
{
	uint64_t seed = f->conf->has_seed ? (uint64_t)f->conf->seed : 5;

	server.starts++;
	seed = has(SEED_IGNORED) ? (uint64_t)server.starts : seed;
	seed = has(DETERMINISTIC) ? 1 : seed;
	*w = (struct world){.state = seed};
	w->value = (int64_t)(draw(&w->state) % 1000000);
	if (has(SEED_STARTS))
		w->state = (uint64_t)server.starts;
	if (has(ONE_GENERATOR))
		server.generator = w->state;
}

static int refuse_open(struct env_reply *refusal, struct error *err)
{
	static const struct error refused = {FAIL_TRANSPORT, "connection refused"};

	if (has(NOBODY) || (has(DIES) && server.opened >= CAP))
		return error_set(err, FAIL_TRANSPORT, "nobody there");
	if (has(GONE) && server.closed >= CAP) {
		env_reply_from_error(&refused, refusal);
		return 0;
	}
	if (server.taken < CAP || has(NO_LIMIT | STEP_FULL))
		return 0;
	if (has(OPEN_HANGS) || (has(QUEUES) && server.taken >= CAP))
		return error_set(err, FAIL_TIMEOUT, "no answer");
	refusal->outcome = OUTCOME_CAPACITY;
	refusal->error = (struct env_error){.class = CLASS_CAPACITY,
	                                    .layer = LAYER_FRAMEWORK,
	                                    .code = STR("\"FULL\""),
	                                    .message = STR("full: 2/2")};
	return 0;
}

static const struct env_ops ops;

static int fake_open(const struct env_conf *conf, struct io *io, struct env **out,
                     struct env_reply *refusal, struct error *err)
{
	struct fake *f = calloc(1, sizeof(*f));

	(void)io;
	if (!f)
		abort();
	f->base.ops = &ops;
	f->conf = conf;
	*out = &f->base;
	server.open++;
	server.most = server.open > server.most ? server.open : server.most;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, .env_steps = -1};
	bool has_room = !refuse_open(refusal, err) && refusal->outcome == OUTCOME_OK;
	if (!has_room) {
		f->place = -1;
		return refusal->outcome == OUTCOME_OK ? -1 : 0;
	}
	server.opened++;
	f->place = ++server.taken;
	f->base.facts = (struct env_facts){
		.protocol = has(PLAIN) ? "mcp" : "openenv",
		.name = STR("fake"),
		.tools = has(NO_TOOLS) ? STR("[]")
	                               : STR("[{\"name\":\"act\",\"inputSchema\":{"
	                                     "\"type\":\"object\",\"required\":["
	                                     "\"by\"],\"properties\":{\"by\":"
	                                     "{\"enum\":[1,2,3]}}}}]"),
		.state_kind = has(PLAIN) ? STATE_NONE : STATE_OPENENV,
		.env_session = str_from(conf->env_session),
		.traits = {.takes_seed = !has(PLAIN),
	                   .starts_over = !has(PLAIN | NO_RESET),
	                   .has_episodes = !has(PLAIN),
	                   .names_sessions = has(PLAIN)}};
	return 0;
}

static int fake_reset(struct env *e, struct env_reply *out, struct error *err)
{
	struct fake *f = fake_of(e);

	(void)err;
	*out = (struct env_reply){
		.outcome = OUTCOME_OK, .terminated = -1, .truncated = -1, .env_steps = -1};
	if (has(RESET_FAILS) || (has(RESET_REFUSED) && f->resets > 0)) {
		out->outcome = OUTCOME_TOOL_ERROR;
		out->error = (struct env_error){.class = CLASS_ENVIRONMENT,
		                                .layer = LAYER_FRAMEWORK,
		                                .message = STR("no reset today")};
	} else if (!has(DIRTY) || f->resets == 0) {
		begin(f, world_of(f));
		f->view = world_of(f)->value;
	}
	f->resets++;
	return 0;
}

static int fake_state(struct env *e, struct str *out, struct error *err)
{
	struct fake *f = fake_of(e);
	struct world fresh = {.value = 1};
	struct world *w = has(STATELESS) ? &fresh : world_of(f);

	(void)err;
	server.looks++;
	snprintf(f->text, sizeof(f->text), "{\"value\":%" PRId64 ",\"looks\":%d}",
	         has(FROZEN)     ? 7
	         : has(OWN_VIEW) ? f->view
	                         : w->value,
	         has(RESTLESS) ? server.looks : 0);
	*out = has(NO_STATE | PLAIN | LOST_SOURCE) ? STR_NONE : str_from(f->text);
	return 0;
}

static void fail_step(struct env_reply *out, enum outcome outcome, enum error_class class,
                      enum error_layer layer)
{
	out->outcome = outcome;
	out->error =
		(struct env_error){.class = class, .layer = layer, .message = STR("it went wrong")};
}

static bool step_fails(struct fake *f, struct env_reply *out)
{
	if (has(BREAKS) && f->world.steps >= 2)
		fail_step(out, OUTCOME_TRANSPORT_ERROR, CLASS_TRANSPORT, LAYER_TRANSPORT);
	else if (has(STEP_FAILS) || (has(OWN_VIEW) && world_of(f)->steps >= 3))
		fail_step(out, OUTCOME_TOOL_ERROR, CLASS_ENVIRONMENT, LAYER_FRAMEWORK);
	else if (has(STEP_HANGS))
		fail_step(out, OUTCOME_TIMEOUT, CLASS_TIMEOUT, LAYER_TRANSPORT);
	else if (has(UNKNOWN_TOOL))
		fail_step(out, OUTCOME_TOOL_ERROR, CLASS_UNKNOWN_TOOL, LAYER_MCP);
	else if (has(STEP_FULL) && f->place > CAP)
		fail_step(out, OUTCOME_CAPACITY, CLASS_CAPACITY, LAYER_BODY);
	return out->outcome != OUTCOME_OK;
}

static void put_event(struct fake *f)
{
	bool now = !f->said && world_of(f)->steps >= 2 && has(CHURN | LOST_SOURCE);

	f->said |= now;
	if (now && has(CHURN)) {
		events_push(&f->base.events, EVENT_EPISODE_CHANGED,
		            STR("{\"what\":\"episode_id\",\"why\":\"\\\"other\\\"\"}"));
	} else if (now) {
		events_push(&f->base.events, EVENT_STATE_SOURCE_LOST, STR("{\"why\":\"x\"}"));
	}
}

static int fake_step(struct env *e, struct str name, struct str arguments, struct env_reply *out,
                     struct error *err)
{
	struct fake *f = fake_of(e);
	struct world fresh = {.value = 1};
	struct world *w = has(STATELESS) ? &fresh : world_of(f);
	int64_t by = 0;

	(void)name;
	json_i64(JSON_GET(arguments, "by"), &by);
	*out = (struct env_reply){.outcome = OUTCOME_OK,
	                          .terminated = has(ONCE_OVER),
	                          .truncated = -1,
	                          .env_steps = -1};
	if (has(INTERRUPTED)) {
		out->outcome = OUTCOME_NONE;
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	}
	if (step_fails(f, out))
		return 0;
	if (has(STOPS) && w->steps >= 2) {
		out->env_steps = w->steps;
		return 0;
	}
	w->steps++;
	w->value += 1000 * by +
	            (int64_t)(draw(has(ONE_GENERATOR) ? &server.generator : &w->state) % 1000);
	if (!has(NO_COUNT | LOST_SOURCE))
		out->env_steps = has(STATELESS) ? 1 : w->steps;
	f->view = w->value;
	put_event(f);
	snprintf(f->observation, sizeof(f->observation), "{\"value\":%" PRId64 "}", w->value);
	out->observation = str_from(f->observation);
	return 0;
}

static void fake_close(struct env *e)
{
	struct fake *f = fake_of(e);

	server.open--;
	server.closed++;
	server.taken -= f->place > 0 && !has(LEAK);
	events_release(&e->events);
	free(f);
}

static const struct env_ops ops = {.name = "openenv",
                                   .open = fake_open,
                                   .reset = fake_reset,
                                   .state = fake_state,
                                   .step = fake_step,
                                   .close = fake_close};

/* One letter per property, in the order of properties.def: capacity, tools, reset, state source,
   episode id, release, statefulness, history, isolation, seed, restart, contract, load, reward,
   latency. */
static const struct {
	const char *what;
	uint64_t flaws;
	const char *wanted;
} rows[] = {
	{"healthy, with room for two", 0, "ooooooooooouso"},
	{"healthy, without a limit", NO_LIMIT, "oooouoooooouso"},
	{"a world for all", SHARED, "ooooooofououso"},
	{"a world for all, shown to each as its calls left it", SHARED | OWN_VIEW,
         "ooooooofououso"},
	{"a world for all, and no state", SHARED | NO_STATE, "oouuooofouuuso"},
	{"calls draw, and no state", SEED_STARTS | NO_STATE, "oouuouuuuuuuso"},
	{"a fresh world, and no count", STATELESS | NO_COUNT, "ooufoffuuuouso"},
	{"a fresh world for each step", STATELESS, "ooufoufuuuouso"},
	{"seeds are ignored", SEED_IGNORED, "oouoouuofuuuso"},
	{"a seed determines only the start", SEED_STARTS, "ooooouuouoouso"},
	{"one generator for all", ONE_GENERATOR, "oooooooofoouso"},
	{"nothing is random", DETERMINISTIC, "oooooooouoouso"},
	{"room never comes back", LEAK, "oooofuuouuuuuo"},
	{"a reset that does nothing", DIRTY, "oofoooooooouso"},
	{"a second reset is refused", RESET_REFUSED, "oofooooooouuso"},
	{"no state", NO_STATE, "oouuoooooouuso"},
	{"a state that moves by itself", RESTLESS, "ooouoooouuuuso"},
	{"beyond its limit it hangs", OPEN_HANGS, "ooooooooooouso"},
	{"beyond its limit one waits", QUEUES, "ooooooooooouso"},
	{"it goes away", DIES, "oooouuuouuuuuo"},
	{"it goes away once sessions were closed", GONE, "oooouuuouuuuuo"},
	{"no call succeeds", STEP_FAILS, "oouuouuuououuo"},
	{"no call is answered", STEP_HANGS, "ofuuouuuououuo"},
	{"calls are refused for lack of room", STEP_FULL, "ooooooooooouso"},
	{"the tool is not there", UNKNOWN_TOOL, "ofuuouuuououuo"},
	{"no tools", NO_TOOLS, "ofuuouuuououuo"},
	{"steps are not counted", NO_COUNT, "ooooooooooouso"},
	{"neither counted nor shown", NO_COUNT | NO_STATE, "oouuoooooouuso"},
	{"a new episode in the midst", CHURN, "ooooofoouoouso"},
	{"somebody else's state", LOST_SOURCE, "ooufofoououuso"},
	{"plain MCP", PLAIN, "ousuouuusuuuso"},
	{"no reset within a session", NO_RESET, "oosooooooouuso"},
	{"no reset at all", RESET_FAILS, "fuuuuuuuuuuuuo"},
	{"a state that does not change", FROZEN, "ooufoooouuouso"},
	{"over after one step", ONCE_OVER, "ooooouuuooouso"},
	{"the third call breaks it", BREAKS, "ooooofuouoouso"},
	{"after two steps it no longer changes", STOPS, "ooooofoouoouso"},
};

static void take(void *ctx, const struct property *p)
{
	char *letters = ctx;
	size_t n = strlen(letters);

	letters[n] = "ofus"[p->status];
	letters[n + 1] = '\0';
}

static void no_title(void *ctx, const struct env_facts *f)
{
	(void)ctx;
	(void)f;
}

static int probe(struct io *io, uint64_t flaws, size_t sessions, char *letters,
                 struct probe_summary *summary, struct error *err)
{
	struct probe_conf conf = {.env = {.url = "fake",
	                                  .timeout_ms = 1000,
	                                  .state_spec = STR("auto"),
	                                  .version = "0"},
	                          .env_ops = &ops,
	                          .sessions = sessions,
	                          .need = sessions < CAP ? sessions : CAP,
	                          .settle_ms = 30,
	                          .io = io,
	                          .opened = no_title,
	                          .judged = take,
	                          .ctx = letters};

	memset(&server, 0, sizeof(server));
	server.flaws = flaws;
	letters[0] = '\0';
	int failed = probe_run(&conf, summary, err);
	buf_release(&summary->fit_why);
	return failed;
}

static void test_flaws(struct io *io)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct probe_summary summary;
		struct error err = {0};
		char letters[PROPERTY_STATUSES + 32];

		is_int(probe(io, rows[i].flaws, SESSIONS, letters, &summary, &err), 0, "%s: judged",
		       rows[i].what);
		is_str(letters, rows[i].wanted, "%s: the properties", rows[i].what);
		ok(server.most <= SESSIONS, "%s: never more than %d at a time", rows[i].what,
		   SESSIONS);
		is_int(server.open, 0, "%s: no session is left open", rows[i].what);
		is_int(summary.lost.kind == FAIL_TRANSPORT, (rows[i].flaws & DIES) != 0,
		       "%s: lost or not", rows[i].what);
	}
}

static void test_one_session(struct io *io)
{
	struct probe_summary summary;
	struct error err = {0};
	char letters[PROPERTY_STATUSES + 32];

	is_int(probe(io, 0, 1, letters, &summary, &err), 0, "one session: judged");
	is_str(letters, "oooouoosooouso", "one session: isolation is skipped");
	is_int(server.most, 1, "one session at a time");
	is_int(summary.capacity, 1, "one had room");
}

static void test_ends(struct io *io)
{
	struct probe_summary summary;
	struct error err = {0};
	char letters[PROPERTY_STATUSES + 32];

	is_int(probe(io, NOBODY, SESSIONS, letters, &summary, &err), -1, "unreachable");
	is_int(err.kind, FAIL_TRANSPORT, "which is a matter of the transport");
	is_str(letters, "", "and no property is judged");
	is_int(server.open, 0, "nor left open");
	is_int(probe(io, INTERRUPTED, SESSIONS, letters, &summary, &err), -1, "an interrupt");
	is_int(err.kind, FAIL_INTERRUPTED, "is not a fact about the server");
	is_int(server.open, 0, "all sessions are closed nevertheless");
	is_int(server.opened, CAP, "though two were open");
}

static void test_clocks(void)
{
	static const struct {
		const char *text, *masked;
	} texts[] = {
		{"{\"clock\":1795276290041,\"n\":12}", "{\"clock\":#,\"n\":12}"},
		{"[1763690591,1763690591.25,1763690591123456,1763690591123456789]", "[#,#,#,#]"},
		{"17636905911 176369059 1463690591 2263690591",
	         "17636905911 176369059 1463690591 2263690591"},
		{"0.1763690591 a1763690591", "0.1763690591 a1763690591"},
		{"at 2026-11-21T15:47:19.123Z and 2026-11-21 15:47, on 2026-11-21",
	         "at #Z and #, on 2026-11-21"},
		{"\"6e7d7b09f960c7a5255928194f3f4f7b\" 6e7d7b09f960c7a5255928194f3f4f7bf",
	         "\"6e7d7b09f960c7a5255928194f3f4f7b\" 6e7d7b09f960c7a5255928194f3f4f7bf"},
		{"id 9B1DEB4D-3B7D-4BAD-9BDD-2B0D7B3DCB6D.", "id #."},
		{"1763690591.", "#."},
		{"2026-11-21T15:4", "2026-11-21T15:4"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct buf out = BUF(BUF_MAX_SMALL);

		clocks_mask(str_from(texts[i].text), &out);
		is_str(buf_cstr(&out), texts[i].masked, "clocks in: %s", texts[i].text);
		buf_release(&out);
	}
}

int main(void)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct error err = {0};
	struct io *io = NULL;

	if (io_global_init(&err) || io_new(&conf, &io, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		return 1;
	}
	test_flaws(io);
	test_one_session(io);
	test_ends(io);
	test_clocks();
	io_free(io);
	io_global_cleanup();
	return done();
}
