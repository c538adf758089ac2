/* Compares states with replies while other rollouts act: see sharing.h. */
#include "facts/sharing.h"

#include "facts/clocks.h"
#include "facts/fingerprint.h"
#include "json/canon.h"
#include "json/scan.h"

#include <stdlib.h>

#define KEPT_MAX ((size_t)16 << 10) /* bytes; longer values are not examined */

/* A shared member must change in at least this many busy pauses, and in one of ONE_IN; a
   volatile member would change as often in pauses without other calls. */
#define CHANGED_MIN 2
#define ONE_IN      8
#define OLD_MAX     4 /* maximum number of changes to an old value for each one to a new value */
/* Half of all calls must change shared members, and at most one in PASSED_IN may change only
   others: in a member that changes with time, calls coincide with a change or do not. */
#define PASSED_IN 6
/* Minimum number of busy pauses; with fewer, a separate environment would not have been noticed. */
#define BUSY_MIN 4
/* If replies have no member in common with the state, there are only the few second reads. Then
   those are enough if one of them, while the others waited, showed no change. */
#define INCOMPARABLE_DIFFERENT_MIN 4
/* Minimum number of rollouts that found it before their first call. */
#define STARTED_MIN 2
/* A member proves a separate environment if at least this many calls before busy pauses changed
   it, not always by the same number, and it never changed in such a pause. */
#define OWN_MIN 3

void sharing_release(struct sharing *s)
{
	free(s->values);
	*s = (struct sharing){0};
}

void pauses_release(struct pauses *p)
{
	buf_release(&p->reply);
	buf_release(&p->state);
	buf_release(&p->previous);
	buf_release(&p->reread);
}

/* In canonical form: a server may indent its replies, but not its states. */
static void keep(struct buf *b, struct str value)
{
	b->max = KEPT_MAX;
	buf_clear(b);
	if (value.n > 0 && value.n <= KEPT_MAX) {
		json_canon(value, NULL, JSON_EDIT_DROP, b);
	}
	if (b->full) {
		buf_clear(b);
	}
}

/* ---- the last rollout with each value ---- */

static uint64_t hash_of(struct str key, struct str value)
{
	return (fingerprint(key) ^ 3 * fingerprint(value)) | 1;
}

static struct recent_value *slot(const struct pause *at, uint64_t hash)
{
	struct sharing *s = at->sharing;

	if (!s->values) {
		s->values = mem_array(SHARING_VALUES, sizeof(*s->values));
	}
	return &s->values[hash / 2 % SHARING_VALUES];
}

/* Did another rollout read this value after `since`? */
static bool is_another(const struct pause *at, uint64_t hash, int64_t since)
{
	const struct recent_value *v = slot(at, hash);

	return v->value == hash && v->rollout != at->rollout && v->at > since;
}

static void note_values(const struct pauses *p, const struct pause *at, struct str object)
{
	struct json_member m;
	size_t cursor = 0;

	while (object.n <= KEPT_MAX && json_next_member(object, &cursor, &m)) {
		uint64_t hash = hash_of(m.key, m.value);
		*slot(at, hash) = (struct recent_value){hash, at->rollout, at->now, p->number};
	}
}

/* ---- one member in one pause ---- */

static struct shared_member *member(struct sharing *s, struct str key)
{
	uint64_t hash = fingerprint(key) | 1;

	for (size_t i = 0; i < SHARING_MEMBERS; i++) {
		struct shared_member *m = &s->members[i];
		if (m->key == 0) {
			*m = (struct shared_member){.key = hash, .even = true};
		}
		if (m->key == hash) {
			return m;
		}
	}
	return NULL;
}

/* The call before the pause changed the member: was the change by the same number each time? */
static void note_kept(struct shared_member *m, struct str before, struct str after)
{
	double a, b;

	if (!before.p || str_eq(before, after)) {
		return;
	}
	bool number = json_double(before, &a) && json_double(after, &b);
	m->by = m->kept == 0 && number ? b - a : m->by;
	m->even = m->even && number && b - a == m->by;
	m->kept++;
}

/* Compares the value after step n between rollouts: in separate environments the same calls have
   the same effect. This also works if states and replies have no members in common. */
static void note_place(const struct pauses *p, struct sharing *s, struct str key, struct str value)
{
	struct shared_member *m = member(s, key);
	uint64_t hash = fingerprint(value) | 1, *place;

	if (!m || p->number > SHARING_STEPS) {
		return;
	}
	place = &m->places[p->number];
	m->alike += *place == hash;
	m->different += *place && *place != hash;
	*place = *place ? *place : hash;
}

static struct str text_of(const struct pause *at, struct str value)
{
	return arena_str(at->arena, value.p ? value : STR("nothing"));
}

static void note_first(struct pauses *p, const struct pause *at, struct str key, struct str before,
                       struct str after)
{
	if (!p->key.p) {
		p->key = text_of(at, key);
		p->before = text_of(at, before);
		p->after = text_of(at, after);
	}
}

/* A call is recorded when it is answered, so rollouts that are open may have a call in progress. */
static bool is_busy(const struct pauses *p, const struct pause *at)
{
	return !p->alone || !at->alone || at->others_called > p->began;
}

/* A state read that lags behind has the value from before the call, or that of the previous
   reply. */
static bool is_old(const struct pauses *p, struct str key, struct str known, struct str value)
{
	return str_eq(known, value) || str_eq(json_get(buf_view(&p->previous), key), value);
}

static bool is_moved(struct str before, struct str after)
{
	return before.p && after.p && !str_eq(before, after);
}

static uint16_t bit_of(const struct sharing *s, const struct shared_member *m)
{
	if (!m) {
		return 0;
	}
	return (uint16_t)(1U << (m - s->members));
}

/* Did nothing but integers grow: the value itself, or members of it? */
static bool is_growth(struct str before, struct str after)
{
	int64_t a, b;
	struct json_member m;
	size_t cursor = 0;

	if (json_i64(before, &a) && json_i64(after, &b)) {
		return b > a;
	}
	if (json_type(before) != JSON_OBJECT || json_type(after) != JSON_OBJECT ||
	    json_count(before) != json_count(after)) {
		return false;
	}
	while (json_next_member(after, &cursor, &m)) {
		struct str was = json_get(before, m.key);
		bool grew = json_i64(was, &a) && json_i64(m.value, &b) && b > a;
		if (!grew && !str_eq(was, m.value)) {
			return false;
		}
	}
	return true;
}

/* `known`: the value before the call, absent if it is not to be compared. Returns true if the
   member changed to a new value in a busy pause. */
static bool take_member(struct pauses *p, const struct pause *at, struct str key, struct str known,
                        struct str before, struct str after, bool quiet)
{
	struct shared_member *m = member(at->sharing, key);
	bool same = str_eq(before, after), old = !same && is_old(p, key, known, after);

	if (!m) {
		return false;
	}
	if (quiet || !is_busy(p, at)) {
		/* the reply to a reset may differ from the state */
		m->alone += !same && !old && p->number > 1;
		return false;
	}
	m->busy++;
	if (same) {
		note_kept(m, known, after);
		return false;
	}
	if (old) {
		m->old++;
		return false;
	}
	m->changed++;
	m->otherwise = m->otherwise || !is_growth(before, after);
	m->matched += is_another(at, hash_of(key, after), p->began);
	note_first(p, at, key, before, after);
	return true;
}

/* ---- one pause ---- */

/* A point in time changes by itself, whether that was noticed yet or not. */
static bool is_telling(const struct json_member *m)
{
	int64_t ms;

	return m->type != JSON_TRUE && m->type != JSON_FALSE && m->type != JSON_NULL &&
	       !clocks_time(m->value, -1, &ms);
}

static bool is_common(const struct pauses *p, const struct pause *at, const struct json_member *m)
{
	return is_telling(m) && json_type(json_get(buf_view(&p->reply), m->key)) == m->type &&
	       !member_changes_moves_alone(at->states, m->key);
}

static bool is_compared(const struct pauses *p, const struct pause *at, const struct json_member *m,
                        bool all)
{
	return all ? is_telling(m) && !member_changes_moves_alone(at->states, m->key)
	           : is_common(p, at, m);
}

/* Which members did the call before the pause change? From the state before it to its reply, or,
   if they have no members in common (`all`), to the state after it. */
static void note_effect(const struct pauses *p, const struct pause *at, struct str state, bool all)
{
	struct sharing *s = at->sharing;
	struct str after = all ? state : buf_view(&p->reply);
	struct json_member m;
	size_t cursor = 0;
	uint16_t moved = 0;

	if (p->state.n == 0 || s->effect_count == SHARING_PAUSES) {
		return;
	}
	while (json_next_member(state, &cursor, &m)) {
		if (is_compared(p, at, &m, all) &&
		    is_moved(json_get(buf_view(&p->state), m.key), json_get(after, m.key))) {
			moved |= bit_of(s, member(s, m.key));
		}
	}
	s->effects[s->effect_count++] = moved;
}

/* Compares the members common to the reply and the state; returns their number. */
static size_t compare_reply(struct pauses *p, const struct pause *at, struct str state,
                            bool *changed)
{
	struct json_member m;
	size_t cursor = 0, common = 0;

	while (json_next_member(state, &cursor, &m)) {
		struct str in_reply = json_get(buf_view(&p->reply), m.key);
		if (!is_common(p, at, &m)) {
			continue;
		}
		struct str known = json_get(buf_view(&p->state), m.key);
		note_place(p, at->sharing, m.key, in_reply);
		*changed |= take_member(p, at, m.key, known, in_reply, m.value, false);
		common++;
	}
	return common;
}

/* Compares two reads of the state. Members that are not in the reply are only compared if the
   reply and the state have none in common (`all`). */
static void compare_reread(struct pauses *p, const struct pause *at, struct str state, bool all,
                           bool *changed)
{
	struct str reread = buf_view(&p->reread), reply = buf_view(&p->reply);
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m)) {
		struct str now = json_get(reread, m.key);
		bool in_reply = json_type(json_get(reply, m.key)) == m.type;
		struct str known = all ? json_get(buf_view(&p->state), m.key) : STR_NONE;
		if (is_telling(&m) && (all || in_reply) && now.p &&
		    !member_changes_moves_alone(at->states, m.key)) {
			*changed |= take_member(p, at, m.key, known, m.value, now, p->quiet);
		}
	}
}

static void note_move(struct shared_member *m, struct str before, struct str after)
{
	double a, b;
	bool number = json_double(before, &a) && json_double(after, &b);

	m->moved_by = m->moved == 0 && number ? b - a : m->moved_by;
	m->uneven = m->uneven || !number || b - a != m->moved_by;
	m->moved++;
}

/* Did the call before the pause change the member, and did it change in the pause? */
static void note_moves(const struct pauses *p, const struct pause *at, struct str state,
                       bool others)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m)) {
		struct str now = json_get(buf_view(&p->reread), m.key);
		struct shared_member *seen =
			is_compared(p, at, &m, true) ? member(at->sharing, m.key) : NULL;

		if (!seen) {
			continue;
		}
		struct str before = json_get(buf_view(&p->state), m.key);
		if (is_moved(before, m.value)) {
			note_move(seen, before, m.value);
		}
		bool changed = others && is_moved(m.value, now);
		seen->rereads += others && now.p;
		seen->reread_changed += changed;
		seen->started +=
			changed && p->number == 1 && is_another(at, hash_of(m.key, now), p->began);
	}
}

/* Who read the value before, and when? */
static void note_recurrence(const struct pauses *p, const struct pause *at,
                            const struct json_member *m)
{
	const struct recent_value *v = slot(at, hash_of(m->key, m->value));
	struct shared_member *seen = member(at->sharing, m->key);

	if (!seen || v->value != hash_of(m->key, m->value) ||
	    !is_moved(json_get(buf_view(&p->state), m->key), m->value)) {
		return;
	}
	seen->recurs += v->rollout == at->rollout && v->number + 1 < p->number;
	seen->met += v->rollout != at->rollout && v->number != p->number;
}

static void note_places(const struct pauses *p, const struct pause *at, struct str state)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m)) {
		if (is_compared(p, at, &m, true)) {
			note_place(p, at->sharing, m.key, m.value);
			note_recurrence(p, at, &m);
		}
	}
}

/* The states of some protocols contain the count itself. */
static void compare_counts(struct sharing *s, bool busy, struct str state, struct str reread,
                           int64_t count)
{
	int64_t first, second;
	bool more = json_i64(JSON_GET(state, "step_count"), &first) && first == count &&
	            json_i64(JSON_GET(reread, "step_count"), &second) && second > first;

	s->counted += more && busy;
	s->counted_alone += more && !busy;
}

void pauses_begin(struct pauses *p, const struct pause *at, struct str state, struct str reply)
{
	keep(&p->state, state);
	keep(&p->reply, reply);
	p->number++;
	at->sharing->pauses++;
	buf_clear(&p->reread);
	p->began = at->now;
	p->alone = at->alone;
	note_values(p, at, buf_view(&p->reply));
}

void pauses_reread(struct pauses *p, const struct pause *at, struct str state, bool quiet)
{
	keep(&p->reread, state);
	p->quiet = quiet;
	if (quiet) { /* others may read the same before this pause ends */
		note_values(p, at, buf_view(&p->reread));
	}
}

static bool compare_state(struct pauses *p, const struct pause *at, struct str state, bool busy,
                          int64_t count)
{
	struct sharing *s = at->sharing;
	bool changed = false;
	size_t common = compare_reply(p, at, state, &changed);

	note_effect(p, at, state, common == 0);
	s->comparable += common > 0;
	note_moves(p, at, state, p->reread.n && busy && !p->quiet);
	if (common == 0 && p->number > 1) { /* all may start alike */
		note_places(p, at, state);
	}
	if (p->reread.n) {
		compare_reread(p, at, state, common == 0, &changed);
		s->quiet += p->quiet;
		compare_counts(s, busy && !p->quiet, state, buf_view(&p->reread), count);
	}
	note_values(p, at, p->reread.n ? buf_view(&p->reread) : state);
	return changed;
}

void pauses_end(struct pauses *p, const struct pause *at, struct str state, int64_t count,
                int64_t turn, int64_t step)
{
	struct buf kept = BUF(0), reply = p->reply;
	bool busy = is_busy(p, at), changed = false;

	if (reply.n) {
		keep(&kept, state);
		changed = kept.n && compare_state(p, at, buf_view(&kept), busy, count);
		buf_release(&kept);
	}
	p->busy += busy;
	if (changed && p->changed++ == 0) {
		p->turn = turn;
		p->step = step;
	}
	p->reply = p->previous;
	p->previous = reply;
	buf_clear(&p->reply);
}

/* ---- the verdict ---- */

/* What any shared member shows, even if it rarely changed in a pause. */
static bool may_be_shared(const struct shared_member *m)
{
	return m->changed > 0 && m->alone == 0 && m->matched > 0 &&
	       OLD_MAX * m->changed >= m->old && m->different > 0;
}

static bool is_shared(const struct shared_member *m)
{
	return may_be_shared(m) && 2 * m->matched >= m->changed && m->changed >= CHANGED_MIN &&
	       m->busy >= BUSY_MIN && (m->started || ONE_IN * (m->changed + m->old) >= m->busy) &&
	       2 * m->different >= m->alike;
}

/* The same by second reads alone: see INCOMPARABLE_DIFFERENT_MIN. */
static bool is_incomparable_shared(const struct shared_member *m)
{
	return m->changed >= CHANGED_MIN && 2 * m->changed >= m->busy && m->old == 0 &&
	       m->alone == 0 && m->recurs == 0 && m->matched + m->met > 0 &&
	       m->different >= INCOMPARABLE_DIFFERENT_MIN && 2 * m->different >= m->alike;
}

/* The same wherever the state is read: most second reads show a change. */
static bool is_shared_by_rereads(const struct shared_member *m)
{
	return m->reread_changed >= CHANGED_MIN && 2 * m->reread_changed >= m->rereads &&
	       m->alone == 0 && m->recurs == 0 && m->matched + m->met > 0 &&
	       m->different >= INCOMPARABLE_DIFFERENT_MIN && 2 * m->different >= m->alike;
}

/* Before their first call others found what the first call of a rollout had left. */
static bool is_started(const struct shared_member *m)
{
	return m->started >= STARTED_MIN && m->alone == 0;
}

static bool is_own(const struct shared_member *m)
{
	return m->kept >= OWN_MIN && m->changed == 0 && !m->even;
}

/* Is there a member that calls change and others do not, and that is no call counter? Then a member
   that only grows counts the calls or sessions of a server with separate environments. */
static bool has_own(const struct sharing *s, uint16_t shared)
{
	for (size_t i = 0; i < SHARING_MEMBERS && s->members[i].key; i++) {
		const struct shared_member *m = &s->members[i];
		if (!(shared >> i & 1) && m->moved >= OWN_MIN && m->uneven &&
		    m->reread_changed == 0 && m->changed == 0) {
			return true;
		}
	}
	return false;
}

/* Do calls change these members? */
static bool are_moved(const struct sharing *s, uint16_t members)
{
	size_t moved = 0, passed = 0;

	for (size_t i = 0; i < s->effect_count; i++) {
		moved += (s->effects[i] & members) != 0;
		passed += s->effects[i] != 0 && (s->effects[i] & members) == 0;
	}
	return 2 * moved >= s->effect_count && PASSED_IN * passed <= s->effect_count;
}

/* While no other rollout acted, a second read showed no change (`quiet`). */
static bool is_seen_in(const struct sharing *s, const struct shared_member *m)
{
	return is_shared(m) ||
	       (s->quiet > 0 && ((s->comparable == 0 && is_incomparable_shared(m)) ||
	                         is_shared_by_rereads(m) || is_started(m)));
}

bool sharing_is_seen(const struct sharing *s)
{
	uint16_t members = 0;
	bool shared = false, otherwise = false;

	for (size_t i = 0; i < SHARING_MEMBERS && s->members[i].key; i++) {
		const struct shared_member *m = &s->members[i];
		if (is_own(m)) {
			return false;
		}
		bool seen = is_seen_in(s, m);
		shared = shared || seen;
		members |= may_be_shared(m) || seen ? bit_of(s, m) : 0;
		otherwise = otherwise || m->otherwise;
	}
	return shared && are_moved(s, members) && (otherwise || !has_own(s, members));
}
