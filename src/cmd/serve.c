/* rolldbg serve: serves the built-in environments, or a scripted model. */
#include "serve/serve.h"

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "net/io.h"
#include "serve/llm/llm.h"

#include <stdio.h>

struct serve_options {
	struct opt_u64 port, max_envs;
	const char *bind, *protocol, *map;
	struct opt_list faults, origins;
	const char *delay;
	bool slippery;
};

#define FIELD(f) offsetof(struct serve_options, f)

static const struct opt options[] = {
	OPT_NUMBER('p', "port", "PORT", FIELD(port),
                   "port to listen on; 0 takes any free one (default 8000)"),
	OPT_STRING(0, "bind", "ADDRESS", FIELD(bind),
                   "IPv4 address to listen on (default 127.0.0.1)"),
	OPT_CHOICE(0, "protocol", "PROTOCOL", "mcp|openenv", FIELD(protocol),
                   "protocol to speak (default mcp)"),
	OPT_CHOICE(0, "map", "MAP", "4x4|8x8|random|random8x8", FIELD(map),
                   "map of the lake (default 4x4)"),
	OPT_FLAG(0, "slippery", FIELD(slippery),
                 "moves slip sideways at random, as determined by the seed"),
	OPT_NUMBER(0, "max-envs", "N", FIELD(max_envs),
                   "maximum number of concurrent environments (default: MAX_CONCURRENT_ENVS, "
                   "else 8)"),
	OPT_LIST(0, "fault", "FAULT", FIELD(faults),
                 "inject this fault; may be given several times"),
	OPT_LIST(
		0, "allow-origin", "ORIGIN", FIELD(origins),
		"also answer web pages of this origin, http://HOST[:PORT], which get CORS headers, and "
		"requests for that host; * answers all (default: pages of this host, and requests for an address or "
		"localhost); may be given several times"),
	OPT_STRING(0, "delay", "DURATION", FIELD(delay), "make each tool call take this long"),
};

static int set(struct serve_conf *conf, const char *key, const char *value, struct error *err)
{
	return value ? serve_conf_set(conf, str_from(key), str_from(value), err) : 0;
}

static int port_of(const struct serve_options *o, uint16_t *port, struct error *err)
{
	if (o->port.value > UINT16_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "--port: expected a number from 0 to 65535, got %llu",
		                 (unsigned long long)o->port.value);
	}
	*port = o->port.given ? (uint16_t)o->port.value : DEFAULT_SERVE_PORT;
	return 0;
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
	conf->origins = (struct allowed_origins){o->origins.item, o->origins.count};
	return port_of(o, &conf->port, err);
}

static int announce(const char *bind, uint16_t port, struct error *err)
{
	struct output out = output_to_stdout();

	buf_printf(&out.text, "listening on %s:%u\n", bind ? bind : "127.0.0.1", (unsigned)port);
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
		if (io_wait(io, &never, UINT32_MAX, err) && err->kind != FAIL_INTERRUPTED &&
		    err->kind != FAIL_TIMEOUT) {
			break;
		}
	}
	bool stopped = io_stopped(io);
	io_free(io);
	return stopped ? 0 : -1;
}

static int serve_world(const struct context *c, const struct serve_options *o, const char *world,
                       struct error *err)
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

/* Options for environments do not apply to a model. */
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
			return error_set(
				err, FAIL_USAGE,
				"--%s applies to environments only; a model does what its script says",
				foreign[i].name);
		}
	}
	return 0;
}

static int serve_llm(const struct context *c, const struct serve_options *o, const char *script,
                     struct error *err)
{
	struct llm_server_conf conf = {.script = script,
	                               .bind = o->bind,
	                               .origins = {o->origins.item, o->origins.count},
	                               .clock = c->clock};
	struct llm_server *s = NULL;

	if (!script) {
		return error_set(err, FAIL_USAGE, "llm needs a script: rolldbg serve llm SCRIPT");
	}
	if (check_llm(o, err) || port_of(o, &conf.port, err) || llm_server_start(&conf, &s, err)) {
		return -1;
	}
	int failed = announce(conf.bind, llm_server_port(s), err) || wait_for_stop(c, err);
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
	.summary = "serve a built-in environment, healthy or with faults, or a scripted model",
	.operands = "[WORLD | llm SCRIPT]",
	.description = "WORLD is frozen_lake (the default) or desk, optionally with settings as "
		       "in builtin: targets, such as 'frozen_lake?map=8x8'. Prints 'listening on "
		       "ADDRESS:PORT' when ready; the environment is at /mcp, or with --protocol "
		       "openenv at /ws. 'llm SCRIPT' serves a scripted model: an "
		       "OpenAI-compatible API at /v1 that returns the replies in a JSON file, "
		       "faults included, to test policies without a model (see SCRIPTED MODELS "
		       "in rolldbg(1)). Ctrl-C stops it.\n"
		       "Faults (see FAULTS in rolldbg(1)):"
#define FAULT(id, fault, protocols, help) " " fault
#include "serve/fault/faults.def"
#undef FAULT
		       ".",
	.max_operands = 2,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct serve_options),
	.network = true,
	.run = serve_run,
};
