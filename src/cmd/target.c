/* From options to an environment that can be talked to: see target.h. */
#include "cmd/target.h"

#include "base/log.h"
#include "base/rng.h"
#include "serve/serve.h"

#define DEFAULT_TARGET     "builtin:frozen_lake"
#define BUILTIN            "builtin:"
#define DEFAULT_TIMEOUT_MS 60000

static bool is_builtin(const struct env_target *t)
{
	return str_starts(str_from(t->name), STR(BUILTIN));
}

bool env_target_is_lake(const struct env_target *t)
{
	struct str lake = STR(DEFAULT_TARGET), name = str_from(t->name);

	return str_starts(name, lake) && (name.n == lake.n || name.p[lake.n] == '?');
}

static void hide_secrets(void *ctx, struct str text, struct buf *out)
{
	secrets_redact(ctx, text, out);
}

static void settle_secrets(struct env_target *t)
{
	t->secrets = secrets_new();
	log_set_filter(hide_secrets, t->secrets);
	for (size_t i = 0; i < t->headers.count; i++) {
		secrets_add_header(t->secrets, str_from(t->headers.items[i]));
	}
	for (size_t i = 0; i < t->options->secrets.count; i++) {
		if (!secrets_add(t->secrets, str_from(t->options->secrets.item[i]))) {
			log_warn("--secret: values shorter than 4 bytes would hide "
			         "innocent text, one is not hidden");
		}
	}
}

int env_target_prepare(struct env_target *t, const struct context *c,
                       const struct target_options *o, struct error *err)
{
	*t = (struct env_target){.context = c,
	                         .options = o,
	                         .name = o->env ? o->env : DEFAULT_TARGET,
	                         .url = BUF(BUF_MAX_SMALL)};
	if (headers_read(c, &o->headers, &t->headers, err)) {
		return -1;
	}
	settle_secrets(t);
	return 0;
}

static int start_builtin(struct env_target *t, const char *world, struct error *err)
{
	struct serve_conf conf;

	serve_conf_init(&conf, t->context->clock);
	if (serve_conf_max_envs(&conf, t->context->variable("MAX_CONCURRENT_ENVS"),
	                        err) ||
	    serve_conf_target(&conf, str_from(world), err) ||
	    server_start(&conf, &t->server, err)) {
		return error_wrap(err, "%s", t->name);
	}
	server_url(t->server, &t->url);
	log_info("%s is served at %s", t->name, buf_cstr(&t->url));
	return 0;
}

/* http://USER:PASSWORD@HOST/ */
static bool names_a_user(const char *url)
{
	const char *place = strstr(url, "://");
	size_t n = place ? strcspn(place + 3, "/?#") : 0;

	return n && memchr(place + 3, '@', n);
}

int env_target_start(struct env_target *t, struct error *err)
{
	if (is_builtin(t)) {
		return start_builtin(t, t->name + strlen(BUILTIN), err);
	}
	if (names_a_user(t->name)) {
		return error_set(
			err, FAIL_USAGE,
			"--env: a password in a URL would be recorded: give it as "
			"--header-env Authorization=VARIABLE");
	}
	buf_text(&t->url, t->name);
	return 0;
}

void env_target_release(struct env_target *t)
{
	log_set_filter(NULL, NULL);
	server_stop(t->server);
	secrets_free(t->secrets);
	headers_release(&t->headers);
	buf_release(&t->url);
}

struct env_conf env_target_conf(const struct env_target *t)
{
	const struct target_options *o = t->options;

	return (struct env_conf){.url = buf_cstr(&t->url),
	                         .protocol = o->protocol,
	                         .era = o->era,
	                         .headers = (const char *const *)t->headers.items,
	                         .header_count = t->headers.count,
	                         .timeout_ms = o->timeout.given ? o->timeout.value
	                                                        : DEFAULT_TIMEOUT_MS,
	                         .state_spec = str_from(o->state ? o->state : "auto"),
	                         .ignore = &o->ignore,
	                         .has_seed = o->seed.given,
	                         .seed = o->seed.value,
	                         .version = ROLLDBG_VERSION};
}

int env_target_new_session(char out[TARGET_SESSION_DIGITS + 1], struct error *err)
{
	if (rng_unique_hex(out, TARGET_SESSION_DIGITS)) {
		return error_errno(err, "no random bytes for a session id");
	}
	return 0;
}

int env_target_new_io(const struct env_target *t, struct io **out, struct error *err)
{
	struct io_conf conf = {.clock = t->context->clock,
	                       .stop_fd = t->context->stop_fd,
	                       .user_agent = "rolldbg/" ROLLDBG_VERSION,
	                       .ca_file = t->options->ca_file,
	                       .insecure = t->options->insecure};

	return io_new(&conf, out, err);
}

void env_target_hide(const struct env_target *t, struct error *err)
{
	struct error plain = *err;
	struct buf text = BUF(BUF_MAX_SMALL);

	secrets_redact(t->secrets, str_from(plain.text), &text);
	error_set(err, plain.kind, "%s", buf_cstr(&text));
	buf_release(&text);
}
