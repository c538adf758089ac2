/* Sessions that play back a recording: see playback.h. */
#include "serve/playback/playback.h"

#include "base/log.h"
#include "base/text.h"
#include "json/canon.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHOWN_MAX ((size_t)300) /* bytes of a call's arguments in a message */

const char *const playback_matches[] = {[MATCH_EXACT] = "exact",
                                        [MATCH_ARGUMENTS] = "arguments",
                                        [MATCH_SEQUENTIAL] = "sequential"};

int playback_new(const struct playback_conf *conf, struct playback_source **out, struct error *err)
{
	struct playback_source *p = mem_new(sizeof(*p));

	p->match = conf->match;
	p->loop = conf->loop;
	if (recorded_read(conf->path, &p->recorded, err)) {
		playback_free(p);
		return -1;
	}
	*out = p;
	return 0;
}

void playback_free(struct playback_source *p)
{
	if (p) {
		recorded_release(&p->recorded);
		free(p);
	}
}

const struct recorded_rollout *playback_sample(const struct playback_source *p)
{
	const struct recorded *r = &p->recorded;

	for (size_t i = 0; i < r->count; i++)
		if (r->rollouts[i]->tools.p)
			return r->rollouts[i];
	return r->rollouts[0];
}

/* ---- choosing a rollout ---- */

static bool has_seed(const struct recorded_rollout *r, const struct playback_request *w)
{
	return !w->has_seed || (r->has_seed && r->seed == w->seed);
}

static bool has_args(const struct recorded_rollout *r, const struct playback_request *w)
{
	return json_count(w->reset_args) == 0 ||
	       (r->reset_args.p && json_equal(r->reset_args, w->reset_args));
}

static bool any_seed(const struct recorded *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->rollouts[i]->has_seed)
			return true;
	return false;
}

/* Of the matching rollouts the one played least often; without `loop` each is played once. */
static struct recorded_rollout *next_matching(struct playback_source *p,
                                              const struct playback_request *w, bool args_too)
{
	struct recorded *r = &p->recorded;
	struct recorded_rollout *best = NULL;

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];
		bool usable = p->loop || one->plays == 0;

		if (usable && has_seed(one, w) && (!args_too || has_args(one, w)) &&
		    (!best || one->plays < best->plays)) {
			best = one;
		}
		if (best && best->plays == 0)
			break;
	}
	return best;
}

static void explain_none(const struct playback_source *p, const struct playback_request *w,
                         struct buf *why)
{
	const struct recorded *r = &p->recorded;
	bool by_seed = w->has_seed && any_seed(r);
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		count += !by_seed || has_seed(r->rollouts[i], w);
	buf_clear(why);
	buf_printf(why, "the recording has %zu rollout%s", count, count == 1 ? "" : "s");
	if (by_seed)
		buf_printf(why, " with seed %" PRId64, w->seed);
	if (count)
		buf_text(why, ", and all have been played: restart the server, or use loop mode");
	log_warn("serve: %s", buf_cstr(why));
}

static struct recorded_rollout *choose_rollout(struct playback_source *p,
                                               const struct playback_request *wanted)
{
	struct playback_request w = *wanted;
	struct recorded_rollout *one;

	w.has_seed = w.has_seed && any_seed(&p->recorded);
	one = next_matching(p, &w, true);
	return one ? one : next_matching(p, &w, false);
}

static void set_rollout(struct playback_session *s, struct recorded_rollout *one)
{
	s->rollout = one;
	one->session = s;
}

static void assign_rollout(struct playback_session *s, struct recorded_rollout *one)
{
	one->plays++;
	set_rollout(s, one);
}

static void start(struct playback_session *s)
{
	s->next = 0;
	s->last = NULL;
	s->rewards = 0;
	s->state_read = false;
	s->state_unread = true;
}

struct playback_session *playback_begin(struct playback_source *p,
                                        const struct playback_request *wanted, struct buf *why)
{
	struct recorded_rollout *one = choose_rollout(p, wanted);

	if (!one) {
		explain_none(p, wanted, why);
		return NULL;
	}
	struct playback_session *s = mem_new(sizeof(*s));

	s->all = p;
	s->made_request = wanted->has_seed;
	assign_rollout(s, one);
	start(s);
	log_info("serve: a session plays rollout %.*s", STR_ARG(one->id));
	return s;
}

/* If all matching rollouts are in use, takes one over from a session that has not asked for
   anything yet. */
static bool take_over_unused(struct playback_session *s, const struct playback_request *wanted)
{
	const struct recorded *r = &s->all->recorded;

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];
		struct playback_session *session = one->session;

		if (session && session != s && !session->made_request && !session->last &&
		    has_seed(one, wanted)) {
			set_rollout(session, s->rollout);
			set_rollout(s, one);
			return true;
		}
	}
	return false;
}

bool playback_reset(struct playback_session *s, const struct playback_request *wanted,
                    struct buf *why)
{
	struct recorded_rollout *old = s->rollout;
	bool fits = !any_seed(&s->all->recorded) ||
	            (has_seed(old, wanted) && (has_args(old, wanted) || s->last));

	if (!fits) {
		old->plays--;
		old->session = NULL;
		struct recorded_rollout *other = choose_rollout(s->all, wanted);

		assign_rollout(s, other ? other : old);
		if (!other && !take_over_unused(s, wanted)) {
			explain_none(s->all, wanted, why);
			return false;
		}
		log_info("serve: the session plays rollout %.*s instead", STR_ARG(s->rollout->id));
	}
	start(s);
	s->made_request = true;
	return true;
}

void playback_end(struct playback_session *s)
{
	if (s) {
		s->rollout->session = NULL;
		free(s);
	}
}

/* ---- matching calls ---- */

static void show_call(struct str name, struct str arguments, struct buf *out)
{
	struct str shown = text_utf8_cut(arguments, SHOWN_MAX);

	buf_printf(out, "%.*s %.*s%s", STR_ARG(name), STR_ARG(shown),
	           shown.n < arguments.n ? ".." : "");
}

static uint64_t key_of(struct str name, struct str arguments)
{
	AUTO_BUF canon = BUF(BUF_MAX_MESSAGE);

	json_canon(json_is_null(arguments) ? STR("{}") : arguments, NULL, JSON_EDIT_DROP, &canon);
	uint64_t key = recorded_key(name, buf_view(&canon));

	return key;
}

/* Searches forward from the current position, then from the beginning. */
static const struct recorded_call *find_equal(const struct playback_session *s, uint64_t key)
{
	const struct recorded_rollout *r = s->rollout;

	for (size_t i = 0; r->calls && i < r->count; i++) {
		const struct recorded_call *c = &r->calls[(s->next + i) % r->count];

		if (c->key == key)
			return c;
	}
	return NULL;
}

/* An equal call, else the next one of that tool; NULL: none. */
static const struct recorded_call *nearest(const struct playback_session *s, struct str name,
                                           uint64_t key)
{
	const struct recorded_rollout *r = s->rollout;
	const struct recorded_call *near = find_equal(s, key);

	for (size_t i = 0; r->calls && !near && i < r->count; i++) {
		const struct recorded_call *c = &r->calls[(s->next + i) % r->count];

		near = str_eq(c->name, name) ? c : NULL;
	}
	return near;
}

static void explain_miss(const struct playback_session *s, struct str name, struct str arguments,
                         uint64_t key, struct buf *why)
{
	const struct recorded_rollout *r = s->rollout;
	const struct recorded_call *near = nearest(s, name, key);
	size_t place = near ? (size_t)(near - r->calls) : s->next;

	buf_set(why, STR("not in the recording: "));
	show_call(name, json_is_null(arguments) ? STR("{}") : arguments, why);
	buf_printf(why, ", call %zu of rollout %.*s", s->next, STR_ARG(r->id));
	if (s->next >= r->count) {
		buf_printf(why, "; the recording ends after %zu call%s", r->count,
		           r->count == 1 ? "" : "s");
	} else if (s->all->match == MATCH_EXACT) {
		buf_printf(why, "; recorded as call %zu: ", s->next);
		show_call(r->calls[s->next].name, r->calls[s->next].arguments, why);
	}
	if (place != s->next) {
		buf_printf(why, "; nearest recorded call: %zu: ", place);
		show_call(near->name, near->arguments, why);
	}
	log_warn("serve: %s", buf_cstr(why));
}

static const struct recorded_call *find_call(const struct playback_session *s, uint64_t key)
{
	const struct recorded_rollout *r = s->rollout;
	const struct recorded_call *next = s->next < r->count ? &r->calls[s->next] : NULL;

	switch (s->all->match) {
	case MATCH_EXACT:
		return next && next->key == key ? next : NULL;
	case MATCH_ARGUMENTS:
		return find_equal(s, key);
	case MATCH_SEQUENTIAL:
		break;
	}
	return next;
}

static void advance(struct playback_session *s, const struct recorded_call *c)
{
	double reward;

	s->last = c;
	s->next = (size_t)(c - s->rollout->calls) + 1;
	s->state_unread = false;
	s->state_read = false;
	if (c->reply.outcome == OUTCOME_OK && json_double(c->reply.reward, &reward))
		s->rewards += reward;
}

const struct recorded_call *playback_call(struct playback_session *s, struct str name,
                                          struct str arguments, struct buf *why)
{
	uint64_t key = key_of(name, arguments);
	const struct recorded_call *c = find_call(s, key);

	if (c)
		advance(s, c);
	else
		explain_miss(s, name, arguments, key, why);
	return c;
}

bool playback_reads_state(struct playback_session *s, struct str name, struct str arguments)
{
	const struct recorded_rollout *r = s->rollout;

	if (r->state_kind != STATE_TOOL)
		return false;
	uint64_t key = key_of(name, arguments);

	s->state_key = s->state_key ? s->state_key : key;
	bool next_is_same = s->next < r->count && r->calls[s->next].key == key;

	if (key != s->state_key || (s->state_read && next_is_same))
		return false;
	s->state_read = true;
	return true;
}

/* ---- current state ---- */

struct str playback_state(const struct playback_session *s)
{
	return s->last ? s->last->after : s->rollout->first_state;
}

const struct recorded_reply *playback_last(const struct playback_session *s)
{
	return s->last ? &s->last->reply : &s->rollout->reset;
}

/* The count before the first call is not recorded: it is derived from the count after it. */
int64_t playback_steps(const struct playback_session *s)
{
	const struct recorded_rollout *r = s->rollout;
	int64_t first = r->count ? r->calls[0].reply.env_steps : 0;

	if (s->last)
		return s->last->reply.env_steps;
	return first > 0 && r->calls[0].reply.outcome == OUTCOME_OK ? first - 1 : first;
}

/* At the end the recorded total if known; otherwise the sum of the rewards so far. */
void playback_total(const struct playback_session *s, struct buf *out)
{
	const struct recorded_rollout *r = s->rollout;

	if (s->next == r->count && r->total_reward.p) {
		buf_str(out, r->total_reward);
		return;
	}
	json_pack(out, "%f", s->rewards);
}

struct str playback_control_state(struct playback_session *s)
{
	bool state_unread = s->state_unread;
	struct str start = s->rollout->reset.observation;

	s->state_unread = false;
	struct str now = playback_state(s);

	if (s->rollout->state_kind != STATE_CONTROL_PLANE || (state_unread && start.p))
		return start;
	return now.p || s->last ? now : start;
}
