/* Examines one property after the other and closes everything at the end: see probe.h. */
#include "probe/probe_internal.h"

#include "probe/model/preflight.h"

#include <stdlib.h>

const struct property_title property_titles[] = {
#define PROPERTY(id, name, title, needed) {name, title},
#include "probe/env/properties.def"
#undef PROPERTY
};
const size_t property_titles_count = ARRAY_LEN(property_titles);

static property_fn *const properties[] = {
#define PROPERTY(id, name, title, needed) property_##id,
#include "probe/env/properties.def"
#undef PROPERTY
};

static const bool needed[] = {
#define PROPERTY(id, name, title, needed) needed,
#include "probe/env/properties.def"
#undef PROPERTY
};

const struct property_title preflight_titles[] = {
#define PREFLIGHT(id, name, title) {name, title},
#include "probe/model/preflight.def"
#undef PREFLIGHT
};
const size_t preflight_titles_count = ARRAY_LEN(preflight_titles);

static preflight_fn *const preflights[] = {
#define PREFLIGHT(id, name, title) preflight_##id,
#include "probe/model/preflight.def"
#undef PREFLIGHT
};

void property_quote(struct property *out, const struct probe_reply *r)
{
	buf_text(&out->evidence, out->evidence.n ? ": " : "");
	probe_reply_describe(r, &out->evidence);
}

size_t probe_ok_calls(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->call_count; i++)
		n += p->calls[i].reply.outcome == OUTCOME_OK;
	return n;
}

size_t probe_changes(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->call_count; i++)
		n += p->calls[i].changed;
	return n;
}

size_t probe_uncounted(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 1; i < p->call_count; i++) {
		const struct probe_call *a = &p->calls[i];
		bool uncounted = a->reply.outcome == OUTCOME_OK && !a->changed &&
		                 a->reply.env_steps >= 0 &&
		                 a->reply.env_steps == p->calls[i - 1].reply.env_steps;

		n = uncounted ? n + 1 : 0;
	}
	return n;
}

const struct probe_call *probe_good(const struct probe *p, size_t i)
{
	return &p->calls[p->good[i]];
}

/* A failure decides; else what is needed and unknown keeps it open. */
static void add_to_fitness(const struct property *found, bool is_needed, struct probe_summary *out)
{
	enum property_status s = found->status;

	if (s == PROPERTY_FAIL && out->fit != PROPERTY_FAIL) {
		buf_clear(&out->fit_why);
		out->fit = PROPERTY_FAIL;
	} else if (s == PROPERTY_UNKNOWN && is_needed && out->fit == PROPERTY_OK) {
		buf_clear(&out->fit_why);
		out->fit = PROPERTY_UNKNOWN;
	}
	if (s == out->fit && (is_needed || s == PROPERTY_FAIL)) {
		buf_printf(&out->fit_why, "%s%s %s", out->fit_why.n ? "; " : "", found->name,
		           buf_cstr(&found->value));
	}
}

static void report(struct probe *p, struct property *found, struct probe_summary *out)
{
	out->count[found->status]++;
	p->conf->judged(p->conf->ctx, found);
}

static int judge_one(struct probe *p, size_t i, struct probe_summary *out, struct error *err)
{
	struct property found = property_begin(property_titles[i].name);
	int failed = properties[i](p, &found, err);

	if (!failed) {
		add_to_fitness(&found, needed[i], out);
		report(p, &found, out);
	}
	property_end(&found);
	return failed;
}

/* Runs last, because the call the model is asked for comes from the properties before. */
static int judge_model(struct probe *p, struct probe_summary *out, struct error *err)
{
	const struct probe_call *good = p->good_count ? probe_good(p, 0) : NULL;
	struct preflight f = {.conf = p->conf->model,
	                      .io = p->conf->io,
	                      .tasks = p->conf->tasks,
	                      .trainer = p->conf->trainer,
	                      .sessions = p->got_env,
	                      .tools = p->tools,
	                      .good_name = good ? good->name : STR_NONE,
	                      .good_arguments = good ? good->arguments : STR_NONE};
	int failed = preflight_ask_all(&f, err);

	for (size_t i = 0; !failed && i < ARRAY_LEN(preflights); i++) {
		struct property found = property_begin(preflight_titles[i].name);

		preflights[i](&f, &found);
		report(p, &found, out);
		property_end(&found);
	}
	out->model_requests = f.requests;
	out->model_lost = preflight_lost(&f);
	preflight_release(&f);
	return failed;
}

/* Fails when the first session could not be opened because the server was not reached. */
static int check_reachable(struct probe *p, struct error *err)
{
	const struct session *first = &p->sessions[0];

	if (p->opened || (first->status != SESSION_LOST && first->status != SESSION_LATE))
		return 0;
	return error_set(err, first->status == SESSION_LATE ? FAIL_TIMEOUT : FAIL_TRANSPORT, "%s",
	                 first->last.message);
}

static int examine(struct probe *p, struct probe_summary *out, struct error *err)
{
	if (probe_open_sessions(p, err) || check_reachable(p, err))
		return -1;
	if (p->opened) {
		const struct env_facts *f = session_facts(&p->sessions[0]);

		p->state_kind = f->state_kind;
		p->traits = f->traits;
		p->conf->opened(p->conf->ctx, f);
	}
	if (probe_act(p, err))
		return -1;
	if (p->opened && p->sessions[0].env)
		p->tools = arena_str(&p->arena, session_facts(&p->sessions[0])->tools);
	for (size_t i = 0; i < ARRAY_LEN(properties); i++)
		if (judge_one(p, i, out, err))
			return -1;
	return p->conf->model ? judge_model(p, out, err) : 0;
}

/* Longer than a responsive server needs for a close, shorter than the deadline of a close. */
#define UNRESPONSIVE_MS 1000
#define SHORT_CLOSE_MS  20

bool probe_lacks_sessions(const struct probe *p, struct property *out)
{
	if (!p->got_env) {
		property_say(out, PROPERTY_UNKNOWN, "not tested",
		             p->opened ? "no session got an environment" : "no session was opened",
		             NULL);
	}
	return !p->got_env;
}

void probe_close_sessions(struct probe *p)
{
	struct io *io = p->conf->io;

	for (size_t i = 0; i < p->conf->sessions; i++) {
		uint64_t began = io_now_ns(io);

		session_close(&p->sessions[i]);
		/* processes close independently: one slow close says nothing about others */
		if (!p->traits.own_server && (io_now_ns(io) - began) / 1000000 >= UNRESPONSIVE_MS)
			io_cap_waits(io, SHORT_CLOSE_MS);
	}
	io_cap_waits(io, UINT64_MAX);
}

static void close_everything(struct probe *p)
{
	io_ignore_stop(p->conf->io); /* closes have their own deadline */
	probe_close_sessions(p);
	for (size_t i = 0; i < p->conf->sessions; i++)
		session_release(&p->sessions[i]);
	session_pool_release(&p->pool);
	series_release(&p->states);
	series_release(&p->replies);
	arena_release(&p->arena);
	free(p->sessions);
	free(p->neighbors);
}

int probe_run(const struct probe_conf *conf, struct probe_summary *out, struct error *err)
{
	struct probe p = {.conf = conf,
	                  .env = conf->env,
	                  .pool = {.ops = conf->env_ops, .io = conf->io},
	                  .seed = conf->env.has_seed ? conf->env.seed : SEED_DEFAULT,
	                  .first_effect = CALLS_MAX};

	*out = (struct probe_summary){.fit = PROPERTY_OK, .fit_why = BUF(BUF_MAX_SMALL)};
	p.pool.conf = &p.env;
	p.env.has_seed = true;
	p.env.seed = p.seed;
	p.sessions = mem_array(conf->sessions, sizeof(*p.sessions));
	p.neighbors = mem_array(conf->sessions, sizeof(*p.neighbors));
	p.pool.all = p.sessions;
	p.pool.all_count = conf->sessions;
	int failed = session_pool_init(&p.pool, err) || examine(&p, out, err) ? -1 : 0;
	if (p.pool.lost.kind != FAIL_TIMEOUT)
		out->lost = p.pool.lost;
	out->capacity = p.got_env;
	close_everything(&p);
	return failed;
}
