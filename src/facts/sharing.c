/* Compares states with answers while other rollouts act: see sharing.h. */
#include "facts/sharing.h"

#include "facts/fingerprint.h"
#include "json/scan.h"

#include <stdlib.h>

#define KEPT_MAX ((size_t)16 << 10) /* bytes; longer values are not examined */

/* A shared member must change in at least this many busy pauses, and in one of ONE_IN; a
   volatile member would change as often in pauses without other calls. */
#define CHANGED_MIN 2
#define ONE_IN      8
#define OLD_MAX     4 /* maximum number of changes to an old value for each one to a new value */
/* At most one call in PASSED_IN may change other members and not this one: in a member that
   changes with time, calls coincide with a change or do not. */
#define PASSED_IN 6
/* Minimum number of busy pauses; with fewer, a separate environment would not have been noticed. */
#define BUSY_MIN 4
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
	buf_release(&p->answer);
	buf_release(&p->state);
	buf_release(&p->previous);
	buf_release(&p->reread);
}

static void keep(struct buf *b, struct str value)
{
	b->max = KEPT_MAX;
	buf_clear(b);
	if (value.n <= KEPT_MAX) {
		buf_str(b, value);
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

static void note(const struct pause *at, uint64_t hash)
{
	*slot(at, hash) = (struct recent_value){hash, at->rollout, at->now};
}

static void note_values(const struct pause *at, struct str object)
{
	struct json_member m;
	size_t cursor = 0;

	while (object.n <= KEPT_MAX && json_next_member(object, &cursor, &m)) {
		note(at, hash_of(m.key, m.value));
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
   the same effect. This also works if states and answers have no members in common. */
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
   answer. */
static bool is_old(const struct pauses *p, struct str key, struct str known, struct str value)
{
	return str_eq(known, value) || str_eq(json_get(buf_view(&p->previous), key), value);
}

static bool is_moved(struct str before, struct str after)
{
	return before.p && after.p && !str_eq(before, after);
}

static void note_call(struct shared_member *m, struct str before, struct str after, bool effect)
{
	bool moved = is_moved(before, after);

	m->calls += before.p && after.p;
	m->moved += moved;
	m->passed += before.p && after.p && !moved && effect;
}

/* `known`: the value before the call, absent if it is not to be compared. Returns true if the
   member changed to a new value in a busy pause. */
static bool take_member(struct pauses *p, const struct pause *at, struct str key, struct str known,
                        struct str before, struct str after)
{
	struct shared_member *m = member(at->sharing, key);
	bool same = str_eq(before, after), old = !same && is_old(p, key, known, after);

	if (!m) {
		return false;
	}
	note_call(m, json_get(buf_view(&p->state), key), before, p->effect);
	if (!is_busy(p, at)) {
		/* the answer to a reset may differ from the state */
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
	m->matched += is_another(at, hash_of(key, after), p->began);
	note_first(p, at, key, before, after);
	return true;
}

/* ---- one pause ---- */

static bool is_telling(const struct json_member *m)
{
	return m->type != JSON_TRUE && m->type != JSON_FALSE && m->type != JSON_NULL;
}

static bool is_common(const struct pauses *p, const struct pause *at, const struct json_member *m)
{
	return is_telling(m) && json_type(json_get(buf_view(&p->answer), m->key)) == m->type &&
	       !member_changes_moves_alone(at->states, m->key);
}

/* Did the call before the pause change a member common to the answer and the state? */
static bool had_effect(const struct pauses *p, const struct pause *at, struct str state)
{
	struct json_member m;
	size_t cursor = 0;
	bool moved = false;

	while (!moved && json_next_member(state, &cursor, &m)) {
		moved = is_common(p, at, &m) && is_moved(json_get(buf_view(&p->state), m.key),
		                                         json_get(buf_view(&p->answer), m.key));
	}
	return moved;
}

/* Compares the members common to the answer and the state; returns their number. */
static size_t compare_answer(struct pauses *p, const struct pause *at, struct str state,
                             bool *changed)
{
	struct json_member m;
	size_t cursor = 0, common = 0;

	p->effect = had_effect(p, at, state);
	while (json_next_member(state, &cursor, &m)) {
		struct str said = json_get(buf_view(&p->answer), m.key);
		if (!is_common(p, at, &m)) {
			continue;
		}
		struct str known = json_get(buf_view(&p->state), m.key);
		note_place(p, at->sharing, m.key, said);
		*changed |= take_member(p, at, m.key, known, said, m.value);
		common++;
	}
	return common;
}

/* Compares two reads of the state. Members that are not in the answer are only compared if the
   answer and the state have none in common (`all`). */
static void compare_reread(struct pauses *p, const struct pause *at, struct str state, bool all,
                           bool *changed)
{
	struct str reread = buf_view(&p->reread), answer = buf_view(&p->answer);
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m)) {
		struct str now = json_get(reread, m.key);
		bool said = json_type(json_get(answer, m.key)) == m.type;
		if (is_telling(&m) && (all || said) && now.p &&
		    !member_changes_moves_alone(at->states, m.key)) {
			*changed |= take_member(p, at, m.key, STR_NONE, m.value, now);
		}
	}
}

static void note_places(const struct pauses *p, const struct pause *at, struct str state)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m)) {
		if (is_telling(&m) && !member_changes_moves_alone(at->states, m.key)) {
			note_place(p, at->sharing, m.key, m.value);
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

void pauses_begin(struct pauses *p, const struct pause *at, struct str state, struct str answer)
{
	keep(&p->state, state);
	keep(&p->answer, answer);
	p->number++;
	at->sharing->pauses++;
	buf_clear(&p->reread);
	p->began = at->now;
	p->alone = at->alone;
	note_values(at, answer);
}

void pauses_reread(struct pauses *p, struct str state)
{
	keep(&p->reread, state);
}

void pauses_end(struct pauses *p, const struct pause *at, struct str state, int64_t count,
                int64_t turn, int64_t step)
{
	bool busy = is_busy(p, at), changed = false;

	if (p->answer.n && state.p && state.n <= KEPT_MAX) {
		size_t common = compare_answer(p, at, state, &changed);
		if (common == 0) {
			note_places(p, at, state);
		}
		if (p->reread.n) {
			compare_reread(p, at, state, common == 0, &changed);
			compare_counts(at->sharing, busy, state, buf_view(&p->reread), count);
		}
		note_values(at, p->reread.n ? buf_view(&p->reread) : state);
	}
	p->busy += busy;
	if (changed && p->changed++ == 0) {
		p->turn = turn;
		p->step = step;
	}
	keep(&p->previous, buf_view(&p->answer));
	buf_clear(&p->answer);
}

/* ---- the verdict ---- */

static bool is_shared(const struct shared_member *m)
{
	return m->changed >= CHANGED_MIN && m->busy >= BUSY_MIN && 2 * m->moved >= m->calls &&
	       PASSED_IN * m->passed <= m->calls && OLD_MAX * m->changed >= m->old &&
	       ONE_IN * (m->changed + m->old) >= m->busy && m->alone == 0 &&
	       2 * m->matched >= m->changed && m->different > 0 && 2 * m->different >= m->alike;
}

static bool is_own(const struct shared_member *m)
{
	return m->kept >= OWN_MIN && m->changed == 0 && !m->even;
}

bool sharing_is_seen(const struct sharing *s)
{
	bool shared = false;

	for (size_t i = 0; i < SHARING_MEMBERS && s->members[i].key; i++) {
		if (is_own(&s->members[i])) {
			return false;
		}
		shared = shared || is_shared(&s->members[i]);
	}
	return shared;
}
