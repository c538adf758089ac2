/* rolldbg serve: the built-in environments for everybody to drive, and a scripted model
   to drive them. */
#include "serve/serve.h"

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "net/io.h"
#include "serve/llm.h"

#include <stdio.h>

struct serve_options {
	struct opt_u64 port, max_envs;
	const char *bind, *protocol, *map;
	struct opt_list faults;
	const char *delay;
	bool slippery;
};

static const struct opt options[] = {
	{'p', "port", "PORT", OPT_U64, OPT(struct serve_options, port),
         "port to listen on; 0 takes any free one (default 8000)", NULL},
	{0, "bind", "ADDRESS", OPT_STR, OPT(struct serve_options, bind),
         "IPv4 address to listen on (default 127.0.0.1)", NULL},
	{0, "protocol", "PROTOCOL", OPT_CHOICE, OPT(struct serve_options, protocol),
         "protocol to speak (default mcp)", "mcp|openenv"},
	{0, "map", "MAP", OPT_CHOICE, OPT(struct serve_options, map),
         "map of the lake (default 4x4)", "4x4|8x8|random|random8x8"},
	{0, "slippery", NULL, OPT_FLAG, OPT(struct serve_options, slippery),
         "moves slip sideways, as the seed decides", NULL},
	{0, "max-envs", "N", OPT_U64, OPT(struct serve_options, max_envs),
         "environments at a time (default: MAX_CONCURRENT_ENVS, else 8)", NULL},
	{0, "fault", "FAULT", OPT_LIST, OPT(struct serve_options, faults),
         "misbehave; may be given several times", NULL},
	{0, "delay", "DURATION", OPT_STR, OPT(struct serve_options, delay),
         "make each tool call take this long", NULL},
};

static int set(struct serve_conf *conf, const char *key, const char *value,
               struct error *err)
{
	return value ? serve_conf_set(conf, str_from(key), str_from(value), err) : 0;
}

static int port_of(const struct serve_options *o, uint16_t *port, struct error *err)
{
	if (o->port.value > UINT16_MAX) {
		return error_set(err, FAIL_USAGE, "--port %llu: ports end at 65535",
		                 (unsigned long long)o->port.value);
	}
	*port = o->port.given ? (uint16_t)o->port.value : DEFAULT_SERVE_PORT;
	return 0;
}

static int configure(const struct context *c, const struct serve_options *o,
                     const char *world, struct serve_conf *conf, struct error *err)
{
	char number[32];

	serve_conf_init(conf, c->clock);
	if (serve_conf_max_envs(conf, c->variable("MAX_CONCURRENT_ENVS"), err) ||
	    serve_conf_target(conf, str_from(world), err) ||
	    set(conf, "protocol", o->protocol, err) || set(conf, "map", o->map, err) ||
	    set(conf, "delay", o->delay, err) ||
	    (o->slippery && set(conf, "slippery", "1", err))) {
		return -1;
	}
	if (o->max_envs.given) {
		snprintf(number, sizeof(number), "%llu",
		         (unsigned long long)o->max_envs.value);
		if (set(conf, "max_envs", number, err)) {
			return -1;
		}
	}
	for (size_t i = 0; i < o->faults.count; i++) {
		if (serve_conf_fault(conf, str_from(o->faults.item[i]), err)) {
			return -1;
		}
	}
	conf->bind = o->bind;
	return port_of(o, &conf->port, err);
}

static int announce(const char *bind, uint16_t port, struct error *err)
{
	struct output out = output_to_stdout();

	buf_printf(&out.text, "listening on %s:%u\n", bind ? bind : "127.0.0.1",
	           (unsigned)port);
	return output_close(&out, err);
}

static int wait_for_stop(const struct context *c, struct error *err)
{
	struct io_conf conf = {.clock = c->clock, .stop_fd = c->stop_fd};
	struct io *io = NULL;
	bool never = false;

	if (io_new(&conf, &io, err)) {
		return -1;
	}
	while (!io_stopped(io)) {
		if (io_wait(io, &never, UINT32_MAX, err) &&
		    err->kind != FAIL_INTERRUPTED && err->kind != FAIL_TIMEOUT) {
			break;
		}
	}
	bool stopped = io_stopped(io);
	io_free(io);
	return stopped ? 0 : -1;
}

static int serve_world(const struct context *c, const struct serve_options *o,
                       const char *world, struct error *err)
{
	struct serve_conf conf;
	struct server *s = NULL;

	if (configure(c, o, world, &conf, err) || server_start(&conf, &s, err)) {
		return -1;
	}
	int failed = announce(conf.bind, server_port(s), err) || wait_for_stop(c, err);
	server_stop(s);
	return failed ? -1 : 0;
}

/* What is said of an environment says nothing of a model. */
static int check_llm(const struct serve_options *o, struct error *err)
{
	const struct {
		const char *name;
		bool given;
	} foreign[] = {
		{"protocol", o->protocol},      {"map", o->map},
		{"slippery", o->slippery},      {"max-envs", o->max_envs.given},
		{"fault", o->faults.count > 0}, {"delay", o->delay},
	};

	for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
		if (foreign[i].given) {
			return error_set(err, FAIL_USAGE,
			                 "--%s is for environments; what a model does "
			                 "stands in its script",
			                 foreign[i].name);
		}
	}
	return 0;
}

static int serve_llm(const struct context *c, const struct serve_options *o,
                     const char *script, struct error *err)
{
	struct llm_server_conf conf = {
		.script = script, .bind = o->bind, .clock = c->clock};
	struct llm_server *s = NULL;

	if (!script) {
		return error_set(err, FAIL_USAGE,
		                 "llm needs a script: rolldbg serve llm SCRIPT");
	}
	if (check_llm(o, err) || port_of(o, &conf.port, err) ||
	    llm_server_start(&conf, &s, err)) {
		return -1;
	}
	int failed =
		announce(conf.bind, llm_server_port(s), err) || wait_for_stop(c, err);
	llm_server_stop(s);
	return failed ? -1 : 0;
}

static int serve_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	if (argc && strcmp(argv[0], "llm") == 0) {
		return serve_llm(c, opts, argc > 1 ? argv[1] : NULL, err);
	}
	if (argc > 1) {
		return error_set(err, FAIL_USAGE, "unexpected operand '%s'", argv[1]);
	}
	return serve_world(c, opts, argc ? argv[0] : "frozen_lake", err);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "serve a built-in environment, healthy or with faults, or a scripted "
		   "model",
	.operands = "[WORLD | llm SCRIPT]",
	.description =
		"WORLD is frozen_lake (the default) or desk, with settings as in "
		"builtin: targets if you like: 'frozen_lake?map=8x8'. Prints 'listening "
		"on ADDRESS:PORT' once it is ready; the environment is at /mcp, or with "
		"--protocol openenv at /ws. 'llm SCRIPT' serves a stand-in for a model: "
		"an OpenAI-compatible API at /v1 that answers what a JSON file says, "
		"faults included, for trying policies without a model (see SCRIPTED "
		"MODELS in rolldbg(1)). Ctrl-C ends it.\n"
		"Faults (see FAULTS in rolldbg(1)):"
#define FAULT(id, fault, protocols, help) " " fault
#include "serve/faults.def"
#undef FAULT
		".",
	.max_operands = 2,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct serve_options),
	.network = true,
	.run = serve_run,
};
