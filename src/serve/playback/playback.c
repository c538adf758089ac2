/* Sessions that play a recording: see playback.h. */
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

int playback_new(const struct playback_conf *conf, struct playback **out, struct error *err)
{
	struct playback *p = mem_new(sizeof(*p));

	p->match = conf->match;
	p->loop = conf->loop;
	if (recorded_read(conf->path, &p->recorded, err)) {
		playback_free(p);
		return -1;
	}
	*out = p;
	return 0;
}

void playback_free(struct playback *p)
{
	if (p) {
		recorded_release(&p->recorded);
		free(p);
	}
}

const struct recorded_rollout *playback_sample(const struct playback *p)
{
	const struct recorded *r = &p->recorded;

	for (size_t i = 0; i < r->count; i++) {
		if (r->rollouts[i]->tools.p) {
			return r->rollouts[i];
		}
	}
	return r->rollouts[0];
}

/* ---- which rollout ---- */

static bool has_seed(const struct recorded_rollout *r, const struct playback_wish *w)
{
	return !w->has_seed || (r->has_seed && r->seed == w->seed);
}

static bool has_args(const struct recorded_rollout *r, const struct playback_wish *w)
{
	return json_count(w->reset_args) == 0 ||
	       (r->reset_args.p && json_equal(r->reset_args, w->reset_args));
}

static bool any_seed(const struct recorded *r)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->rollouts[i]->has_seed) {
			return true;
		}
	}
	return false;
}

/* Of those that fit the one played least often; without `loop` it must not have been played. */
static struct recorded_rollout *next_fitting(struct playback *p, const struct playback_wish *w,
                                             bool args_too)
{
	struct recorded *r = &p->recorded;
	struct recorded_rollout *best = NULL;

	while (!p->loop && p->spent < r->count && r->rollouts[p->spent]->uses > 0) {
		p->spent++;
	}
	for (size_t i = p->spent; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];
		bool usable = p->loop || one->uses == 0;

		if (usable && has_seed(one, w) && (!args_too || has_args(one, w)) &&
		    (!best || one->uses < best->uses)) {
			best = one;
		}
		if (best && best->uses == 0) {
			break;
		}
	}
	return best;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void list_seeds(const struct recorded *r, struct buf *why)
{
	int64_t listed[SEEDS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < r->count && count < SEEDS_MAX; i++) {
		const struct recorded_rollout *one = r->rollouts[i];
		bool known = !one->has_seed;

		for (size_t k = 0; !known && k < count; k++) {
			known = listed[k] == one->seed;
		}
		if (!known) {
			listed[count++] = one->seed;
		}
	}
	qsort(listed, count, sizeof(*listed), by_size);
	for (size_t i = 0; i < count; i++) {
		buf_printf(why, "%s%" PRId64, i ? ", " : "", listed[i]);
	}
}

static void explain_none(const struct playback *p, const struct playback_wish *w, struct buf *why)
{
	const struct recorded *r = &p->recorded;
	size_t with_seed = 0;

	bool by_seed = w->has_seed && any_seed(r);

	buf_clear(why);
	for (size_t i = 0; i < r->count; i++) {
		with_seed += !by_seed || has_seed(r->rollouts[i], w);
	}
	if (with_seed == 0) {
		buf_printf(why, "the recording has no rollout with seed %" PRId64 "; recorded: ",
		           w->seed);
		list_seeds(r, why);
		log_warn("serve: %s", buf_cstr(why));
		return;
	}
	buf_printf(why, "the recording has %zu rollout%s", with_seed, with_seed == 1 ? "" : "s");
	if (by_seed) {
		buf_printf(why, " with seed %" PRId64, w->seed);
	}
	buf_text(why, ", and each has been played: start the server again, or let it loop");
	log_warn("serve: %s", buf_cstr(why));
}

static struct recorded_rollout *choose(struct playback *p, const struct playback_wish *wish)
{
	struct playback_wish w = *wish;
	struct recorded_rollout *one;

	w.has_seed = w.has_seed && any_seed(&p->recorded);
	one = next_fitting(p, &w, true);
	return one ? one : next_fitting(p, &w, false);
}

static void give(struct played *s, struct recorded_rollout *one)
{
	one->uses++;
	one->player = s;
	s->rollout = one;
}

/* Another session may have it. */
static void give_back(struct played *s)
{
	s->rollout->uses--;
	s->rollout->player = NULL;
	s->all->spent = 0;
}

static void start(struct played *s)
{
	s->next = 0;
	s->last = NULL;
	s->rewards = 0;
	s->state_read = false;
	s->fresh = true;
}

struct played *playback_begin(struct playback *p, const struct playback_wish *wish, struct buf *why)
{
	struct recorded_rollout *one = choose(p, wish);

	if (!one) {
		explain_none(p, wish, why);
		return NULL;
	}
	struct played *s = mem_new(sizeof(*s));

	s->all = p;
	s->wished = wish->has_seed;
	give(s, one);
	start(s);
	log_info("serve: a session plays rollout %.*s", STR_ARG(one->id));
	return s;
}

static void stand_at(struct played *s, struct recorded_rollout *one)
{
	s->rollout = one;
	one->player = s;
	s->last = s->next ? &one->calls[s->next - 1] : NULL;
}

/* All that fit are taken, but one by a session that has not said yet what it wants. */
static bool swap_untouched(struct played *s, const struct playback_wish *wish)
{
	const struct recorded *r = &s->all->recorded;

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];
		struct played *player = one->player;

		if (player && player != s && !player->wished && !player->last &&
		    has_seed(one, wish)) {
			stand_at(player, s->rollout);
			stand_at(s, one);
			return true;
		}
	}
	return false;
}

bool playback_reset(struct played *s, const struct playback_wish *wish, struct buf *why)
{
	struct recorded_rollout *old = s->rollout;
	bool fits = !any_seed(&s->all->recorded) ||
	            (has_seed(old, wish) && (has_args(old, wish) || s->last));

	if (!fits) {
		give_back(s);
		struct recorded_rollout *other = choose(s->all, wish);

		give(s, other ? other : old);
		if (!other && !swap_untouched(s, wish)) {
			explain_none(s->all, wish, why);
			return false;
		}
		log_info("serve: the session plays rollout %.*s instead", STR_ARG(s->rollout->id));
	}
	start(s);
	s->wished = true;
	return true;
}

void playback_end(struct played *s)
{
	if (s) {
		s->rollout->player = NULL;
		free(s);
	}
}

/* ---- which call ---- */

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

/* How much of two texts is alike at their beginnings and ends, less what is not. */
static int64_t likeness(struct str a, struct str b)
{
	size_t most = a.n < b.n ? a.n : b.n, head = 0, tail = 0;

	while (head < most && a.p[head] == b.p[head]) {
		head++;
	}
	while (tail < most - head && a.p[a.n - 1 - tail] == b.p[b.n - 1 - tail]) {
		tail++;
	}
	return 3 * (int64_t)(head + tail) - (int64_t)(a.n + b.n);
}

/* The same tool counts most, then the arguments, then how near it is to where the session stands. */
static size_t nearest(const struct played *s, struct str name, struct str arguments)
{
	const struct recorded_rollout *r = s->rollout;
	int64_t best = INT64_MIN;
	size_t found = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_call *c = &r->calls[i];
		size_t away = i > s->next ? i - s->next : s->next - i;
		int64_t score = likeness(c->arguments, arguments) * 1024 +
		                (str_eq(c->name, name) ? INT64_C(1) << 40 : 0) -
		                (int64_t)(away < 1023 ? away : 1023);

		if (score > best) {
			best = score;
			found = i;
		}
	}
	return found;
}

static void explain_miss(const struct played *s, struct str name, struct str arguments,
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

/* Forwards from where the session stands, then from the beginning. */
static const struct recorded_call *find_equal(const struct played *s, uint64_t key)
{
	const struct recorded_rollout *r = s->rollout;

	for (size_t i = 0; i < r->count; i++) {
		const struct recorded_call *c = &r->calls[(s->next + i) % r->count];

		if (c->key == key) {
			return c;
		}
	}
	return NULL;
}

static const struct recorded_call *find_call(const struct played *s, uint64_t key)
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

/* Hashes leave out what is ignored: ids, counts, clocks. */
static bool same_state(struct str hash, struct str state, struct str other_hash, struct str other)
{
	return hash.p && other_hash.p ? str_eq(hash, other_hash) : json_equal(state, other);
}

/* Nobody who has made the first `calls` calls of one can tell it from the other. */
static bool begin_alike(const struct recorded_rollout *a, const struct recorded_rollout *b,
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

static bool may_exchange(const struct played *s, const struct recorded_rollout *other, uint64_t key)
{
	const struct played *player = other->player;
	bool obtainable = player ? player->next <= s->next : other->uses == 0;

	return obtainable && other != s->rollout && other->count > s->next &&
	       other->calls[s->next].key == key && begin_alike(s->rollout, other, s->next);
}

/* Parallel sessions of one task open in any order: the session turns out to be another's. Both go on
   with the other rollout, which has been the same up to here. */
static bool exchange(struct played *s, uint64_t key)
{
	const struct recorded *r = &s->all->recorded;

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *other = r->rollouts[i], *mine = s->rollout;
		struct played *player = other->player;

		if (!may_exchange(s, other, key)) {
			continue;
		}
		if (player) {
			stand_at(player, mine);
		} else {
			give_back(s);
			other->uses++;
		}
		stand_at(s, other);
		return true;
	}
	return false;
}

static void answered(struct played *s, const struct recorded_call *c)
{
	double reward;

	s->last = c;
	s->next = (size_t)(c - s->rollout->calls) + 1;
	s->fresh = false;
	s->state_read = false;
	if (c->reply.outcome == OUTCOME_OK && json_double(c->reply.reward, &reward)) {
		s->rewards += reward;
	}
}

const struct recorded_call *playback_call(struct played *s, struct str name, struct str arguments,
                                          struct buf *why)
{
	uint64_t key = key_of(name, arguments);
	const struct recorded_call *c = find_call(s, key);

	if (!c && s->all->match == MATCH_EXACT && exchange(s, key)) {
		c = find_call(s, key);
	}
	if (c) {
		answered(s, c);
	} else {
		explain_miss(s, name, arguments, why);
	}
	return c;
}

bool playback_reads_state(struct played *s, struct str name, struct str arguments)
{
	const struct recorded_rollout *r = s->rollout;

	if (r->state_kind != STATE_TOOL) {
		return false;
	}
	uint64_t key = key_of(name, arguments);

	s->state_key = s->state_key ? s->state_key : key;
	bool next_is_same = s->next < r->count && r->calls[s->next].key == key;

	if (key != s->state_key || (s->state_read && next_is_same)) {
		return false;
	}
	s->state_read = true;
	return true;
}

/* ---- how it stands ---- */

struct str playback_state(const struct played *s)
{
	return s->last ? s->last->after : s->rollout->first_state;
}

const struct recorded_reply *playback_last(const struct played *s)
{
	return s->last ? &s->last->reply : &s->rollout->reset;
}

/* The count before the first call is not recorded: it follows from the one after it. */
int64_t playback_steps(const struct played *s)
{
	const struct recorded_rollout *r = s->rollout;
	int64_t first = r->count ? r->calls[0].reply.env_steps : 0;

	if (s->last) {
		return s->last->reply.env_steps;
	}
	return first > 0 && r->calls[0].reply.outcome == OUTCOME_OK ? first - 1 : first;
}

/* The recorded total where it is known, at the end; before it the sum of the rewards. */
void playback_total(const struct played *s, struct buf *out)
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
