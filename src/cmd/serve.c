/* rolldbg serve: serves the built-in environments, plays back a recording, or serves a scripted
   model. */
#include "serve/serve.h"

#include "cmd/cmd.h"
#include "cmd/options/output.h"
#include "net/io.h"
#include "serve/llm/llm.h"
#include "serve/llm/reply_script.h"
#include "serve/playback/playback.h"

#include <stdio.h>
#include <unistd.h>

#define OPTIONS serve
#include "cmd/options/table.h"

static int set(struct serve_conf *conf, const char *key, const char *value, struct error *err)
{
	return value ? serve_conf_set(conf, str_from(key), str_from(value), err) : 0;
}

static int configure(const struct context *c, const struct serve_options *o, const char *world,
                     struct serve_conf *conf, struct error *err)
{
	char number[32];

	serve_conf_init(conf, c->clock);
	if (serve_conf_max_envs(conf, c->variable("MAX_CONCURRENT_ENVS"), err) ||
	    serve_conf_target(conf, str_from(world), err) ||
	    set(conf, "protocol", o->protocol, err) || set(conf, "map", o->map, err) ||
	    set(conf, "delay", o->delay, err) || (o->slippery && set(conf, "slippery", "1", err))) {
		return -1;
	}
	if (o->max_envs.given) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)o->max_envs.value);
		if (set(conf, "max_envs", number, err))
			return -1;
	}
	for (size_t i = 0; i < o->faults.count; i++)
		if (serve_conf_fault(conf, str_from(o->faults.item[i]), err))
			return -1;
	conf->bind = o->bind;
	conf->origins = (struct allowed_origins){o->origins.item, o->origins.count};
	conf->port = (uint16_t)opt_number(o->port, DEFAULT_SERVE_PORT);
	return 0;
}

static int announce(const char *bind, uint16_t port, struct error *err)
{
	struct output out = output_to_stdout();

	buf_printf(&out.text, "listening on %s:%u\n", bind ? bind : "127.0.0.1", (unsigned)port);
	return output_close(&out, err);
}

static int wait_for_stop(const struct context *c, struct error *err)
{
	struct io_conf conf = {.clock = c->clock, .stop_fd = c->stop.fd};
	struct io *io = NULL;
	bool never = false;

	if (io_new(&conf, &io, err))
		return -1;
	while (!io_stopped(io)) {
		if (io_wait(io, &never, UINT32_MAX, err) && err->kind != FAIL_INTERRUPTED &&
		    err->kind != FAIL_TIMEOUT) {
			break;
		}
	}
	bool stopped = io_stopped(io);
	io_free(io);
	return stopped ? 0 : -1;
}

/* Kinds of servers as a bit set, to check which options apply. */
enum {
	SERVES_WORLD = 1,
	SERVES_SCRIPT = 2,
	SERVES_RECORDING = 4, /* played back as the environment */
	SERVES_MODEL = 8,     /* played back as the model */
};

static int check_options(const struct serve_options *o, unsigned served, struct error *err)
{
	const struct {
		const char *name;
		bool given;
		unsigned of;
		const char *why;
	} rows[] = {
		{"protocol", o->protocol, SERVES_WORLD | SERVES_RECORDING, "environments"},
		{"map", o->map, SERVES_WORLD, "built-in environments"},
		{"slippery", o->slippery, SERVES_WORLD, "built-in environments"},
		{"max-envs", o->max_envs.given, SERVES_WORLD, "built-in environments"},
		{"fault", o->faults.count > 0, SERVES_WORLD, "built-in environments"},
		{"delay", o->delay, SERVES_WORLD | SERVES_RECORDING, "environments"},
		{"as", o->as, SERVES_RECORDING | SERVES_MODEL, "recordings"},
		{"match", o->match, SERVES_RECORDING, "recordings played as the environment"},
		{"loop", o->loop, SERVES_RECORDING, "recordings played as the environment"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].given && !(rows[i].of & served)) {
			return error_set(err, FAIL_USAGE, "--%s applies to %s only", rows[i].name,
			                 rows[i].why);
		}
	}
	return 0;
}

/* made: the script, which is taken over; NULL: read from the file. */
static int serve_llm(const struct context *c, const struct serve_options *o, const char *script,
                     const struct llm_script *made, struct error *err)
{
	struct llm_server_conf conf = {.script = script,
	                               .made = made,
	                               .bind = o->bind,
	                               .port = (uint16_t)opt_number(o->port, DEFAULT_SERVE_PORT),
	                               .origins = {o->origins.item, o->origins.count},
	                               .clock = c->clock};
	struct llm_server *s = NULL;

	if (llm_server_start(&conf, &s, err))
		return -1;
	int failed = announce(conf.bind, llm_server_port(s), err) || wait_for_stop(c, err);
	llm_server_stop(s);
	return failed ? -1 : 0;
}

static int serve_environment(const struct context *c, const struct serve_conf *conf,
                             struct error *err)
{
	struct server *s = NULL;

	if (server_start(conf, &s, err))
		return -1;
	int failed = announce(conf->bind, server_port(s), err) || wait_for_stop(c, err);
	server_stop(s);
	return failed ? -1 : 0;
}

/* The recorded protocol, unless another one is requested; MCP for an imported recording. */
static int choose_protocol(const struct serve_options *o, const char *path, struct serve_conf *conf,
                           struct error *err)
{
	enum protocol recorded = protocol_parse(playback_sample(conf->playback)->protocol);
	const char *family = protocol_family(recorded);

	if (o->protocol)
		return 0;
	if (!protocol_has(recorded, HAS_SESSIONS)) {
		return error_set(err, FAIL_INPUT,
		                 "%s: recorded over %s, which has no sessions to play it in; "
		                 "--protocol %s plays it in sessions",
		                 path, protocol_name(recorded), family);
	}
	return serve_conf_set(conf, STR("protocol"), family ? str_from(family) : STR("mcp"), err);
}

static int serve_recording(const struct context *c, const struct serve_options *o, const char *path,
                           struct error *err)
{
	struct playback_conf playing = {.path = path, .loop = o->loop};
	struct serve_conf conf;

	while (o->match && strcmp(playback_matches[playing.match], o->match) != 0)
		playing.match++;
	if (configure(c, o, "frozen_lake", &conf, err) ||
	    playback_new(&playing, &conf.playback, err)) {
		return -1;
	}
	conf.max_envs = UINT64_MAX;
	int failed = choose_protocol(o, path, &conf, err) || serve_environment(c, &conf, err);
	playback_free(conf.playback);
	return failed ? -1 : 0;
}

static int serve_model(const struct context *c, const struct serve_options *o, const char *path,
                       struct error *err)
{
	struct llm_script script;

	return playback_model(path, &script, err) || serve_llm(c, o, path, &script, err) ? -1 : 0;
}

/* The name of a world takes precedence: ./desk is a file. A missing file whose
   name has an extension is reported as such. */
static bool is_recording(const struct context *c, const struct serve_options *o,
                         const char *operand)
{
	struct serve_conf conf;

	serve_conf_init(&conf, c->clock);
	bool a_file = access(operand, F_OK) == 0 || strcmp(operand, "-") == 0 ||
	              strchr(operand, '/') || (strchr(operand, '.') && !strchr(operand, '?'));

	return o->as || (a_file && serve_conf_target(&conf, str_from(operand), ERROR_IGNORED) != 0);
}

static int serve_one(const struct context *c, const struct serve_options *o, const char *operand,
                     struct error *err)
{
	bool as_model = o->as && strcmp(o->as, "llm") == 0;

	if (!is_recording(c, o, operand)) {
		struct serve_conf conf;

		return check_options(o, SERVES_WORLD, err) ||
		                       configure(c, o, operand, &conf, err) ||
		                       serve_environment(c, &conf, err)
		               ? -1
		               : 0;
	}
	if (check_options(o, as_model ? SERVES_MODEL : SERVES_RECORDING, err))
		return -1;
	return as_model ? serve_model(c, o, operand, err) : serve_recording(c, o, operand, err);
}

static int serve_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct serve_options *o = opts;

	if (argc && strcmp(argv[0], "llm") == 0) {
		if (argc == 1) {
			return error_set(err, FAIL_USAGE,
			                 "llm needs a script: rolldbg serve llm SCRIPT");
		}
		return check_options(o, SERVES_SCRIPT, err) || serve_llm(c, o, argv[1], NULL, err)
		               ? -1
		               : 0;
	}
	if (argc > 1)
		return error_set(err, FAIL_USAGE, "unexpected operand '%s'", argv[1]);
	if (!argc && o->as)
		return error_set(err, FAIL_USAGE, "--as needs a recording: rolldbg serve FILE");
	return serve_one(c, o, argc ? argv[0] : "frozen_lake", err);
}

const char serve_description[] =
	"BUILTIN is a built-in environment, frozen_lake (the default) or desk, optionally "
	"with settings as in builtin: targets, such as 'frozen_lake?map=8x8'. Prints "
	"'listening on ADDRESS:PORT' when ready; the environment is at /mcp, or with "
	"--protocol openenv at /ws.\n"
	"FILE is a recording: its rollouts are played back over the protocol they "
	"were recorded with, each to one session, in the order of their headers or "
	"by the seed that the client asks for. A call that was not recorded gets a "
	"tool error that shows the nearest recorded call, and a session for which no "
	"rollout is left is refused. With --as llm the recording replies as the "
	"model, with the recorded assistant messages (see PLAYBACK in "
	"rolldbg-serve(1)).\n"
	"'llm SCRIPT' serves a scripted model: an "
	"OpenAI-compatible API at /v1 that returns the replies in a JSON file, "
	"faults included, to test policies without a model (see SCRIPTED MODELS "
	"in rolldbg-serve(1)). Ctrl-C stops it.\n"
	"Faults (see FAULTS in rolldbg-serve(1)):"
#define FAULT(fault, ...) " " fault
#include "serve/fault/faults.def"
#undef FAULT
	".";

CODE(serve)
