/* Sessions that play back a recording: see playback.h. */
#include "serve/playback/playback.h"

#include "base/log.h"
#include "base/text.h"
#include "json/canon.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHOWN_MAX ((size_t)300) /* bytes of a call's arguments in a message */
#define SEEDS_MAX 10            /* seeds listed in a message */

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

	while (!p->loop && p->first_unused < r->count && r->rollouts[p->first_unused]->plays > 0)
		p->first_unused++;
	for (size_t i = p->first_unused; i < r->count; i++) {
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

/* The next greater seed; NULL: none. after NULL: the smallest. */
static const int64_t *next_seed(const struct recorded *r, const int64_t *after)
{
	const int64_t *next = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_rollout *one = r->rollouts[i];

		if (one->has_seed && (!after || one->seed > *after) && (!next || one->seed < *next))
			next = &one->seed;
	}
	return next;
}

static void list_seeds(const struct recorded *r, struct buf *why)
{
	size_t count = 0;

	for (const int64_t *s = next_seed(r, NULL); s && count < SEEDS_MAX; s = next_seed(r, s))
		buf_printf(why, "%s%" PRId64, count++ ? ", " : "", *s);
}

static void explain_none(const struct playback_source *p, const struct playback_request *w,
                         struct buf *why)
{
	const struct recorded *r = &p->recorded;
	size_t with_seed = 0;

	bool by_seed = w->has_seed && any_seed(r);

	buf_clear(why);
	for (size_t i = 0; i < r->count; i++)
		with_seed += !by_seed || has_seed(r->rollouts[i], w);
	if (with_seed == 0) {
		buf_printf(why, "the recording has no rollout with seed %" PRId64 "; recorded: ",
		           w->seed);
		list_seeds(r, why);
		log_warn("serve: %s", buf_cstr(why));
		return;
	}
	buf_printf(why, "the recording has %zu rollout%s", with_seed, with_seed == 1 ? "" : "s");
	if (by_seed)
		buf_printf(why, " with seed %" PRId64, w->seed);
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

static void assign_rollout(struct playback_session *s, struct recorded_rollout *one)
{
	one->plays++;
	one->session = s;
	s->rollout = one;
}

/* Makes the rollout available to other sessions. */
static void release_rollout(struct playback_session *s)
{
	s->rollout->plays--;
	s->rollout->session = NULL;
	s->all->first_unused = 0;
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

static void set_rollout(struct playback_session *s, struct recorded_rollout *one)
{
	s->rollout = one;
	one->session = s;
	s->last = s->next ? &one->calls[s->next - 1] : NULL;
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
		release_rollout(s);
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
	struct buf canon = BUF(BUF_MAX_MESSAGE);

	json_canon(json_is_null(arguments) ? STR("{}") : arguments, NULL, JSON_EDIT_DROP, &canon);
	uint64_t key = recorded_key(name, buf_view(&canon));

	buf_release(&canon);
	return key;
}

/* Similarity of two texts: length of the common prefix and suffix, minus the rest. */
static int64_t similarity(struct str a, struct str b)
{
	size_t most = a.n < b.n ? a.n : b.n, head = 0, tail = 0;

	while (head < most && a.p[head] == b.p[head])
		head++;
	while (tail < most - head && a.p[a.n - 1 - tail] == b.p[b.n - 1 - tail])
		tail++;
	return 3 * (int64_t)(head + tail) - (int64_t)(a.n + b.n);
}

/* The same tool counts most, then the arguments, then the distance from the current position. */
static size_t nearest(const struct playback_session *s, struct str name, struct str arguments)
{
	const struct recorded_rollout *r = s->rollout;
	int64_t best = INT64_MIN;
	size_t found = 0;

	for (size_t i = 0; r->calls && i < r->count; i++) {
		const struct recorded_call *c = &r->calls[i];
		size_t away = i > s->next ? i - s->next : s->next - i;
		int64_t score = similarity(c->arguments, arguments) * 1024 +
		                (str_eq(c->name, name) ? INT64_C(1) << 40 : 0) -
		                (int64_t)(away < 1023 ? away : 1023);

		if (score > best) {
			best = score;
			found = i;
		}
	}
	return found;
}

static void explain_miss(const struct playback_session *s, struct str name, struct str arguments,
                         struct buf *why)
{
	const struct recorded_rollout *r = s->rollout;
	struct buf canon = BUF(BUF_MAX_MESSAGE);

	json_canon(json_is_null(arguments) ? STR("{}") : arguments, NULL, JSON_EDIT_DROP, &canon);
	arguments = buf_view(&canon);
	size_t near = nearest(s, name, arguments);

	buf_clear(why);
	buf_text(why, "not in the recording: ");
	show_call(name, arguments, why);
	buf_printf(why, ", call %zu of rollout %.*s", s->next, STR_ARG(r->id));
	if (s->next < r->count && s->all->match == MATCH_EXACT) {
		buf_printf(why, "; recorded as call %zu: ", s->next);
		show_call(r->calls[s->next].name, r->calls[s->next].arguments, why);
	} else if (s->next >= r->count) {
		buf_printf(why, "; the recording ends after %zu call%s", r->count,
		           r->count == 1 ? "" : "s");
	}
	if (r->count > 0 && (near != s->next || s->all->match != MATCH_EXACT)) {
		buf_printf(why, "; nearest recorded call: %zu: ", near);
		show_call(r->calls[near].name, r->calls[near].arguments, why);
	}
	log_warn("serve: %s", buf_cstr(why));
	buf_release(&canon);
}

/* Searches forward from the current position, then from the beginning. */
static const struct recorded_call *find_equal(const struct playback_session *s, uint64_t key)
{
	const struct recorded_rollout *r = s->rollout;

	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_call *c = &r->calls[(s->next + i) % r->count];

		if (c->key == key)
			return c;
	}
	return NULL;
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

/* Compares hashes, which leave out ignored members: ids, counters, clocks. */
static bool same_state(struct str hash, struct str state, struct str other_hash, struct str other)
{
	return hash.p && other_hash.p ? str_eq(hash, other_hash) : json_equal(state, other);
}

/* Are the first `calls` calls and replies of both rollouts equal? */
static bool same_prefix(const struct recorded_rollout *a, const struct recorded_rollout *b,
                        size_t calls)
{
	bool alike = a->has_seed == b->has_seed && a->seed == b->seed && a->count >= calls &&
	             b->count >= calls && json_equal(a->reset_args, b->reset_args) &&
	             json_equal(a->reset.observation, b->reset.observation) &&
	             same_state(a->first_hash, a->first_state, b->first_hash, b->first_state);

	for (size_t i = 0; alike && i < calls; i++) {
		const struct recorded_call *x = &a->calls[i], *y = &b->calls[i];

		alike = x->key == y->key && x->reply.outcome == y->reply.outcome &&
		        json_equal(x->reply.observation, y->reply.observation) &&
		        json_equal(x->reply.reward, y->reply.reward) &&
		        same_state(x->after_hash, x->after, y->after_hash, y->after);
	}
	return alike;
}

static bool can_swap(const struct playback_session *s, const struct recorded_rollout *other,
                     uint64_t key)
{
	const struct playback_session *session = other->session;
	bool obtainable = session ? session->next <= s->next : other->plays == 0;

	return obtainable && other != s->rollout && other->count > s->next &&
	       other->calls[s->next].key == key && same_prefix(s->rollout, other, s->next);
}

/* Parallel sessions of one task may open in any order, so a session can turn out to play another
   session's rollout. Both then swap rollouts, which are equal up to here. */
static bool swap_rollouts(struct playback_session *s, uint64_t key)
{
	const struct recorded *r = &s->all->recorded;

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *other = r->rollouts[i], *mine = s->rollout;
		struct playback_session *session = other->session;

		if (!can_swap(s, other, key))
			continue;
		if (session) {
			set_rollout(session, mine);
		} else {
			release_rollout(s);
			other->plays++;
		}
		set_rollout(s, other);
		return true;
	}
	return false;
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

	if (!c && s->all->match == MATCH_EXACT && swap_rollouts(s, key))
		c = find_call(s, key);
	if (c)
		advance(s, c);
	else
		explain_miss(s, name, arguments, why);
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
	struct json_writer w;

	if (s->next == r->count && r->total_reward.p) {
		buf_str(out, r->total_reward);
		return;
	}
	jw_init(&w, out);
	jw_double(&w, s->rewards);
}
