/* env/openenv against a scripted server: each request gets the next line of the script, and
   the adapter's result is checked. The script covers the defects of real servers: refusals
   after a successful handshake, replies to earlier requests, sessions that outlive their
   environment. */
#include "env/environments.h"
#include "env/openenv/openenv.h"
#include "tap.h"
#include "ws_server.h"

#define SCHEMA                                                                                     \
	"{\"action\":{\"title\":\"Move\",\"type\":\"object\",\"properties\":"                      \
	"{\"direction\":{\"type\":\"string\"}},\"required\":[\"direction\"]},"                     \
	"\"observation\":{},\"state\":{}}"
#define TOOL_SCHEMA "{\"action\":{\"title\":\"CallToolAction\"},\"observation\":{},\"state\":{}}"
#define STATE(n, where)                                                                            \
	"{\"type\":\"state\",\"data\":{\"episode_id\":\"e1\",\"step_count\":" #n                   \
	",\"position\":" #where "}}"
#define SEEN(body) "{\"type\":\"observation\",\"data\":" body "}"
#define TILE(where)                                                                                \
	SEEN("{\"observation\":{\"position\":" #where "},\"reward\":0.5,\"done\":"                 \
	     "false}")
#define ERROR(code, message)                                                                       \
	"{\"type\":\"error\",\"data\":{\"message\":\"" message "\",\"code\":\"" code "\"}}"
/* Open and reset, both successful. */
#define STARTED STATE(0, 0), TILE(0), STATE(0, 0)

/* Lines of a script that are not text frames. */
#define CLOSE  "close " /* + code and reason: a Close frame, and the end */
#define DROP   "drop"
#define SILENT "silent"
#define PAIR   "pair "  /* + two texts with '|' between: the second is unsolicited */
#define FLOOD  "flood " /* + a text, sent a hundred times */
#define BINARY "binary"

struct script {
	const char *name;
	const char *lines[12];
	const char *unasked;    /* sent right after the handshake, then Close 1000 */
	const char *schema;     /* NULL: SCHEMA */
	const char *reset_args; /* of the client; NULL: none */
	int status;             /* in place of the 101 for /ws */
	bool dies;              /* ends connection 1 after its second request */
};

struct server {
	const struct script *script;
	int listener;
	uint16_t port;
	pthread_t thread;
	struct buf heard;     /* the client's requests, one per line */
	pthread_mutex_t lock; /* of `received` */
};

static struct io *io;

static void answer_http(int fd, int status, const char *body, bool keep)
{
	struct buf reply = BUF(BUF_MAX_SMALL);

	buf_printf(&reply,
	           "HTTP/1.1 %d x\r\nContent-Type: application/json\r\n"
	           "%sContent-Length: %zu\r\n\r\n%s",
	           status, keep ? "" : "Connection: close\r\n", strlen(body), body);
	wss_write(fd, reply.p, reply.n);
	buf_release(&reply);
}

/* False: close the connection. */
static bool send_line(int fd, const char *line)
{
	if (!strncmp(line, CLOSE, 6)) {
		uint64_t code = 0;

		(void)!text_u64((struct str){line + 6, 4}, &code);
		wss_send_close(fd, (int)code, line[10] ? line + 11 : "");
		return false;
	}
	if (!strcmp(line, DROP))
		return false;
	if (!strncmp(line, PAIR, 5)) { /* in one write, so that the second one arrives in time */
		const char *bar = strchr(line, '|');
		struct buf both = BUF(BUF_MAX_SMALL);

		wss_frame(&both, 0x81, (struct str){line + 5, (size_t)(bar - line) - 5});
		wss_frame(&both, 0x81, str_from(bar + 1));
		wss_write(fd, both.p, both.n);
		buf_release(&both);
		return true;
	}
	if (!strncmp(line, FLOOD, 6)) {
		struct buf all = BUF(BUF_MAX_SMALL);

		for (int i = 0; i < 100; i++)
			wss_frame(&all, 0x81, str_from(line + 6));
		wss_write(fd, all.p, all.n);
		buf_release(&all);
		return true;
	}
	if (!strcmp(line, BINARY)) {
		wss_send(fd, 0x82, STR("{\"type\":\"observation\",\"data\":{}}"));
		return true;
	}
	if (strcmp(line, SILENT) != 0)
		wss_send(fd, 0x81, str_from(line));
	return true;
}

static void play(struct server *s, int fd, const char *request)
{
	const char *const *line = s->script->lines;
	struct buf reply = BUF(BUF_MAX_SMALL);
	struct wss_got f = {0};

	wss_reply(request, "", &reply);
	wss_write(fd, reply.p, reply.n);
	buf_release(&reply);
	if (s->script->unasked) {
		wss_send(fd, 0x81, str_from(s->script->unasked));
		wss_send_close(fd, 1000, "");
	}
	for (;;) {
		wss_next(fd, &f);
		if (f.first == 0x88)
			wss_send_close(fd, 1000, "");
		if (f.first != 0x81)
			break;
		/* the state is requested together with the step, and received concurrently
		   */
		pthread_mutex_lock(&s->lock);
		buf_str(&s->heard, buf_view(&f.payload));
		buf_char(&s->heard, '\n');
		pthread_mutex_unlock(&s->lock);
		bool bye = str_is(buf_view(&f.payload), "{\"type\":\"close\"}");
		if (bye || !*line || !send_line(fd, *line++))
			break;
	}
	buf_release(&f.payload);
}

static void *serve(void *arg)
{
	struct server *s = arg;
	const char *schema = s->script->schema ? s->script->schema : SCHEMA;
	char request[8192];
	bool dies = s->script->dies;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
		if (!wss_request(fd, request, sizeof(request))) {
			close(fd);
			continue;
		}
		if (!strncmp(request, "GET /schema ", 12)) {
			answer_http(fd, 200, schema, dies);
			if (dies) {
				wss_request(fd, request, sizeof(request));
				dies = false;
			}
		} else if (!strncmp(request, "GET /metadata ", 14)) {
			answer_http(fd, 200, "{\"name\":\"Lake\",\"version\":\"2\"}", false);
		} else if (strncmp(request, "GET /ws ", 8) != 0) {
			answer_http(fd, 404, "{}", false);
		} else if (s->script->status) {
			answer_http(fd, s->script->status, "{}", false);
		} else {
			play(s, fd, request);
		}
		close(fd);
	}
	return NULL;
}

/* The adapter of one rollout on one server. */
struct run {
	struct server server;
	struct env_conf conf;
	char url[64];
	struct env *env;
	struct env_reply reply;
	struct str state;
	int rc;
	struct error err;
};

static void run_open(struct run *r, const struct script *script)
{
	*r = (struct run){.server = {.script = script, .heard = BUF(BUF_MAX_SMALL)}};
	pthread_mutex_init(&r->server.lock, NULL);
	r->server.listener = loopback_listen(&r->server.port);
	if (pthread_create(&r->server.thread, NULL, serve, &r->server) != 0)
		abort();
	snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d/", r->server.port);
	r->conf = (struct env_conf){.url = r->url,
	                            .timeout_ms = 500,
	                            .state_spec = STR_INIT("auto"),
	                            .has_seed = true,
	                            .seed = 7,
	                            .reset_args = script->reset_args ? str_from(script->reset_args)
	                                                             : STR_NONE,
	                            .env_session = "e1",
	                            .version = "0"};
	const struct env_ops *ops = env_find(&r->conf, io, &r->err);
	if (!ops || strcmp(ops->name, "openenv") != 0)
		abort();
	r->rc = env_open(ops, &r->conf, io, &r->env, &r->reply, &r->err);
}

static void run_started(struct run *r, const struct script *script)
{
	run_open(r, script);
	if (r->rc || r->reply.outcome != OUTCOME_OK || env_reset(r->env, &r->reply, &r->err) ||
	    r->reply.outcome != OUTCOME_OK) {
		printf("# %s: not started: %s\n", script->name, r->err.text);
	}
}

static void run_step(struct run *r, const char *tool, const char *arguments)
{
	r->rc = env_step(r->env, str_from(tool), str_from(arguments), &r->reply, &r->err);
}

static int run_state(struct run *r)
{
	return r->env->ops->state(r->env, &r->state, &r->err);
}

static void run_close(struct run *r)
{
	if (r->env)
		r->env->ops->close(r->env);
	shutdown(r->server.listener, SHUT_RDWR);
	pthread_join(r->server.thread, NULL);
	close(r->server.listener);
	pthread_mutex_destroy(&r->server.lock);
	buf_release(&r->server.heard);
}

static bool has_event(struct run *r, enum event_kind kind)
{
	struct event e;
	bool found = false;

	while (events_take(&r->env->events, &e))
		found = found || e.kind == kind;
	return found;
}

static bool heard(struct run *r, const char *line)
{
	pthread_mutex_lock(&r->server.lock);
	bool found = strstr(buf_cstr(&r->server.heard), line) != NULL;
	pthread_mutex_unlock(&r->server.lock);
	return found;
}

/* ---- a healthy session ---- */

static void test_healthy(void)
{
	static const struct script script = {
		.name = "healthy",
		.lines = {STARTED, TILE(4), STATE(1, 4),
	                  SEEN("{\"observation\":{\"position\":5},\"reward\":true,"
	                       "\"done\":true}"),
	                  STATE(2, 5)}};
	struct run r;

	run_started(&r, &script);
	const struct env_facts *f = &r.env->facts;
	is_str(f->protocol, "openenv", "protocol");
	ok(str_is(f->name, "Lake") && str_is(f->version, "2"), "name and version");
	is_int(f->state_kind, STATE_OPENENV, "state source");
	ok(str_is(f->state_ignore, "[\"/step_count\",\"/episode_id\"]"), "bookkeeping");
	ok(strstr(f->tools.p, "\"name\":\"step\"") && strstr(f->tools.p, "direction"),
	   "one tool, step, with the action's schema");
	ok(run_state(&r) == 0 && strstr(r.state.p, "\"position\":0"), "first state");
	run_step(&r, "step", "{\"direction\":\"DOWN\"}");
	is_int(r.reply.outcome, OUTCOME_OK, "step: ok");
	ok(str_is(r.reply.observation, "{\"position\":4}"), "step: observation");
	ok(str_is(r.reply.reward, "0.5") && r.reply.terminated == 0 && r.reply.truncated == -1 &&
	           r.reply.env_steps == 1,
	   "step: reward, ends, count");
	ok(run_state(&r) == 0 && strstr(r.state.p, "\"position\":4"), "next state");
	run_step(&r, "step", "{\"direction\":\"RIGHT\"}");
	ok(str_is(r.reply.reward, "1") && r.reply.terminated == 1,
	   "a reward of true is 1, and done is the end");
	ok(heard(&r, "{\"type\":\"reset\",\"data\":{\"seed\":7,\"episode_id\":\"e1\"}}\n"),
	   "reset with seed and episode id");
	ok(heard(&r, "{\"type\":\"step\",\"data\":{\"direction\":\"DOWN\"}}\n"),
	   "the action itself");
	ok(!has_event(&r, EVENT_EPISODE_CHANGED), "no events");
	run_close(&r);
}

static void test_reset_arguments(void)
{
	static const struct script given = {.name = "arguments of the reset",
	                                    .lines = {STARTED},
	                                    .reset_args = "{\"task_id\":1.0,\"k\\n\":[]}"};
	static const struct script ours = {.name = "seed and episode of the user",
	                                   .lines = {STARTED},
	                                   .reset_args = "{\"episode_id\":\"x\",\"seed\":1}"};
	struct run r;

	run_started(&r, &given);
	ok(heard(&r, "\"data\":{\"task_id\":1.0,\"k\\n\":[],\"seed\":7,\"episode_id\":\"e1\"}}\n"),
	   "before seed and episode id");
	run_close(&r);
	run_started(&r, &ours);
	ok(heard(&r, "\"data\":{\"episode_id\":\"x\",\"seed\":1}}\n"), "or instead of them");
	run_close(&r);
}

/* ---- answers that are failures ---- */

static const struct {
	struct script script;
	enum outcome outcome;
	enum error_class class;
	enum error_layer layer;
	const char *message;
	bool lives;
} failures[] = {
	{{.name = "raised", .lines = {STARTED, ERROR("EXECUTION_ERROR", "no way"), STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_FRAMEWORK,
         "no way",
         true},
	{{.name = "raised without a word",
          .lines = {STARTED, ERROR("EXECUTION_ERROR", ""), STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_FRAMEWORK,
         "",
         true},
	{{.name = "bad action",
          .lines = {STARTED,
                    "{\"type\":\"error\",\"data\":{\"message\":\"Invalid "
                    "message\",\"code\":\"VALIDATION_ERROR\",\"errors\":[{"
                    "\"loc\":[\"direction\",0],\"msg\":\"Field required\"}]}}",
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ARGUMENTS,
         LAYER_FRAMEWORK,
         "Invalid message: direction: 0: Field required",
         true},
	{{.name = "refused in words, and not counted",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"position\":0,\"said\":\"Error: no "
                         "steps today\"},\"reward\":0,\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_TEXT,
         "no steps today",
         true},
	{{.name = "unknown type", .lines = {STARTED, ERROR("UNKNOWN_TYPE", "x"), STATE(0, 0)}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_FRAMEWORK,
         "x",
         true},
	{{.name = "bad JSON", .lines = {STARTED, ERROR("INVALID_JSON", "x"), STATE(0, 0)}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_FRAMEWORK,
         "x",
         true},
	{{.name = "session error", .lines = {STARTED, ERROR("SESSION_ERROR", "'text'")}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_FRAMEWORK,
         "'text'",
         false},
	{{.name = "zombie",
          .lines = {STARTED, ERROR("EXECUTION_ERROR", "The environment is closed"), STATE(0, 0)}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_FRAMEWORK,
         "The environment is closed",
         true},
	{{.name = "1000", .lines = {STARTED, CLOSE "1000"}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_WEBSOCKET,
         "1000",
         false},
	{{.name = "1009", .lines = {STARTED, CLOSE "1009 message too big"}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_WEBSOCKET,
         "1009 message too big",
         false},
	{{.name = "1011", .lines = {STARTED, CLOSE "1011 keepalive ping timeout"}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_WEBSOCKET,
         "1011 keepalive ping timeout",
         false},
	{{.name = "1012", .lines = {STARTED, CLOSE "1012"}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_WEBSOCKET,
         "1012",
         false},
	{{.name = "dropped", .lines = {STARTED, DROP}},
         OUTCOME_TRANSPORT_ERROR,
         CLASS_TRANSPORT,
         LAYER_TRANSPORT,
         "closed the connection",
         false},
	{{.name = "too late", .lines = {STARTED, SILENT, SILENT}},
         OUTCOME_TIMEOUT,
         CLASS_TIMEOUT,
         LAYER_TRANSPORT,
         "did not reply in time",
         false},
	{{.name = "an earlier question's answer", .lines = {STARTED, STATE(0, 0)}},
         OUTCOME_SESSION_LOST,
         CLASS_PROTOCOL,
         LAYER_FRAMEWORK,
         "type does not match",
         false},
	{{.name = "no JSON", .lines = {STARTED, "Internal Server Error"}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_BODY,
         "not an OpenEnv JSON message",
         false},
	{{.name = "no object", .lines = {STARTED, "[1,2]"}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_BODY,
         "not an OpenEnv JSON message",
         false},
	{{.name = "binary", .lines = {STARTED, BINARY}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_BODY,
         "not an OpenEnv JSON message",
         false},
	{{.name = "1001", .lines = {STARTED, CLOSE "1001 going away"}},
         OUTCOME_SESSION_LOST,
         CLASS_SESSION,
         LAYER_WEBSOCKET,
         "1001 going away",
         false},
	{{.name = "more than anybody asked for",
          .lines = {STATE(0, 0), TILE(0), FLOOD STATE(0, 0)}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_WEBSOCKET,
         "unsolicited messages",
         false},
	{{.name = "no observation", .lines = {STARTED, SEEN("{\"reward\":1}"), STATE(0, 0)}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_BODY,
         "no observation",
         true},
	{{.name = "an observation under a similar key",
          .lines = {STARTED, SEEN("{\"observations\":{\"at\":1},\"reward\":1}"), STATE(0, 0)}},
         OUTCOME_PROTOCOL_ERROR,
         CLASS_PROTOCOL,
         LAYER_BODY,
         "no observation; a similar key exists: observations",
         true},
	{{.name = "the framework's error",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"tool_name\":\"t\",\"result\":"
                         "null,\"error\":{\"error_type\":\"timeout\","
                         "\"message\":\"30 s\"}},\"reward\":null,"
                         "\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_TIMEOUT,
         LAYER_FRAMEWORK,
         "30 s",
         true},
	{{.name = "a tool's file not found is not an unknown tool",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"error\":{\"error_type\":"
                         "\"tool_not_found\",\"message\":\"file not "
                         "found\"}},\"reward\":null,\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_TOOL,
         LAYER_FRAMEWORK,
         "file not found",
         true},
	{{.name = "the tool's own error",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"result\":{\"content\":[{"
                         "\"type\":\"text\",\"text\":\"no such file\"}],"
                         "\"is_error\":true},\"error\":null},\"reward\":"
                         "null,\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_TOOL,
         LAYER_MCP,
         "no such file",
         true},
	{{.name = "an error in the tool's data",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"result\":{\"data\":{\"error\":"
                         "\"full\"},\"is_error\":false}},\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "full",
         true},
	{{.name = "an error field",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"error\":\"no such branch\"},"
                         "\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "no such branch",
         true},
	{{.name = "no success, and nothing else",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"success\":false,\"message\":\"no "
                         "backend\"},\"done\":false}"),
                    STATE(1, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "no backend",
         true},
	{{.name = "no success, and nothing has changed",
          .lines = {STARTED, SEEN("{\"observation\":{\"position\":0,\"ok\":false},\"done\":false}"),
                    STATE(1, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "ok",
         true},
	{{.name = "a text that is an error",
          .lines = {STARTED, SEEN("{\"observation\":{\"text\":\"Error: engine refused\"}}"),
                    STATE(1, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_TEXT,
         "engine refused",
         true},
	{{.name = "a tool's text that is an error",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"result\":{\"content\":[{\"type\":\"text\","
                         "\"text\":\"Database error: locked\"}],\"is_error\":false}}}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_TEXT,
         "locked",
         true},
	{{.name = "an error in metadata inside",
          .lines = {STARTED,
                    SEEN("{\"observation\":{\"metadata\":{\"error\":\"what "
                         "action\"}},\"done\":false}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "what action",
         true},
	{{.name = "an error in metadata next to it",
          .lines = {STARTED,
                    SEEN("{\"observation\":{},\"done\":false,\"metadata\":{"
                         "\"error\":\"what action\"}}"),
                    STATE(0, 0)}},
         OUTCOME_TOOL_ERROR,
         CLASS_ENVIRONMENT,
         LAYER_BODY,
         "what action",
         true},
};

static void test_failures(void)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		const char *name = failures[i].script.name;
		struct run r;

		run_started(&r, &failures[i].script);
		run_step(&r, "step", "{\"direction\":\"DOWN\"}");
		is_int(r.rc, 0, "%s: data, not an error of ours", name);
		is_str(outcome_name(r.reply.outcome), outcome_name(failures[i].outcome),
		       "%s: outcome", name);
		is_str(error_class_name(r.reply.error.class), error_class_name(failures[i].class),
		       "%s: class", name);
		is_str(error_layer_name(r.reply.error.layer), error_layer_name(failures[i].layer),
		       "%s: layer", name);
		ok(r.reply.error.message.p && strstr(r.reply.error.message.p, failures[i].message),
		   "%s: %.*s", name, STR_ARG(r.reply.error.message));
		is_int(run_state(&r), failures[i].lives ? 0 : -1, "%s: %s", name,
		       failures[i].lives ? "the session is still open" : "the session has ended");
		run_close(&r);
	}
}

static void test_no_failures(void)
{
	static const char *const bodies[] = {
		"{\"observation\":{\"error\":\"None\"},\"done\":false}",
		"{\"observation\":{\"error\":{\"code\":0,\"message\":\"\"}},\"done\":false}",
		"{\"observation\":{\"position\":1,\"success\":false},\"done\":false}",
		"{\"observation\":{\"position\":0,\"metadata\":{\"success\":false}}}",
		"{\"observation\":{\"text\":\"Error Street number 1\"},\"done\":false}",
		"{\"observation\":{\"position\":0,\"said\":\"Error: counted\"}}",
		"{\"observation\":{\"last_action_error\":false},\"done\":false}",
		"{\"observation\":{\"error\":0.02,\"exit_code\":1},\"done\":false}",
		"{\"observation\":\"error\",\"done\":false}",
		"{\"observation\":{\"result\":{\"data\":\"error\",\"is_error\":false}}}",
		"{\"observation\":null,\"reward\":null,\"done\":false}",
		"{\"observation\":{\"stdout\":\"Error: 1\"},\"done\":false}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		char frame[300];

		snprintf(frame, sizeof(frame), "{\"type\":\"observation\",\"data\":%s}", bodies[i]);
		struct script script = {.name = "innocent", .lines = {STARTED, frame, STATE(1, 1)}};
		struct run r;
		run_started(&r, &script);
		run_step(&r, "step", "{\"direction\":\"DOWN\"}");
		is_int(r.reply.outcome, OUTCOME_OK, "no failure: %s", bodies[i]);
		run_close(&r);
	}
}

/* ---- sessions ---- */

static void test_refusals(void)
{
	static const struct {
		struct script script;
		enum outcome outcome;
		enum error_class class;
	} rows[] = {
		{{.name = "capacity, unasked",
	          .unasked = ERROR("CAPACITY_REACHED", "Server at capacity: 1/1")},
	         OUTCOME_CAPACITY,
	         CLASS_CAPACITY},
		{{.name = "capacity, asked", .lines = {ERROR("CAPACITY_REACHED", "full")}},
	         OUTCOME_CAPACITY,
	         CLASS_CAPACITY},
		{{.name = "constructor", .lines = {ERROR("FACTORY_ERROR", "x")}},
	         OUTCOME_TOOL_ERROR,
	         CLASS_ENVIRONMENT},
		{{.name = "closed at once", .lines = {CLOSE "1000"}},
	         OUTCOME_SESSION_LOST,
	         CLASS_SESSION},
		{{.name = "401", .status = 401}, OUTCOME_PROTOCOL_ERROR, CLASS_AUTH},
		{{.name = "502", .status = 502}, OUTCOME_PROTOCOL_ERROR, CLASS_PROTOCOL},
		{{.name = "503", .status = 503}, OUTCOME_CAPACITY, CLASS_CAPACITY},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r;

		run_open(&r, &rows[i].script);
		is_int(r.rc, 0, "%s: an answer", rows[i].script.name);
		is_str(outcome_name(r.reply.outcome), outcome_name(rows[i].outcome), "%s: outcome",
		       rows[i].script.name);
		is_str(error_class_name(r.reply.error.class), error_class_name(rows[i].class),
		       "%s: class", rows[i].script.name);
		run_close(&r);
	}
	static const struct script plain = {.name = "403", .status = 403};
	struct run r;
	run_open(&r, &plain);
	ok(r.rc == -1 && r.err.kind == FAIL_PROTOCOL &&
	           strstr(r.err.text, "a proxy in between does not forward WebSockets") &&
	           !strstr(r.err.text, "openenv-http"),
	   "the pages, and no WebSocket: %s", r.err.text);
	run_close(&r);
	static const struct script moved = {.name = "308", .status = 308};
	run_open(&r, &moved);
	ok(r.rc == -1 && r.err.kind == FAIL_PROTOCOL &&
	           strstr(r.err.text, "redirects of a WebSocket are not followed"),
	   "moved: %s", r.err.text);
	run_close(&r);
}

/* Which URLs are allowed, and their meaning: the base of the HTTP pages and the WebSocket's
   URL. */
static void test_urls(void)
{
	static const struct {
		const char *url, *base, *ws;
	} rows[] = {
		{"ws://h", "http://h", "ws://h/ws"},
		{"ws://h/", "http://h", "ws://h/ws"},
		{"ws://h:81/ws", "http://h:81", "ws://h:81/ws"},
		{"ws://h:81/ws/", "http://h:81", "ws://h:81/ws"},
		{"http://h/", "http://h", "ws://h/ws"},
		{"https://h/prefix", "https://h/prefix", "wss://h/prefix/ws"},
		{"wss://h/a/b/ws", "https://h/a/b", "wss://h/a/b/ws"},
		{"https://h/news", "https://h/news", "wss://h/news/ws"},
		{"ws://[::1]:8000", "http://[::1]:8000", "ws://[::1]:8000/ws"},
		{"ws://me:pw@h", "http://me:pw@h", "ws://me:pw@h/ws"},
		{"ws://h/ws?session_id=a-b", "http://h", "ws://h/ws?session_id=a-b"},
		{"http://h?x=/ws&y=1#z", "http://h", "ws://h/ws?x=/ws&y=1"},
		{"ws://h/p/?q", "http://h/p", "ws://h/p/ws?q"},
		{"ws://h/#z", "http://h", "ws://h/ws"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct env_conf conf = {.url = rows[i].url};
		struct event_queue none = {0};
		struct http_json http;
		struct openenv_wire w;

		http_json_init(&http, &conf, io, &none);
		openenv_wire_init(&w, &http);
		is_str(buf_cstr(&http.base), rows[i].base, "%s: pages", rows[i].url);
		is_str(buf_cstr(&w.url), rows[i].ws, "%s: session", rows[i].url);
		openenv_wire_release(&w);
		http_json_release(&http);
	}
}

static void test_late_reply(void)
{
	static const struct script script = {.name = "unasked",
	                                     .lines = {STATE(0, 0), TILE(0),
	                                               PAIR STATE(0, 0) "|" STATE(9, 9), TILE(4),
	                                               STATE(1, 4)}};
	struct run r;

	run_started(&r, &script);
	run_step(&r, "step", "{\"direction\":\"DOWN\"}");
	is_int(r.reply.outcome, OUTCOME_OK, "an unsolicited message is not the reply");
	is_int(r.reply.env_steps, 1, "nor is it the state");
	ok(has_event(&r, EVENT_LATE_REPLY), "and it is an event");
	run_close(&r);
}

static void test_repeated_get(void)
{
	static const struct script script = {.name = "dies", .lines = {STARTED}, .dies = true};
	struct run r;

	run_started(&r, &script);
	is_int(r.reply.outcome, OUTCOME_OK, "a page is requested again on a new connection");
	ok(has_event(&r, EVENT_RETRY), "and that is an event");
	run_close(&r);
}

static void test_ended_unasked(void)
{
	static const struct script script = {
		.name = "ended",
		.lines = {STATE(0, 0), TILE(0),
	                  PAIR STATE(0, 0) "|" ERROR("SESSION_ERROR", "evicted")}};
	struct run r;

	run_started(&r, &script);
	run_step(&r, "step", "{\"direction\":\"DOWN\"}");
	is_int(r.reply.outcome, OUTCOME_SESSION_LOST, "the session had ended before");
	ok(run_state(&r) == -1 && !strcmp(r.err.text, "the server closed the session"),
	   "and a further request fails: %s", r.err.text);
	run_close(&r);
}

static void test_swap(void)
{
	static const struct script script = {
		.name = "swap",
		.lines = {STARTED, TILE(4),
	                  "{\"type\":\"state\",\"data\":{\"episode_id\":null,"
	                  "\"step_count\":1,\"position\":4}}"}};
	struct run r;

	run_started(&r, &script);
	run_step(&r, "step", "{\"direction\":\"DOWN\"}");
	ok(has_event(&r, EVENT_EPISODE_CHANGED), "a new episode without a reset");
	run_close(&r);
}

static void test_bare_state(void)
{
#define BARE "{\"type\":\"state\",\"data\":{\"episode_id\":\"e1\",\"step_count\":0}}"
	static const struct script script = {.name = "bare", .lines = {BARE, TILE(3), BARE}};
	struct run r;
	run_started(&r, &script);
	is_int(r.env->facts.state_kind, STATE_OBSERVATION, "an uninformative state: observations");
	ok(run_state(&r) == 0 && str_is(r.state, "{\"position\":3}"), "the first one");
	ok(has_event(&r, EVENT_NOTIFICATION), "and that is reported");
	run_close(&r);
}

/* Metadata added by the first step is not a change. */
static void test_metadata_aside(void)
{
#define BARE_SEEN(body)                                                                            \
	{                                                                                          \
		.name = (body), .lines = { BARE, SEEN(body), BARE }                                \
	}
	static const struct {
		struct script script;
		const char *ignored;
	} rows[] = {
		{BARE_SEEN("{\"observation\":{\"metadata\":{},\"position\":0}}"),
	         "[\"/metadata\"]"},
		{BARE_SEEN("{\"observation\":{\"position\":0}}"), "[\"/metadata\"]"},
		{BARE_SEEN("{\"observation\":{\"metadata\":{\"a\":1}}}"), "[]"},
		{BARE_SEEN("{\"observation\":\"four\"}"), "[]"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct run r;

		run_started(&r, &rows[i].script);
		struct str ignored = r.env->facts.state_ignore;
		ok(str_is(ignored, rows[i].ignored), "%s: left out: %.*s", rows[i].script.name,
		   STR_ARG(ignored));
		run_close(&r);
	}
}

static void test_failed_state(void)
{
	static const struct script script = {
		.name = "no state",
		.lines = {STATE(0, 0), TILE(0), ERROR("EXECUTION_ERROR", "no state"), TILE(4),
	                  ERROR("EXECUTION_ERROR", "no state")}};
	struct run r;

	run_started(&r, &script);
	ok(run_state(&r) == 0 && !r.state.p, "a state that cannot be read is unknown");
	run_step(&r, "step", "{\"direction\":\"DOWN\"}");
	is_int(r.reply.outcome, OUTCOME_OK, "the step is unchanged");
	is_int(r.reply.env_steps, -1, "and not counted");
	ok(has_event(&r, EVENT_CONTROL_PLANE_FAILED), "and that is reported");
	run_close(&r);
}

static void test_tools(void)
{
	static const struct script listed = {
		.name = "tools/list",
		.schema = TOOL_SCHEMA,
		.lines = {STATE(0, 0),
	                  "{\"type\":\"mcp\",\"data\":{\"jsonrpc\":\"2.0\",\"id\":1,"
	                  "\"result\":{\"tools\":[{\"name\":\"add\",\"input_schema\":"
	                  "{\"type\":\"object\"}}]}}}",
	                  TILE(0), STATE(0, 0), TILE(1), STATE(1, 1)}};
	static const struct script older = {
		.name = "list_tools",
		.schema = TOOL_SCHEMA,
		.lines = {STATE(0, 0), ERROR("UNKNOWN_TYPE", "mcp"),
	                  SEEN("{\"observation\":{\"tools\":[{\"name\":\"add\"}]},"
	                       "\"reward\":null,\"done\":false}"),
	                  TILE(0), STATE(0, 0), TILE(1), STATE(1, 1)}};
	static const struct script *const scripts[] = {&listed, &older};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct run r;

		run_started(&r, scripts[i]);
		const struct env_facts *f = &r.env->facts;
		ok(f->tools.p && strstr(f->tools.p, "\"add\""), "%s", scripts[i]->name);
		run_step(&r, "add", "{\"by\":1}");
		ok(heard(&r, "{\"type\":\"step\",\"data\":{\"type\":\"call_tool\","
		             "\"tool_name\":\"add\",\"arguments\":{\"by\":1}}}\n"),
		   "%s: called", scripts[i]->name);
		run_close(&r);
	}
}

static void test_metadata(void)
{
	static const struct script script = {
		.name = "metadata",
		.lines = {STARTED,
	                  SEEN("{\"observation\":{\"a\":1},\"reward\":null,\"done\":"
	                       "false,\"metadata\":{\"tile\":\"F\"}}"),
	                  STATE(1, 1),
	                  SEEN("{\"observation\":{\"a\":1,\"metadata\":{\"tile\":"
	                       "\"F\"}},\"done\":false,\"metadata\":{\"tile\":"
	                       "\"F\"}}"),
	                  STATE(2, 1)}};
	struct run r;

	run_started(&r, &script);
	run_step(&r, "step", "{}");
	ok(str_is(r.reply.structured, "{\"metadata\":{\"tile\":\"F\"}}"),
	   "metadata next to the observation is kept");
	ok(!r.reply.reward.p, "reward null: no reward");
	run_step(&r, "step", "{}");
	ok(!r.reply.structured.p, "metadata in both places is kept once");
	run_close(&r);
}

int main(void)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct error err;

	if (io_global_init(&err) < 0 || io_new(&conf, &io, &err) < 0)
		abort();
	test_healthy();
	test_reset_arguments();
	test_failures();
	test_no_failures();
	test_refusals();
	test_urls();
	test_late_reply();
	test_repeated_get();
	test_ended_unasked();
	test_swap();
	test_bare_state();
	test_metadata_aside();
	test_failed_state();
	test_tools();
	test_metadata();
	io_free(io);
	io_global_cleanup();
	return done();
}
