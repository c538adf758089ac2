/* One property after the other, and everything closed at the end: see probe.h. */
#include "probe/inside.h"
#include "probe/preflight.h"

#include <stdlib.h>

const struct property_title property_titles[] = {
#define PROPERTY(id, name, title) {name, title},
#include "probe/properties.def"
#undef PROPERTY
};
const size_t property_titles_count = ARRAY_LEN(property_titles);

static const struct property_ops *const properties[] = {
#define PROPERTY(id, name, title) &property_##id,
#include "probe/properties.def"
#undef PROPERTY
};

const struct property_title preflight_titles[] = {
#define PREFLIGHT(id, name, title) {name, title},
#include "probe/preflight.def"
#undef PREFLIGHT
};
const size_t preflight_titles_count = ARRAY_LEN(preflight_titles);

static const struct preflight_ops *const preflights[] = {
#define PREFLIGHT(id, name, title) &preflight_##id,
#include "probe/preflight.def"
#undef PREFLIGHT
};

const char *property_status_name(enum property_status s)
{
	static const char *const names[PROPERTY_STATUSES] = {"ok", "red", "unknown",
	                                                     "skipped"};
	return names[s];
}

/* ---- words ---- */

void property_judge(struct property *out, enum property_status status, const char *fmt,
                    ...)
{
	va_list args;

	out->status = status;
	buf_clear(&out->value);
	va_start(args, fmt);
	buf_vprintf(&out->value, fmt, args);
	va_end(args);
}

static void add_sentence(struct buf *to, const char *fmt, va_list args)
{
	buf_text(to, to->n ? "; " : "");
	buf_vprintf(to, fmt, args);
}

void property_saw(struct property *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_sentence(&out->evidence, fmt, args);
	va_end(args);
}

void property_advise(struct property *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_sentence(&out->cure, fmt, args);
	va_end(args);
}

void property_quote(struct property *out, const struct answer *r)
{
	buf_text(&out->evidence, out->evidence.n ? ": " : "");
	answer_say(r, &out->evidence);
}

const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- small questions ---- */

bool probe_is_openenv(const struct probe *p)
{
	return str_starts(str_from(p->conf->env_ops->name), STR("openenv"));
}

size_t probe_ok_acts(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->act_count; i++) {
		n += p->acts[i].answer.outcome == OUTCOME_OK;
	}
	return n;
}

int64_t probe_count_after_acts(const struct probe *p)
{
	int64_t count = -1;

	for (size_t i = 0; i < p->act_count; i++) {
		int64_t now = p->acts[i].answer.env_steps;

		count = now >= 0 ? now : count;
	}
	return count;
}

bool probe_counts(const struct probe *p)
{
	int64_t count = probe_count_after_acts(p);

	return count > 1 || (count == 1 && probe_ok_acts(p) == 1);
}

size_t probe_uncounted(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 1; i < p->act_count; i++) {
		const struct act *a = &p->acts[i];
		bool in_vain = a->answer.outcome == OUTCOME_OK && !a->changed &&
		               a->answer.env_steps >= 0 &&
		               a->answer.env_steps == p->acts[i - 1].answer.env_steps;

		n = in_vain ? n + 1 : 0;
	}
	return n;
}

const struct act *probe_good(const struct probe *p, size_t i)
{
	return &p->acts[p->good[i]];
}

/* ---- the course of things ---- */

static struct property blank(const char *name)
{
	return (struct property){.name = name,
	                         .status = PROPERTY_UNKNOWN,
	                         .value = BUF(BUF_MAX_SMALL),
	                         .evidence = BUF(BUF_MAX_SMALL),
	                         .cure = BUF(BUF_MAX_SMALL)};
}

static void tell(struct probe *p, struct property *found, struct probe_summary *out)
{
	out->count[found->status]++;
	p->conf->judged(p->conf->ctx, found);
}

static void forget(struct property *found)
{
	buf_release(&found->value);
	buf_release(&found->evidence);
	buf_release(&found->cure);
}

static int judge_one(struct probe *p, size_t i, struct probe_summary *out,
                     struct error *err)
{
	struct property found = blank(property_titles[i].name);
	int failed = properties[i]->examine(p, &found, err);

	if (!failed) {
		tell(p, &found, out);
	}
	forget(&found);
	return failed;
}

/* The model comes last: what it is asked to call is known by then. */
static int judge_model(struct probe *p, struct probe_summary *out, struct error *err)
{
	struct preflight f = {.probe = p, .conf = p->conf->model, .tools = p->tools};
	int failed = preflight_ask_all(&f, err);

	for (size_t i = 0; !failed && i < ARRAY_LEN(preflights); i++) {
		struct property found = blank(preflight_titles[i].name);

		preflights[i]->examine(&f, &found);
		tell(p, &found, out);
		forget(&found);
	}
	out->model_requests = f.requests;
	out->model_lost = preflight_lost(&f);
	preflight_release(&f);
	return failed;
}

/* Where not even the first session came about because nobody is there, there is nothing
   to judge. */
static int nobody_there(struct probe *p, struct error *err)
{
	const struct session *first = &p->sessions[0];

	if (p->opened || (first->how != SESSION_LOST && first->how != SESSION_LATE)) {
		return 0;
	}
	return error_set(err, first->how == SESSION_LATE ? FAIL_TIMEOUT : FAIL_TRANSPORT,
	                 "%s", first->last.message);
}

static int examine(struct probe *p, struct probe_summary *out, struct error *err)
{
	if (probe_open_sessions(p, err) || nobody_there(p, err)) {
		return -1;
	}
	if (p->opened) {
		const struct env_facts *f = session_facts(&p->sessions[0]);

		p->protocol = f->protocol;
		p->state_kind = f->state_kind;
		p->takes_seed = f->takes_seed;
		p->starts_over = f->starts_over;
		p->conf->opened(p->conf->ctx, f);
	}
	if (probe_act(p, err)) {
		return -1;
	}
	if (p->opened && p->sessions[0].env) {
		p->tools = arena_str(&p->arena, session_facts(&p->sessions[0])->tools);
	}
	for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
		if (judge_one(p, i, out, err)) {
			return -1;
		}
	}
	return p->conf->model ? judge_model(p, out, err) : 0;
}

/* Longer than a server takes that listens, shorter than the deadline of any goodbye. */
#define DEAF_MS  1000
#define HURRY_MS 20

void probe_close_sessions(struct probe *p)
{
	struct io *io = p->conf->io;
	bool processes = str_starts(str_from(p->conf->env.url), STR("stdio:"));

	for (size_t i = 0; i < p->conf->sessions; i++) {
		uint64_t began = io_now_ns(io);

		session_close(&p->sessions[i]);
		/* one process that lingers says nothing about another */
		if (!processes && (io_now_ns(io) - began) / 1000000 >= DEAF_MS) {
			io_hurry(io, HURRY_MS);
		}
	}
	io_hurry(io, UINT64_MAX);
}

static void close_everything(struct probe *p)
{
	io_ignore_stop(p->conf->io); /* goodbyes have their own deadline */
	probe_close_sessions(p);
	for (size_t i = 0; i < p->conf->sessions; i++) {
		session_release(&p->sessions[i]);
	}
	asking_release(&p->asking);
	arena_release(&p->arena);
	free(p->sessions);
	free(p->visits);
}

int probe_run(const struct probe_conf *conf, struct probe_summary *out, struct error *err)
{
	struct probe p = {
		.conf = conf,
		.asking = {.ops = conf->env_ops, .conf = &conf->env, .io = conf->io},
		.seed = conf->env.has_seed ? conf->env.seed : SEED_ELSE,
		.changer = ACTS_MAX};

	*out = (struct probe_summary){.capacity = 0};
	p.sessions = mem_array(conf->sessions, sizeof(*p.sessions));
	p.visits = mem_array(conf->sessions, sizeof(*p.visits));
	p.asking.all = p.sessions;
	p.asking.all_count = conf->sessions;
	int failed = asking_init(&p.asking, err) || examine(&p, out, err) ? -1 : 0;
	if (p.asking.lost.kind != FAIL_TIMEOUT) {
		out->lost = p.asking.lost;
	}
	out->capacity = p.got_room;
	close_everything(&p);
	return failed;
}
