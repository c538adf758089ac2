/* The table of environment protocols, and selection of the protocol: see environments.h. */
#include "env/environments.h"

#include "base/names.h"
#include "base/text.h"
#include "env/http_json.h"
#include "env/ignore_paths.h"
#include "json/write.h"

#include <assert.h>

#define PROTOCOLS_MAX 16

#define ENV(id) extern const struct env_ops env_##id;
#include "env/envs.def"
#undef ENV

const struct env_ops *const environments[] = {
#define ENV(id) &env_##id,
#include "env/envs.def"
#undef ENV
};
const size_t environments_count = ARRAY_LEN(environments);

void env_reply_keep(struct env_reply *reply, struct arena *a)
{
	struct str *all[] = {&reply->error.code, &reply->error.message, &reply->observation,
	                     &reply->structured, &reply->raw,           &reply->reward,
	                     &reply->session,    &reply->env_session,   &reply->reply_session};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		*all[i] = arena_str(a, *all[i]);
}

struct str env_reply_whole(struct str observation, struct str structured, struct arena *a)
{
	AUTO_BUF whole = BUF(BUF_MAX_MESSAGE);

	if (json_is_null(structured))
		return arena_str(a, observation);
	struct json_writer w = jw_begin(&whole);
	jw_pack(&w, "content:%r,structuredContent:%r", observation, structured);
	jw_end(&w);
	return arena_str(a, buf_view(&whole));
}

int env_reset(struct env *e, struct env_reply *out, struct error *err)
{
	*out = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	return e->ops->reset(e, out, err) ? error_from_peer(err) : 0;
}

int env_state(struct env *e, struct str *out, struct error *err)
{
	return e->ops->state(e, out, err) ? error_from_peer(err) : 0;
}

int env_step(struct env *e, struct str name, struct str arguments, struct env_reply *out,
             struct error *err)
{
	*out = (struct env_reply){REPLY_UNKNOWN};
	return e->ops->step(e, name, arguments, out, err) ? error_from_peer(err) : 0;
}

int env_finish(struct env *e, struct error *err)
{
	return e->ops->finish && e->ops->finish(e, err) ? error_from_peer(err) : 0;
}

void env_contract_note(struct env_contract *c, bool kept, struct buf *clauses, const char *clause)
{
	c->kept += kept;
	if (!kept)
		buf_printf(clauses, "%s%s", clauses->n ? "; " : "", clause);
}

static const struct env_ops *unknown_protocol(const char *protocol, struct error *err)
{
	const char *names[PROTOCOLS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < environments_count; i++) {
		for (const char *const *p = environments[i]->protocols; *p; p++) {
			assert(n < ARRAY_LEN(names));
			names[n++] = *p;
		}
	}
	error_set(err, FAIL_USAGE, "unknown protocol '%s'", protocol);
	names_suggest(err, str_from(protocol), names, n);
	return NULL;
}

static const struct env_ops *by_name(const char *protocol, struct error *err)
{
	for (size_t i = 0; i < environments_count; i++) {
		for (const char *const *p = environments[i]->protocols; *p; p++)
			if (!strcmp(protocol, *p))
				return environments[i];
	}
	return unknown_protocol(protocol, err);
}

static int claim_of(const struct env_ops *e, const struct env_conf *conf)
{
	return e->claims ? e->claims(conf->url) : 0;
}

/* The last adapter of the table recognizes no server: it is what is left. */
static const struct env_ops *by_url(const struct env_conf *conf, struct io *io)
{
	const struct env_ops *found = NULL;
	struct event_queue unread = {0};
	struct http_json h;

	for (size_t i = 0; i < environments_count && !found; i++)
		found = claim_of(environments[i], conf) > 1 ? environments[i] : NULL;
	if (found)
		return found;
	http_json_init(&h, conf, io, &unread);
	for (size_t i = 0; i < environments_count && !found; i++) {
		const struct env_ops *e = environments[i];

		if (claim_of(e, conf) && (!e->recognizes || e->recognizes(&h)))
			found = e;
		http_json_set_base(&h, conf->url); /* it may have looked elsewhere */
	}
	http_json_release(&h);
	events_release(&unread);
	return found;
}

/* A URL always qualifies; other targets only if an adapter accepts them. */
static bool is_supported(const struct env_conf *conf, const struct env_ops *found)
{
	const char *colon = strchr(conf->url, ':');

	return (colon && !strncmp(colon, "://", 3)) || claim_of(found, conf) > 0;
}

/* "127.0.0.1:8000/x", "localhost": a URL without its scheme? */
static bool lacks_scheme(const char *target)
{
	static const char *const schemes[] = {"http", "https", "ws", "wss"};
	size_t host = strcspn(target, ":/");
	bool port = target[host] == ':' && target[host + 1] >= '0' && target[host + 1] <= '9';

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (host == strlen(schemes[i]) && !strncmp(target, schemes[i], host))
			return false;
	return host > 0 && !strchr(target, ' ') &&
	       (port || (host == strlen("localhost") && !strncmp(target, "localhost", host)));
}

static const struct env_ops *error_unsupported(const char *url, struct error *err)
{
	AUTO_BUF places = BUF(BUF_MAX_SMALL);

	if (lacks_scheme(url)) {
		error_set(err, FAIL_USAGE,
		          "unsupported environment '%s': a URL begins with its scheme; did you "
		          "mean 'http://%s'?",
		          url, url);
		return NULL;
	}

	for (size_t i = 0; i < environments_count; i++) {
		const struct env_ops *e = environments[i];

		if (e->places)
			buf_printf(&places, "%s (%s), ", e->places, e->name);
	}
	error_set(err, FAIL_USAGE,
	          "unsupported environment '%s': expected %sbuiltin:NAME, FILE#NAME (a server of "
	          "an mcp.json), or a name in .rolldbg.json",
	          url, buf_cstr(&places));
	return NULL;
}

const struct env_ops *env_find(const struct env_conf *conf, struct io *io, struct error *err)
{
	const struct env_ops *found =
		conf->protocol ? by_name(conf->protocol, err) : by_url(conf, io);

	if (!found && conf->protocol)
		return NULL;
	if (!found || !is_supported(conf, found))
		return error_unsupported(conf->url, err);
	if (conf->era && !found->has_eras) {
		error_set(err, FAIL_USAGE, "\1era\2 %s: '%s' is not MCP, but %s", conf->era,
		          conf->url, found->name);
		return NULL;
	}
	return found;
}

void env_put_unrecognized(const struct env_conf *conf, struct buf *out)
{
	const char *last = NULL;
	size_t start = out->n;

	for (size_t i = 0; i < environments_count; i++)
		if (conf->protocol || claim_of(environments[i], conf) > 1)
			return; /* none was asked */
	for (size_t i = 0; i < environments_count; i++) {
		const struct env_ops *e = environments[i];

		if (!e->recognizes || !claim_of(e, conf))
			continue;
		if (last)
			buf_printf(out, "%s%s", out->n > start ? ", " : "", last);
		last = e->name;
	}
	if (last)
		buf_printf(out, "%s%s", out->n > start ? " or " : "", last);
}

int env_open(const struct env_ops *ops, const struct env_conf *conf, struct io *io,
             struct env **out, struct env_reply *refusal, struct error *err)
{
	uint64_t ms = conf->open_timeout_ms;
	AUTO_BUF span = BUF(BUF_MAX_SMALL);

	*out = NULL;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	if (ignore_paths_check(conf, err))
		return -1;
	io_limit(io, ms ? ms : UINT64_MAX);
	int failed = ops->open(conf, io, out, refusal, err);
	bool late = io_limit_passed(io) &&
	            (failed ? err->kind != FAIL_INTERRUPTED : refusal->outcome != OUTCOME_OK);
	io_limit(io, UINT64_MAX);
	if (late) {
		text_put_duration(&span, ms);
		failed = error_set(err, FAIL_TIMEOUT,
		                   "the session was not open within %s (\1open_timeout\2)",
		                   buf_cstr(&span));
	}
	return failed;
}
