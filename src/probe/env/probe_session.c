/* Requests to one session: see probe_session.h. */
#include "probe/env/probe_session.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "env/environments.h"
#include "env/failure.h"
#include "env/ignore_paths.h"
#include "evidence/clocks.h"

#include <stdlib.h>

#define PAUSE_MS 50 /* before the first repetition of an opening that was refused */

void timings_add(struct timings *t, uint64_t us)
{
	t->us = mem_resize(t->us, t->count + 1, sizeof(*t->us));
	t->us[t->count++] = us;
}

uint64_t timings_longest_ms(const struct timings *t)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < t->count; i++)
		longest = t->us[i] > longest ? t->us[i] : longest;
	return longest / 1000;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void timings_sort(struct timings *t)
{
	qsort(t->us, t->count, sizeof(*t->us), by_size);
}

/* Episodes are compared without their ids and step counts. */
int session_pool_init(struct session_pool *a, struct error *err)
{
	struct ignore_paths chosen = {.aside = NULL};

	a->scratch = a->masked = BUF(BUF_MAX_MESSAGE);
	int failed = ignore_paths_choose(&chosen, a->conf, STR_NONE, err);
	buf_release(&chosen.json);
	a->left_out = chosen.paths;
	return failed;
}

void session_pool_release(struct session_pool *a)
{
	free(a->open.us);
	free(a->reset.us);
	free(a->step.us);
	BUFS_RELEASE(&a->scratch, &a->masked);
	json_paths_free(a->left_out);
}

bool session_is_open(const struct session *s)
{
	return s->status == SESSION_OPEN;
}

const struct env_facts *session_facts(const struct session *s)
{
	return &s->env->facts;
}

/* ---- replies ---- */

static void read_reply(struct session_pool *a, const struct env_reply *r, struct probe_reply *out)
{
	struct str code =
		json_type(r->error.code) == JSON_STRING ? json_inner(r->error.code) : r->error.code;

	*out = (struct probe_reply){.outcome = r->outcome,
	                            .class = r->error.class,
	                            .layer = r->error.layer,
	                            .env_steps = r->env_steps,
	                            .over = r->terminated > 0 || r->truncated > 0,
	                            .has_observation = r->observation.p != NULL,
	                            .other_session = r->reply_session.p && r->env_session.p &&
	                                             !str_eq(r->reply_session, r->env_session) &&
	                                             !str_eq(r->reply_session, r->session)};
	out->reward_known = r->outcome == OUTCOME_OK && json_double(r->reward, &out->reward);
	text_copy(out->message, sizeof(out->message), r->error.message);
	text_copy(out->code, sizeof(out->code), code);
	text_copy(out->named, sizeof(out->named), r->reply_session);
	if (out->has_observation)
		json_hash(r->observation, NULL, &a->scratch, out->observation);
}

static void keep_observation(struct session *s, const struct env_reply *r)
{
	AUTO_ARENA whole = {.last = NULL};

	buf_clear(&s->observation);
	if (r->outcome == OUTCOME_OK)
		buf_str(&s->observation, env_reply_whole(r->observation, r->structured, &whole));
}

/* Records a failure caused by the peer. -1: it was not caused by the peer. */
static int record_failure(struct session_pool *a, struct session *s, const struct error *why,
                          struct error *err)
{
	struct env_reply reply;

	if (!error_is_peers(why)) {
		*err = *why;
		return -1;
	}
	env_reply_from_error(why, &reply);
	read_reply(a, &reply, &s->last);
	s->status = reply.outcome == OUTCOME_TIMEOUT ? SESSION_LATE : SESSION_LOST;
	return 0;
}

void probe_reply_describe(const struct probe_reply *r, struct buf *out)
{
	const char *layer = error_layer_name(r->layer);

	buf_text(out, r->message[0] ? r->message : outcome_name(r->outcome));
	if (r->layer == LAYER_HTTP && r->code[0]) {
		if (!strstr(r->message, "HTTP "))
			buf_printf(out, " (HTTP %s)", r->code);
	} else if (layer) {
		buf_printf(out, " (%s%s%s)", layer, r->code[0] ? " " : "", r->code);
	}
}

/* ---- events ---- */

static bool is_ours(const struct session_pool *a, const struct session *s, struct str episode)
{
	for (size_t i = 0; i < a->all_count; i++)
		if (&a->all[i] != s && a->all[i].ids[1][0] && str_is(episode, a->all[i].ids[1]))
			return true;
	return false;
}

static unsigned classify_event(const struct session_pool *a, struct session *s,
                               const struct event *e)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	unsigned bits = 0;

	if (e->kind == EVENT_SESSION_REPLACED || e->kind == EVENT_SESSION_ID_CHANGED)
		bits |= SEEN_REPLACED;
	if (e->kind == EVENT_STATE_SOURCE_LOST)
		bits |= session_facts(s)->traits.own_server ? SEEN_UNUSED_SOURCE : SEEN_SOURCE_LOST;
	json_decode(JSON_GET(e->detail, "why"), &why);
	struct str text = buf_view(&why);
	if (e->kind == EVENT_EPISODE_CHANGED) {
		/* the id is a quoted JSON string */
		struct str id = text.n > 1 ? (struct str){text.p + 1, text.n - 2} : text;

		/* an episode that is over may be followed by another one without a reset */
		bits |= is_ours(a, s, id) ? SEEN_OUR_EPISODE
		        : s->last.over    ? 0U
		                          : (unsigned)SEEN_OTHER_EPISODE;
	}
	if (e->kind == EVENT_CONTROL_PLANE_FAILED && !s->unread[0])
		text_copy(s->unread, sizeof(s->unread), text);
	if (e->kind == EVENT_NOTIFICATION && str_starts(text, STR("not informative")))
		bits |= SEEN_BARE_STATE;
	return bits;
}

static void read_events(struct session_pool *a, struct session *s)
{
	struct event e;

	while (s->env && events_take(&s->env->events, &e)) {
		log_info("event: %s %.*s", event_kind_name(e.kind), STR_ARG(e.detail));
		s->seen |= json_type(e.detail) == JSON_OBJECT ? classify_event(a, s, &e) : 0;
	}
}

/* ---- opening and closing ---- */

static uint64_t since_us(const struct session_pool *a, uint64_t began_ns)
{
	return (io_now_ns(a->io) - began_ns) / 1000;
}

static int answer_reset(struct session_pool *a, struct session *s, struct error *err)
{
	struct env_reply reply;
	struct error why = {0};
	uint64_t began = io_now_ns(a->io);

	if (env_reset(s->env, &reply, &why)) {
		read_events(a, s);
		return record_failure(a, s, &why, err);
	}
	read_reply(a, &reply, &s->last);
	keep_observation(s, &reply);
	read_events(a, s);
	s->status = SESSION_REFUSED;
	if (reply.outcome == OUTCOME_OK) {
		s->status = SESSION_OPEN;
		timings_add(&a->reset, since_us(a, began));
	} else if (reply.outcome == OUTCOME_TIMEOUT) {
		s->status = SESSION_LATE;
	}
	return 0;
}

static void copy_ids(struct session *s)
{
	const struct env_facts *f = session_facts(s);

	text_copy(s->ids[0], sizeof(s->ids[0]), f->session);
	text_copy(s->ids[1], sizeof(s->ids[1]), f->env_session);
}

static int open_one(struct session_pool *a, struct session *s, struct error *err)
{
	struct env_reply refusal;
	struct error why = {0};
	uint64_t began = io_now_ns(a->io);

	if (env_open(a->ops, &s->conf, a->io, &s->env, &refusal, &why)) {
		a->lost = why;
		return record_failure(a, s, &why, err);
	}
	a->lost.kind = FAIL_NONE; /* the server was reached */
	if (refusal.outcome != OUTCOME_OK) {
		read_reply(a, &refusal, &s->last);
		s->status = refusal.outcome == OUTCOME_TIMEOUT ? SESSION_LATE : SESSION_REFUSED;
		return 0;
	}
	timings_add(&a->open, since_us(a, began));
	if (answer_reset(a, s, err))
		return -1;
	copy_ids(s);
	return 0;
}

int session_open(struct session_pool *a, struct session *s, const int64_t *seed, struct error *err)
{
	session_release(s);
	s->start.json = s->later.json = s->observation = BUF(BUF_MAX_MESSAGE);
	s->conf = *a->conf;
	s->conf.env_session = s->id;
	if (seed) {
		s->conf.has_seed = true;
		s->conf.seed = *seed;
	}
	if (rng_unique_hex(s->id, SESSION_ID_DIGITS))
		return error_errno(err, "cannot get random bytes for a session id");
	int failed = open_one(a, s, err);
	if (!failed && s->status != SESSION_OPEN && s->env) {
		read_events(a, s);
		s->env->ops->close(s->env); /* it may have acquired resources before it failed */
		s->env = NULL;
	}
	return failed;
}

int session_open_when_free(struct session_pool *a, struct session *s, const int64_t *seed,
                           uint64_t deadline_ns, struct error *err)
{
	uint64_t pause_ms = PAUSE_MS;

	while (!session_open(a, s, seed, err)) {
		if (s->status != SESSION_REFUSED || s->last.outcome != OUTCOME_CAPACITY ||
		    io_now_ns(a->io) >= deadline_ns) {
			return 0;
		}
		if (io_wait(a->io, NULL, pause_ms, err))
			return -1;
		pause_ms = pause_ms < 500 ? 2 * pause_ms : pause_ms;
	}
	return -1;
}

int session_reset(struct session_pool *a, struct session *s, int64_t seed, struct error *err)
{
	s->conf.has_seed = true;
	s->conf.seed = seed;
	if (answer_reset(a, s, err))
		return -1;
	copy_ids(s);
	return 0;
}

void session_close(struct session *s)
{
	if (s->env)
		s->env->ops->close(s->env);
	s->env = NULL;
	s->status = SESSION_CLOSED;
}

void session_release(struct session *s)
{
	session_close(s);
	BUFS_RELEASE(&s->start.json, &s->later.json, &s->observation);
	*s = (struct session){.status = SESSION_CLOSED};
}

/* ---- calls and states ---- */

int session_step(struct session_pool *a, struct session *s, struct str name, struct str arguments,
                 struct probe_reply *out, struct error *err)
{
	struct env_reply reply;
	struct error why = {0};
	uint64_t began = io_now_ns(a->io);
	int failed = env_step(s->env, name, arguments, &reply, &why);

	timings_add(&a->step, since_us(a, began));
	if (failed && record_failure(a, s, &why, err))
		return -1;
	if (!failed) {
		read_reply(a, &reply, &s->last);
		keep_observation(s, &reply);
	}
	read_events(a, s);
	*out = s->last;
	return 0;
}

static void hash_state(struct session_pool *a, struct str state, char out[HASH_HEX + 1])
{
	buf_clear(&a->scratch);
	buf_clear(&a->masked);
	json_canon(state, a->left_out, JSON_EDIT_DROP, &a->scratch);
	clocks_mask(buf_view(&a->scratch), &a->masked);
	hash_hex(buf_view(&a->masked), out);
}

int session_read_state(struct session_pool *a, struct session *s, struct snapshot *out,
                       struct error *err)
{
	struct error why = {0};
	struct str state;

	out->known = false;
	buf_clear(&out->json);
	if (!session_is_open(s))
		return 0;
	int failed = env_state(s->env, &state, &why);
	read_events(a, s);
	if (failed)
		return record_failure(a, s, &why, err);
	if (!state.p)
		return 0;
	out->known = true;
	hash_state(a, state, out->hash);
	buf_str(&out->json, state);
	return 0;
}
