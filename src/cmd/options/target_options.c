/* Sets up the environment named by the options: see target_options.h. */
#include "cmd/options/target_options.h"

#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "cmd/options/credentials.h"
#include "cmd/options/setting_options.h"
#include "serve/serve.h"
#include "serve/world/world.h"

#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_TARGET     "builtin:frozen_lake"
#define BUILTIN            "builtin:"
#define DEFAULT_TIMEOUT_MS 60000
#define DEFAULT_WAIT_MS    60000 /* for the server of --serve */

#define ROWS    target_first
#define ROWS_IN target
#include "cmd/options/rows.h"
const struct option_group target_first_group = {target_first_opts, ARRAY_LEN(target_first_opts),
                                                NULL};

static const char protocol_help[] = "use this protocol: "
#define PROTOCOL_WORD(id, word, family, traits, meaning) word ", " meaning "; "
#include "recording/keys.def"
				    "default: detect it";

#define ROWS target
#include "cmd/options/rows.h"
const struct option_group target_group = {target_opts, ARRAY_LEN(target_opts),
                                          "environment options"};

#define READS_APART_MS 12 /* clocks often count hundredths of a second */
#define OPEN_CALLS     5  /* opening a session may take as long as this many calls */

static bool is_builtin(const struct env_target *t)
{
	return str_starts(str_from(t->name), STR(BUILTIN));
}

uint64_t env_target_reads_apart_ms(const struct env_target *t)
{
	return is_builtin(t) ? 0 : READS_APART_MS;
}

bool env_target_is_lake(const struct env_target *t)
{
	struct str lake = STR(DEFAULT_TARGET), name = str_from(t->name);

	return str_starts(name, lake) && (name.n == lake.n || name.p[lake.n] == '?');
}

/* The built-in world that a recorded environment is; NULL: none. */
static const struct world *world_of(struct str env)
{
	struct str version = json_inner(JSON_GET(env, "version"));
	size_t i = 0;

	while (i < worlds_count && !json_is(JSON_GET(env, "name"), str_from(worlds[i]->server)))
		i++;
	return i < worlds_count && (!version.n || str_starts(version, STR("builtin-"))) ? worlds[i]
	                                                                                : NULL;
}

int env_target_check_recorded(const struct target_options *o, const char *file, struct str env,
                              struct error *err)
{
	const struct world *world = world_of(env);
	AUTO_BUF name = BUF(BUF_MAX_SMALL);

	if (o->env || json_type(JSON_GET(env, "name")) != JSON_STRING ||
	    (world && str_is(str_skip(STR(DEFAULT_TARGET), strlen(BUILTIN)), world->name))) {
		return 0;
	}
	text_escape_cut(&name, json_inner(JSON_GET(env, "name")), 80);
	return error_set(
		err, FAIL_USAGE,
		"%s was recorded from %s, and the environment is %s without --env: name it with "
		"--env %s%s",
		file, buf_cstr(&name), DEFAULT_TARGET, world ? BUILTIN : "TARGET",
		world ? world->name : "");
}

/* The log's filter while there are secrets. */
static void hide_secrets(void *ctx, struct str text, struct buf *out)
{
	AUTO_BUF spelled = BUF(BUF_MAX_MESSAGE);

	settings_filter(NULL, text, &spelled);
	secrets_redact(ctx, buf_view(&spelled), out);
}

static void say_too_short(const char *what, const char *name)
{
	log_warn("%s%s%s: a value shorter than %d bytes is not redacted: it would match other text",
	         what, *name ? " " : "", name, SECRET_MIN);
}

static void add_headers(struct env_target *t)
{
	for (size_t i = 0; i < t->headers.count; i++) {
		struct str header = str_from(t->headers.items[i]);
		bool variable = i >= t->headers.given;

		if (!credentials_add_header(t->secrets, header, variable) && variable) {
			say_too_short("--header-env",
			              t->options->headers.variables.item[i - t->headers.given]);
		}
	}
}

int target_add_secrets(struct secrets *secrets, const struct opt_list *values,
                       const struct opt_list *names, const struct context *c, struct error *err)
{
	for (size_t i = 0; i < values->count; i++)
		if (!secrets_add(secrets, str_from(values->item[i])))
			say_too_short("--secret", "");
	for (size_t i = 0; i < names->count; i++) {
		const char *value = c->variable(names->item[i]);

		if (!value) {
			return error_set(err, FAIL_USAGE,
			                 "--secret-env: the variable %s is not set",
			                 names->item[i]);
		}
		if (!secrets_add(secrets, str_from(value)))
			say_too_short("--secret-env", names->item[i]);
	}
	return 0;
}

/* Passed credentials are redacted: a server may print its environment variables. */
static void add_passed_variables(struct env_target *t)
{
	const struct opt_list *names = &t->options->passed_variables;

	for (size_t i = 0; i < names->count; i++) {
		const char *item = names->item[i], *equals = strchr(item, '=');
		const char *value = equals ? equals + 1 : t->context->variable(item);

		if (value && credentials_named((struct str){item, strcspn(item, "=")}))
			secrets_add(t->secrets, str_from(value));
		else if (value)
			credentials_add_url(t->secrets, value);
	}
}

/* Called first, so that no message can contain a secret. */
static int collect_secrets(struct env_target *t, struct error *err)
{
	t->secrets = secrets_new();
	log_set_filter(hide_secrets, t->secrets);
	credentials_add_target(t->secrets, t->name);
	add_passed_variables(t);
	return target_add_secrets(t->secrets, &t->options->secrets, &t->options->secret_variables,
	                          t->context, err);
}

static int check_reset_json(const char *text, struct error *err)
{
	struct json_fault fault;

	if (!text)
		return 0;
	if (json_validate(str_from(text), &fault)) {
		return error_set(err, FAIL_USAGE, "--reset-json: not JSON: %s at byte %zu",
		                 fault.why, fault.at + 1);
	}
	struct str value = text_trim(str_from(text));
	return json_type(value) == JSON_OBJECT
	               ? 0
	               : error_set(err, FAIL_USAGE, "--reset-json is %s, not an object",
	                           json_type_phrase(json_type(value)));
}

/* Checked here, so that the message is the same whether the environment or the model is contacted
   first. */
static int check_ca_file(const char *path, struct error *err)
{
	struct stat st;

	if (path && (access(path, R_OK) || stat(path, &st))) {
		error_errno(err, "--ca-file %s", path);
		err->kind = FAIL_INPUT;
		return -1;
	}
	/* each connection reads it */
	return path && !S_ISREG(st.st_mode)
	               ? error_set(err, FAIL_INPUT, "--ca-file %s: not a regular file", path)
	               : 0;
}

int env_target_prepare(struct env_target *t, const struct context *c,
                       const struct target_options *o, struct error *err)
{
	*t = (struct env_target){.context = c,
	                         .options = o,
	                         .name = o->env ? o->env : DEFAULT_TARGET,
	                         .url = BUF(BUF_MAX_SMALL)};
	if (collect_secrets(t, err) || check_ca_file(o->ca_file, err) ||
	    check_reset_json(o->reset_json, err) ||
	    headers_read(c, &o->headers, &t->headers, err)) {
		return -1;
	}
	add_headers(t);
	return child_variables_read(c, &o->passed_variables, &o->headers, &t->variables, err);
}

static int start_builtin(struct env_target *t, const char *world, struct error *err)
{
	struct serve_conf conf;

	serve_conf_init(&conf, t->context->clock);
	if (serve_conf_max_envs(&conf, t->context->variable("MAX_CONCURRENT_ENVS"), err) ||
	    serve_conf_target(&conf, str_from(world), err) ||
	    server_start(&conf, &t->server, err)) {
		return error_wrap(err, "%s", t->name);
	}
	server_url(t->server, &t->url);
	log_info("%s is served at %s", t->name, buf_cstr(&t->url));
	return 0;
}

/* True for http://USER:PASSWORD@HOST/, which is not a word of a program's command. */
static bool names_a_user(const char *url)
{
	const char *place = target_command(url) ? NULL : strstr(url, "://");
	size_t n = place ? strcspn(place + 3, "/?#") : 0;

	return n && memchr(place + 3, '@', n);
}

static const char *temporary_of(const struct env_target *t)
{
	const char *directory = t->context->variable("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

/* Of --serve and --wait. */
static int await_server(struct env_target *t, struct error *err)
{
	const struct target_options *o = t->options;
	uint64_t wait_ms = o->wait.given ? o->wait.value : DEFAULT_WAIT_MS;

	if (!o->serve && !o->wait.given)
		return 0;
	if (env_target_new_io(t, &t->io, err))
		return -1;
	t->own.io = t->io;
	return o->serve ? own_server_start(&t->own, o->serve, t->variables.items, temporary_of(t),
	                                   buf_cstr(&t->url), wait_ms, err)
	                : own_server_wait(t->io, buf_cstr(&t->url), wait_ms, NULL, err);
}

int env_target_start(struct env_target *t, struct error *err)
{
	if (is_builtin(t) && t->options->serve)
		return error_set(err, FAIL_USAGE, "--serve: %s needs no server", t->name);
	if (is_builtin(t))
		return start_builtin(t, t->name + strlen(BUILTIN), err);
	if (names_a_user(t->name)) {
		return error_set(err, FAIL_USAGE,
		                 "--env: a password in a URL would be recorded: pass it with "
		                 "--header-env Authorization=VARIABLE");
	}
	buf_text(&t->url, t->name);
	return await_server(t, err);
}

void env_target_release(struct env_target *t)
{
	server_stop(t->server); /* first, because its threads use the log filter */
	own_server_stop(&t->own);
	io_free(t->io);
	log_set_filter(settings_filter, NULL);
	secrets_free(t->secrets);
	headers_release(&t->headers);
	child_variables_release(&t->variables);
	buf_release(&t->url);
}

struct env_conf env_target_conf(const struct env_target *t)
{
	const struct target_options *o = t->options;
	uint64_t timeout_ms = o->timeout.given ? o->timeout.value : DEFAULT_TIMEOUT_MS;
	uint64_t most_ms =
		timeout_ms < UINT64_MAX / OPEN_CALLS ? OPEN_CALLS * timeout_ms : UINT64_MAX;

	return (struct env_conf){
		.url = buf_cstr(&t->url),
		.protocol = o->protocol,
		.era = o->era,
		.headers = (const char *const *)t->headers.items,
		.header_count = t->headers.count,
		.child_variables = t->variables.items,
		.temporary = temporary_of(t),
		.timeout_ms = timeout_ms,
		.open_timeout_ms = o->open_timeout.given ? o->open_timeout.value : most_ms,
		.state_spec = str_from(o->state ? o->state : "auto"),
		.ignore = o->ignore.item,
		.ignore_count = o->ignore.count,
		.reset_args = o->reset_json ? text_trim(str_from(o->reset_json)) : STR_NONE,
		.error_texts = o->error_texts.item,
		.error_text_count = o->error_texts.count,
		.has_seed = o->seed.given,
		.seed = o->seed.value,
		.version = ROLLDBG_VERSION};
}

int env_target_new_session(char out[TARGET_SESSION_DIGITS + 1], struct error *err)
{
	if (rng_unique_hex(out, TARGET_SESSION_DIGITS))
		return error_errno(err, "cannot get random bytes for a session id");
	return 0;
}

int env_target_new_io(const struct env_target *t, struct io **out, struct error *err)
{
	const char *variable = t->context->variable("SSL_CERT_FILE"); /* OpenSSL's */

	if (variable && !*variable)
		variable = NULL;
	struct io_conf conf = {.clock = t->context->clock,
	                       .stop_fd = t->context->stop.fd,
	                       .user_agent = "rolldbg/" ROLLDBG_VERSION,
	                       .ca_file = t->options->ca_file ? t->options->ca_file : variable,
	                       .insecure = t->options->insecure};

	return io_new(&conf, out, err);
}

void env_target_hide(const struct env_target *t, struct error *err)
{
	struct error plain = *err;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	secrets_redact(t->secrets, str_from(plain.text), &text);
	error_set(err, plain.kind, "%s", buf_cstr(&text));
}

void target_say_lost(const char *place, const char *why)
{
	const char *host = strstr(place, "://");
	size_t n = host ? (size_t)(host - place) + 3 + strcspn(host + 3, "/?#") : strlen(place);
	struct str said = str_from(why);
	const char *command = target_command(place);
	bool named = str_starts(said, (struct str){place, n}) || /* with its own path */
	             (command && strstr(why, command));

	log_error("%s%s%.*s", named ? "" : place, named ? "" : ": ", STR_ARG(said));
	if (str_starts(said, STR("the reset failed: ")) && strstr(said.p, "Field required")) {
		log_warn("the arguments of a reset: \1reset-json\2 OBJECT, or `reset` in the lines "
		         "of \1tasks\2");
	}
}
