/* A tool server of verifiers v1 as an environment. A session starts the server, as the framework
   does for a rollout, and has the state that its channel carries: exact, before and after each call. The tools are called
   by the MCP adapter. */
#include "base/mem.h"
#include "base/text.h"
#include "env/env.h"
#include "env/ignore_paths.h"
#include "env/reading.h"
#include "env/state_source.h"
#include "json/write.h"
#include "net/child.h"
#include "net/listen.h"
#include "recording/words.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define PAUSE_MS    20 /* between looks whether the server has started */
#define TRY_MS      2000
#define PORT_DIGITS 8
#define TASK_CLASS  "verifiers.v1.task:TaskData"

/* HTTP on loopback, where the server gets the state before a call and puts it after one that has
   changed it. It asks within a call, for which we wait, and is answered by a thread. */
struct channel {
	const char *secret; /* borrowed: the bearer token */
	struct MHD_Daemon *daemon;
	uint16_t port;
	pthread_mutex_t lock; /* of the rest */
	struct buf task;      /* the body of GET /task */
	struct buf state;     /* what was put last, or the initial state */
	bool is_json;         /* the state is: NaN, which verifiers allows, is not */
	uint64_t gets;
};

struct env_verifiers {
	struct env base;
	const struct env_conf *conf;
	struct env_conf mcp_conf;
	struct io *io;
	struct env *mcp; /* NULL: not started */
	struct child *child;
	struct channel channel;
	struct ignore_paths ignored;
	struct buf url, state;
	bool own_state;       /* the channel's, not one that the user has named */
	bool unused;          /* a call was answered without the channel */
	bool noted;           /* why the state is not known, or not used */
	struct buf port_file; /* a path; empty: none was made, or it is gone */
};

extern const struct env_ops env_mcp, env_verifiers;

static struct env_verifiers *verifiers_of(struct env *base)
{
	return (struct env_verifiers *)base;
}

/* ---- the state channel ---- */

static void set_state(struct channel *c, struct str state)
{
	buf_set(&c->state, state);
	c->is_json = !c->state.full && json_is_valid(state);
}

/* False: it is not JSON. */
static bool copy_state(struct channel *c, struct buf *out)
{
	pthread_mutex_lock(&c->lock);
	buf_set(out, buf_view(&c->state));
	bool is_json = c->is_json;
	pthread_mutex_unlock(&c->lock);
	return is_json;
}

static uint64_t count_gets(struct channel *c)
{
	pthread_mutex_lock(&c->lock);
	uint64_t gets = c->gets;
	pthread_mutex_unlock(&c->lock);
	return gets;
}

/* Appends the body of the reply, and returns its status. */
static unsigned answer(struct channel *c, const char *method, const char *url,
                       const struct buf *body, struct buf *out)
{
	bool get = !strcmp(method, "GET"), put = !strcmp(method, "PUT");
	bool state = !strcmp(url, "/state");

	if (get && (state || !strcmp(url, "/task"))) {
		c->gets += state;
		buf_str(out, buf_view(state ? &c->state : &c->task));
		return MHD_HTTP_OK;
	}
	buf_text(out, "{}");
	if (!put || !state)
		return MHD_HTTP_NOT_FOUND;
	if (body->full)
		return MHD_HTTP_CONTENT_TOO_LARGE;
	set_state(c, buf_view(body));
	return MHD_HTTP_OK;
}

/* Called with the head of a request, with each piece of its body, and at its end.
   NOLINTNEXTLINE(readability-function-size): libmicrohttpd requires eight parameters */
static enum MHD_Result on_request(void *channel, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *n, void **request)
{
	struct channel *c = channel;
	struct buf *body = *request, out = BUF(BUF_MAX_MESSAGE);
	struct str given =
		str_from(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"));
	unsigned status = MHD_HTTP_UNAUTHORIZED;

	(void)version;
	if (!body) {
		*request = body = mem_new(sizeof(*body));
		*body = BUF(BUF_MAX_MESSAGE);
		return MHD_YES;
	}
	if (*n) {
		buf_add(body, piece, *n);
		*n = 0;
		return MHD_YES;
	}
	if (str_starts(given, STR("Bearer ")) &&
	    str_is(str_skip(given, strlen("Bearer ")), c->secret)) {
		pthread_mutex_lock(&c->lock);
		status = answer(c, method, url, body, &out);
		pthread_mutex_unlock(&c->lock);
	} else {
		buf_text(&out, "{\"error\":\"wrong secret\"}");
	}
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(out.n, out.p, free);
	enum MHD_Result sent = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return sent;
}

static void on_completed(void *channel, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode how)
{
	(void)channel;
	(void)connection;
	(void)how;
	if (*request)
		buf_release(*request);
	free(*request);
}

static int open_channel(struct channel *c, const char *secret, struct error *err)
{
	int listener;

	c->secret = secret;
	c->task = c->state = BUF(BUF_MAX_MESSAGE);
	if (listen_on("127.0.0.1", &c->port, &listener, err))
		return -1;
	c->daemon =
		MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, c,
	                         MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
	                         MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	if (!c->daemon) {
		close(listener);
		return error_set(err, FAIL_SYSTEM, "cannot serve the state on port %u", c->port);
	}
	return 0;
}

static void close_channel(struct channel *c)
{
	if (c->daemon)
		MHD_stop_daemon(c->daemon);
	pthread_mutex_destroy(&c->lock);
	BUFS_RELEASE(&c->task, &c->state);
}

/* ---- the server ---- */

/* What the server asks for: the task's data with its class, and the state. A reset names them as the channel
   does; without any of its members it is the task. */
static void set_task(struct env_verifiers *e)
{
	struct str args = e->conf->reset_args, state = JSON_GET(args, "state");
	struct str class = JSON_GET(args, "cls"), task = JSON_GET(args, "task");
	bool whole = !state.p && !class.p && !task.p;

	task = whole ? args : task;
	pthread_mutex_lock(&e->channel.lock);
	json_pack(&e->channel.task, "{cls:%r,task:%s}", class.p ? class : STR("\"" TASK_CLASS "\""),
	          task.p ? task : STR("{}"));
	set_state(&e->channel, state.p ? state : STR("{}"));
	pthread_mutex_unlock(&e->channel.lock);
}

static int add_port_file(struct env_verifiers *e, struct error *err)
{
	const char *directory = e->conf->temporary ? e->conf->temporary : "/tmp";

	buf_printf(&e->port_file, "%s/rolldbg-port-XXXXXX", directory);
	(void)buf_cstr(&e->port_file);
	int fd = mkstemp(e->port_file.p);
	if (fd < 0) {
		buf_clear(&e->port_file);
		return error_errno(err, "cannot create a file in %s", directory);
	}
	close(fd);
	return 0;
}

/* The user's variables, then those of the framework. */
static int start_child(struct env_verifiers *e, const char *command, struct error *err)
{
	char *const *given = e->conf->child_variables;
	size_t n = 0;

	while (given && given[n])
		n++;
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE), own = BUF(BUF_MAX_SMALL);
	char **all = mem_array(n + 6, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = given[i];
	buf_printf(&own,
	           "VF_STATE_URL=http://127.0.0.1:%u/state%cVF_STATE_SECRET=%s%cMCP_HOST=127.0.0.1"
	           "%cMCP_PORT=0%cMCP_PORT_FILE=%s",
	           e->channel.port, 0, e->conf->env_session, 0, 0, 0, buf_cstr(&e->port_file));
	(void)buf_cstr(&own);
	for (char *p = own.p; p && p < own.p + own.n; p += strlen(p) + 1)
		all[n++] = p;
	/* the shell stays, because the server ends with the thread that started it */
	buf_printf(&line, "exec </dev/null >&2\n%s\nexit $?", command);
	struct child_conf conf = {.command = buf_cstr(&line), .variables = all};
	int failed = child_start(e->io, &conf, &e->child, err);
	free(all);
	return failed;
}

/* Sets the URL once the server has written its port. */
static int read_port(struct env_verifiers *e, struct error *err)
{
	char digits[PORT_DIGITS];
	uint64_t port;
	int fd = open(buf_cstr(&e->port_file), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, digits, sizeof(digits)) : 0;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	if (!text_u64(text_trim((struct str){digits, (size_t)n}), &port) || !port ||
	    port > UINT16_MAX) {
		return error_set(err, FAIL_PROTOCOL,
		                 "the server wrote no port number to $MCP_PORT_FILE");
	}
	buf_printf(&e->url, "http://127.0.0.1:%u/mcp", (unsigned)port);
	unlink(buf_cstr(&e->port_file));
	buf_clear(&e->port_file);
	return 0;
}

/* Its port is known before it listens. *listens: any reply. */
static int ask(struct env_verifiers *e, bool *listens, struct error *err)
{
	struct http_request q = {.method = "GET", .url = buf_cstr(&e->url), .timeout_ms = TRY_MS};
	struct http_exchange *x;
	struct error why = {0};

	if (http_begin(e->io, &q, &x, err))
		return -1;
	*listens = !http_wait_headers(x, &why);
	http_end(x);
	if (!*listens && (why.kind == FAIL_INTERRUPTED || why.kind == FAIL_SYSTEM)) {
		*err = why;
		return -1;
	}
	return 0;
}

static int await_server(struct env_verifiers *e, struct error *err)
{
	for (bool listens = false; !listens;) {
		if (child_has_ended(e->child)) {
			struct str line;

			while (child_receive(e->child, &line, PAUSE_MS, ERROR_IGNORED) > 0) {
			} /* reads its last words */
			child_terminate(e->child); /* sets why */
			return reading_child_end(e->child, target_command(e->conf->url), err);
		}
		if (!e->url.n && read_port(e, err))
			return -1;
		if (e->url.n && ask(e, &listens, err))
			return -1;
		if (!listens && io_wait(e->io, NULL, PAUSE_MS, err))
			return -1;
	}
	return 0;
}

/* ---- opening ---- */

static void take_events(struct env_verifiers *e)
{
	struct event one;

	while (e->mcp && events_take(&e->mcp->events, &one))
		events_push(&e->base.events, one.kind, one.detail);
}

static void fill_facts(struct env_verifiers *e)
{
	const struct env_facts *mcp = &e->mcp->facts;

	e->base.facts = *mcp;
	e->base.facts.protocol = e->base.ops->name;
	e->base.facts.env_session = str_from(e->conf->env_session);
	e->base.facts.url = str_from(e->conf->url);
	e->base.facts.traits =
		(struct env_traits){.has_episodes = true, .own_server = true, .no_rewards = true};
	if (e->own_state) {
		e->base.facts.state_kind = STATE_VERIFIERS;
		e->base.facts.state_ignore = buf_view(&e->ignored.json);
		e->base.facts.ignore_paths = e->ignored.paths;
	}
}

static int check_conf(struct env_verifiers *e, struct error *err)
{
	struct state_source source = {.kind = STATE_AUTO};
	int failed = state_source_parse(e->conf->state_spec, &source, err);

	e->own_state = source.kind == STATE_AUTO || source.kind == STATE_VERIFIERS;
	state_source_release(&source);
	if (!failed && !str_starts(str_from(e->conf->url), STR(VERIFIERS_SCHEME))) {
		return error_set(err, FAIL_USAGE,
		                 "\1protocol\2 verifiers starts the server itself: expected "
		                 "verifiers:COMMAND; a server that runs is mcp");
	}
	return failed;
}

static int verifiers_open(const struct env_conf *conf, struct io *io, struct env **out,
                          struct env_reply *refusal, struct error *err)
{
	struct env_verifiers *e = mem_new(sizeof(*e));

	e->base.ops = &env_verifiers;
	e->conf = conf;
	e->io = io;
	e->url = e->port_file = BUF(BUF_MAX_SMALL);
	e->state = BUF(BUF_MAX_MESSAGE);
	pthread_mutex_init(&e->channel.lock, NULL);
	*out = &e->base;
	if (check_conf(e, err) || open_channel(&e->channel, conf->env_session, err))
		return -1;
	set_task(e);
	if (add_port_file(e, err) || start_child(e, target_command(conf->url), err) ||
	    await_server(e, err)) {
		return -1;
	}
	e->mcp_conf = *conf;
	e->mcp_conf.url = buf_cstr(&e->url);
	e->mcp_conf.protocol = "mcp";
	e->mcp_conf.state_spec = e->own_state ? STR("none") : conf->state_spec;
	e->mcp_conf.reset_args = STR_NONE;
	e->mcp_conf.has_seed = false;
	e->mcp_conf.pages = NULL; /* of another server */
	int failed = env_mcp.open(&e->mcp_conf, io, &e->mcp, refusal, err);
	take_events(e);
	if (failed)
		return -1;
	if (refusal->outcome == OUTCOME_OK)
		fill_facts(e);
	return 0;
}

static void verifiers_close(struct env *base)
{
	struct env_verifiers *e = verifiers_of(base);

	if (!e)
		return;
	env_mcp.close(e->mcp);
	if (e->child)
		child_terminate(e->child);
	child_free(e->child);
	close_channel(&e->channel);
	if (e->port_file.n)
		unlink(buf_cstr(&e->port_file));
	events_release(&e->base.events);
	ignore_paths_release(&e->ignored);
	BUFS_RELEASE(&e->url, &e->state, &e->port_file);
	free(e);
}

/* ---- an episode ---- */

static int verifiers_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_verifiers *e = verifiers_of(base);

	(void)copy_state(&e->channel, &e->state);
	struct str first = json_count(buf_view(&e->state)) ? buf_view(&e->state) : STR_NONE;
	int failed = env_mcp.reset(e->mcp, out, err);
	take_events(e);
	if (failed)
		return -1;
	if (ignore_paths_choose(&e->ignored, e->conf, first, err))
		return -1;
	fill_facts(e);
	out->env_session = e->base.facts.env_session;
	return 0;
}

static void note_once(struct env_verifiers *e, enum event_kind event, const char *why)
{
	if (!e->noted) {
		reading_note(&e->base.events, event, state_kind_name(STATE_VERIFIERS),
		             str_from(why));
	}
	e->noted = true;
}

static int verifiers_state(struct env *base, struct str *out, struct error *err)
{
	struct env_verifiers *e = verifiers_of(base);

	int failed = env_mcp.state(e->mcp, out, err);
	take_events(e);
	if (failed)
		return -1;
	if (!e->own_state || e->unused)
		return 0;
	if (!copy_state(&e->channel, &e->state)) {
		note_once(e, EVENT_CONTROL_PLANE_FAILED,
		          "the state that the server has put is not JSON");
		return 0;
	}
	*out = buf_view(&e->state);
	return 0;
}

static int verifiers_step(struct env *base, struct str name, struct str arguments,
                          struct env_reply *out, struct error *err)
{
	struct env_verifiers *e = verifiers_of(base);
	uint64_t gets = count_gets(&e->channel);
	int failed = env_mcp.step(e->mcp, name, arguments, out, err);

	take_events(e);
	if (failed || out->outcome != OUTCOME_OK) /* the traceback; else it logs each request */
		reading_child_words(e->child, &e->base.events);
	child_clear_stderr(e->child);
	if (!failed && e->own_state && out->outcome == OUTCOME_OK &&
	    count_gets(&e->channel) == gets) {
		e->unused = true;
		note_once(
			e, EVENT_STATE_SOURCE_LOST,
			"it answers calls without asking for the state: the toolset declares none");
	}
	fill_facts(e);
	out->env_session = e->base.facts.env_session;
	return failed;
}

static int verifiers_claims(const char *url)
{
	return str_starts(str_from(url), STR(VERIFIERS_SCHEME)) && *target_command(url) ? 2 : 0;
}

static int verifiers_resources(struct env *base, struct buf *out, struct error *err)
{
	return env_mcp.resources(verifiers_of(base)->mcp, out, err);
}

const struct env_ops env_verifiers = {
	.name = "verifiers",
	.help = "a tool server of verifiers v1, started with its state channel",
	.protocols = (const char *const[]){"verifiers", NULL},
	.places = VERIFIERS_SCHEME "COMMAND",
	.limit_fix = "each session starts a server of its own: give the machine more memory",
	.claims = verifiers_claims,
	.open = verifiers_open,
	.reset = verifiers_reset,
	.state = verifiers_state,
	.step = verifiers_step,
	.resources = verifiers_resources,
	.close = verifiers_close,
};
