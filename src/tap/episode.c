/* From what decoders report to the lines of a recording: see episode.h. */
#include "base/log.h"
#include "base/text.h"
#include "env/reading.h"
#include "json/write.h"
#include "tap/episode_internal.h"

#include <stdlib.h>

/* ---- the recording ---- */

struct tap_recording *tap_recording_new(const struct tap_recording_conf *conf)
{
	struct tap_recording *r = mem_new(sizeof(*r));

	r->conf = *conf;
	r->question = BUF(BUF_MAX_MESSAGE);
	r->pool = scratch_pool_new();
	r->joiner = conf->model_url ? tap_joiner_new(r) : NULL;
	return r;
}

void tap_recording_free(struct tap_recording *r)
{
	if (r) {
		tap_joiner_free(r->joiner);
		naming_release(&r->naming);
		buf_release(&r->question);
		scratch_pool_free(r->pool);
		free(r);
	}
}

const struct tap_counts *tap_recording_counts(const struct tap_recording *r)
{
	return &r->counts;
}

const struct error *tap_recording_failure(const struct tap_recording *r)
{
	return &r->failure;
}

uint64_t tap_now_ns(const struct tap_recording *r)
{
	return r->conf.clock.monotonic_ns(r->conf.clock.ctx);
}

bool tap_is_broken(const struct tap_recording *r)
{
	return r->failure.kind != FAIL_NONE;
}

void tap_stop_recording(struct tap_recording *r)
{
	log_error("%s; nothing more is recorded, but everything is still relayed", r->failure.text);
}

/* ---- lines ---- */

void tap_lines_open(struct tap_recording *r, const char *id, bool apart, struct tap_lines *out)
{
	struct recorder *recorder = NULL;

	if (!tap_is_broken(r) &&
	    r->conf.open(r->conf.ctx, id, apart, &recorder, &out->own, &r->failure))
		tap_stop_recording(r);
	line_writer_init(&out->writer, recorder, r->conf.sinks, r->conf.sink_count, r->conf.clock,
	                 r->pool);
	out->writer.rollout = id;
}

void tap_lines_close(struct tap_recording *r, struct tap_lines *l, const struct end_fields *f)
{
	if (!tap_is_broken(r) && line_writer_end(&l->writer, f, &r->failure))
		tap_stop_recording(r);
	bool broken = tap_is_broken(r);
	if (l->own && r->conf.close(r->conf.ctx, l->own, broken ? ERROR_IGNORED : &r->failure) &&
	    !broken)
		tap_stop_recording(r);
}

/* The number of its turns so far. */
static int64_t turns_of(const struct tap_session *s)
{
	return s->r->joiner ? s->episode->talk.turns : s->episode->steps;
}

static void put_event(struct tap_session *s, const struct event *e)
{
	log_info("event: %s %.*s", event_kind_name(e->kind), STR_ARG(e->detail));
	if (!tap_is_broken(s->r) &&
	    line_writer_event(&s->episode->lines.writer, turns_of(s), e, &s->r->failure))
		tap_stop_recording(s->r);
}

static void put_waiting(struct tap_session *s)
{
	struct event e;

	while (events_take(&s->waiting, &e))
		put_event(s, &e);
}

static void put_header(struct tap_session *s, const struct tap_episode_start *f, const char *task,
                       int64_t sample)
{
	static const struct tap_env_facts unknown = {.protocol = PROTOCOL_UNKNOWN};
	const struct tap_env_facts *e = f->env ? f->env : &unknown;
	struct header_fields h = {.task = task,
	                          .reset_args = f->reset_args,
	                          .sample = sample,
	                          .has_seed = f->has_seed,
	                          .seed = f->seed,
	                          .protocol = protocol_name(s->protocol),
	                          .env_name = e->name,
	                          .env_version = e->version,
	                          .state_kind = f->state_kind,
	                          .state_target = f->state_target,
	                          .state_arguments = f->state_arguments,
	                          .state_ignore = buf_view(&s->episode->ignored.json),
	                          .tools = e->tools,
	                          .policy_kind = s->r->joiner ? POLICY_LLM : POLICY_UNKNOWN,
	                          .max_turns = -1,
	                          .version = s->r->conf.version,
	                          .url = str_from(s->r->conf.url),
	                          .session = buf_view(&s->session),
	                          .env_session = buf_view(&s->env_session),
	                          .client_port = s->connection.client_port,
	                          .revision = e->revision,
	                          .era = e->era,
	                          .transport = e->transport};

	if (!tap_is_broken(s->r) &&
	    line_writer_header(&s->episode->lines.writer, &h, &s->r->failure))
		tap_stop_recording(s->r);
}

static void put_reset(struct tap_session *s, const struct env_reply *reply)
{
	if (!tap_is_broken(s->r) &&
	    line_writer_reset(&s->episode->lines.writer, reply, STR_NONE, &s->r->failure))
		tap_stop_recording(s->r);
}

static struct str total_reward(const struct tap_episode *e, struct buf *out)
{

	if (e->total.n)
		return buf_view(&e->total);
	if (!e->rewarded)
		return STR_NONE;
	json_pack(out, "%f", e->reward);
	return buf_view(out);
}

/* Writes the end line and frees the episode. */
static void finish(struct tap_session *s, enum end_status status, const char *reason)
{
	struct tap_recording *r = s->r;
	struct tap_episode *e = s->episode;
	AUTO_BUF reward = BUF(BUF_MAX_SMALL);

	tap_join_end(s);
	struct end_fields f = {.status = status,
	                       .reason = reason,
	                       .turns = turns_of(s),
	                       .steps = e->steps,
	                       .total_reward = total_reward(e, &reward),
	                       .reward_components = buf_given(&e->components),
	                       .state = s->state_known ? buf_view(&s->state) : STR_NONE,
	                       .ignore = e->ignored.paths,
	                       .took_ms = (tap_now_ns(r) - e->began_ns) / 1000000};

	tap_lines_close(r, &e->lines, &f);
	BUFS_RELEASE(&e->id, &e->total, &e->components);
	ignore_paths_release(&e->ignored);
	arena_release(&e->arena);
	free(e);
	s->episode = NULL;
	s->state_known = false;
}

void tap_episode_end(struct tap_session *s, enum end_status status, const char *reason)
{
	if (!s->episode)
		return;
	tap_steps_over(s, reason);
	enum end_status over = s->episode->over;
	if (over != END_UNKNOWN) {
		status = over;
		reason = over == END_TERMINATED ? "the environment reported terminated"
		                                : "the environment reported truncated";
	}
	finish(s, status, reason);
}

/* ---- names ---- */

static const char reset_again[] = "the client reset the session";

static void join_group(struct tap_session *s, struct str data)
{
	AUTO_BUF canon = BUF(BUF_MAX_SMALL);
	struct naming_group *g = NULL;

	if (s->group && s->group->bursts == s->burst) /* it goes on to its next episode */
		s->group->open = false;
	json_canon(data.n ? data : STR("null"), NULL, JSON_EDIT_DROP, &canon);
	if (data.n && !canon.full)
		g = naming_join(&s->r->naming, buf_view(&canon), tap_now_ns(s->r));
	s->group = g;
	s->sample = g ? g->members - 1 : -1;
	s->burst = g ? g->bursts : 0;
	s->reset_ns = tap_now_ns(s->r);
}

void tap_reset_answered(struct tap_session *s, struct str data)
{
	tap_episode_end(s, END_STOPPED, reset_again);
	join_group(s, data);
	s->r->counts.episodes++;
}

/* False: it belongs to no task. */
static bool name_task(const struct tap_session *s, const struct tap_episode_start *f,
                      struct buf *task)
{
	naming_clean(f->task.n                  ? f->task
	             : f->env && f->env->name.n ? f->env->name
	                                        : str_from(protocol_name(s->protocol)),
	             task);
	if (s->group && f->has_seed)
		buf_printf(task, "-seed%lld", (long long)f->seed);
	else if (s->group && !f->task.n)
		naming_put_digest(s->group->item.hash, task);
	if (s->burst > 1)
		buf_printf(task, "-%llu", (unsigned long long)s->burst);
	return s->group || f->task.n;
}

static void name_rollout(struct tap_session *s, struct str wire, struct str task, int64_t sample,
                         struct buf *id)
{
	if (wire.n && !naming_is_random(wire)) {
		naming_clean(wire, id);
	} else {
		buf_str(id, task);
		if (sample >= 0) {
			buf_printf(id, ".%lld", (long long)sample);
		} else {
			buf_printf(id, ".s%llu.%lld", (unsigned long long)s->number,
			           (long long)s->episodes);
		}
	}
	naming_claim(&s->r->naming, id);
}

/* ---- episodes ---- */

static void choose_ignored(struct tap_episode *e, const struct tap_episode_start *f)
{
	static const struct env_conf none = {.ignore_count = 0};
	struct error err = {0};

	e->ignored.aside = f->aside;
	if (ignore_paths_choose(&e->ignored, &none, f->first_state, &err))
		buf_clear(&e->ignored.json); /* only pointers that are given can be wrong */
}

static void begin(struct tap_session *s, const struct tap_episode_start *f)
{
	AUTO_BUF task = BUF(BUF_MAX_SMALL);
	struct tap_episode *e = s->episode = mem_new(sizeof(*e));

	if (f->env && f->env->protocol != PROTOCOL_UNKNOWN)
		s->protocol = f->env->protocol;
	if (!s->reset_ns)
		join_group(s, f->data);
	e->id = BUF(BUF_MAX_SMALL);
	choose_ignored(e, f);
	e->began_ns = e->last_ns = s->reset_ns;
	s->reset_ns = 0;
	bool has_task = name_task(s, f, &task);
	name_rollout(s, f->id, buf_view(&task), s->sample, &e->id);
	tap_lines_open(s->r, buf_cstr(&e->id), false, &e->lines);
	put_header(s, f, has_task ? buf_cstr(&task) : NULL, s->sample);
	s->episodes++;
	s->counted = true;
	e->talk.answered_ns = e->began_ns;
}

static void end_refused(struct tap_session *s, const char *what, const struct env_reply *reply)
{
	AUTO_BUF reason = BUF(BUF_MAX_MESSAGE);

	buf_text(&reason, what);
	buf_str(&reason, reply->error.message);
	finish(s,
	       reply->outcome == OUTCOME_TRANSPORT_ERROR || reply->outcome == OUTCOME_TIMEOUT
	               ? END_UNREACHABLE
	               : END_REFUSED,
	       buf_cstr(&reason));
	s->r->counts.refused++;
}

void tap_episode_begin(struct tap_session *s, const struct tap_episode_start *f)
{
	bool counted = s->reset_ns != 0;

	tap_episode_end(s, END_STOPPED, reset_again);
	begin(s, f);
	if (f->reset) {
		put_reset(s, f->reset);
	} else if (protocol_has(s->protocol, HAS_RESETS)) {
		s->r->counts.replaced++;
		tap_note(s, EVENT_SESSION_REPLACED, "session",
		         STR("the first message of this session is a step, not a reset: the "
		             "client has reconnected, or forgot the reset"));
	}
	put_waiting(s);
	if (f->reset && f->reset->outcome != OUTCOME_OK) {
		end_refused(s, "the reset failed: ", f->reset);
		return;
	}
	s->r->counts.episodes += !counted;
	buf_set(&s->start, f->reset ? f->reset->observation : STR_NONE);
	buf_set(&s->seen, buf_view(&s->start));
	if (f->reset && f->reset->terminated > 0)
		s->episode->over = END_TERMINATED;
}

struct hidden_error_context tap_episode_before(const struct tap_session *s)
{
	return reading_before(&s->start, &s->seen);
}

bool tap_episode_is_open(const struct tap_session *s)
{
	return s->episode != NULL;
}

void tap_session_refused(struct tap_session *s, const struct tap_env_facts *env,
                         const struct env_reply *refusal)
{
	struct tap_episode_start f = {.env = env, .first_state = STR("null")};

	tap_episode_end(s, END_STOPPED, "the server refused to go on");
	begin(s, &f);
	put_reset(s, refusal);
	put_waiting(s);
	end_refused(s, "the server refused the session: ", refusal);
}

void tap_state(struct tap_session *s, struct str state)
{
	buf_set(&s->state, state);
	s->state_known = state.p && !s->state.full;
}

void tap_event(struct tap_session *s, enum event_kind kind, struct str detail)
{
	struct event e = {kind, detail};

	if (s->episode)
		put_event(s, &e);
	else
		events_push(&s->waiting, kind, detail);
}

void tap_note(struct tap_session *s, enum event_kind kind, const char *what, struct str why)
{
	AUTO_BUF detail = BUF(BUF_MAX_SMALL);

	json_pack(&detail, "{what:%t,why:%s}", what, text_utf8_cut(why, 4096));
	tap_event(s, kind, buf_view(&detail));
}

void tap_remark(struct tap_recording *r, const struct tap_connection *c, const char *what)
{
	r->counts.remarks++;
	log_info("connection %llu from port %u: %s", (unsigned long long)c->id, c->client_port,
	         what);
}

void tap_total(struct tap_session *s, struct str reward, struct str components)
{
	struct tap_episode *e = s->episode;

	if (e && reward.p) {
		e->total.max = BUF_MAX_SMALL;
		e->components.max = BUF_MAX_MESSAGE;
		buf_set(&e->total, reward);
		buf_set(&e->components, components);
	}
}
