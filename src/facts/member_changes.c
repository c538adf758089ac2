/* Finds the members that differ in one walk through both values, and tracks how each changes
   over time: see member_changes.h. */
#include "facts/member_changes.h"

#include "facts/clocks.h"
#include "facts/number_pair.h"
#include "json/scan.h"

#include <math.h>

#define DEPTH_MAX 6 /* deeper containers are compared as one value */
#define ELEMENTS_MAX                                                                               \
	8 /* longer arrays, and arrays of different lengths, are compared as one value */
#define POINTER_MAX  200                /* bytes */
#define VALUE_MAX    ((size_t)64 << 10) /* larger readings are not examined */
#define OFFSET_MAX   5000               /* milliseconds */
#define STAMPS_MIN   3
#define ELAPSED_MIN  5    /* milliseconds; over shorter intervals clocks cannot be distinguished */
#define FINE         1e-4 /* resolution of a clock that differs at each reading */
#define READINGS_MIN 2    /* by then most members have shown their behavior */

/* ---- the walk ---- */

struct walk_level {
	struct str before, after;
	size_t before_at, after_at, pointer_n;
	size_t index; /* of an array's element */
};

struct member_walk {
	struct walk_level levels[DEPTH_MAX];
	size_t depth;
	struct buf pointer;
};

/* Two objects, or two short arrays, with the same number of members are descended into. */
static bool is_comparable(struct str before, struct str after)
{
	enum json_type type = json_type(before);
	size_t n;

	if ((type != JSON_OBJECT && type != JSON_ARRAY) || type != json_type(after)) {
		return false;
	}
	n = json_count(before);
	return n == json_count(after) && (type == JSON_OBJECT || n <= ELEMENTS_MAX);
}

static void descend(struct member_walk *w, struct str before, struct str after)
{
	w->levels[w->depth++] =
		(struct walk_level){.before = before, .after = after, .pointer_n = w->pointer.n};
}

static void put_token(struct buf *pointer, struct str key)
{
	buf_char(pointer, '/');
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '~' || key.p[i] == '/') {
			buf_text(pointer, key.p[i] == '~' ? "~0" : "~1");
		} else {
			buf_char(pointer, key.p[i]);
		}
	}
}

/* The next pair of members or elements of the innermost level; false at its end. Writers keep
   the order of keys, so the other side's member is only searched for if it is not the next
   one. */
static bool next_pair(struct member_walk *w, struct str *before, struct str *after)
{
	struct walk_level *l = &w->levels[w->depth - 1];
	struct json_member a, b;

	buf_cut(&w->pointer, l->pointer_n);
	if (json_type(l->after) == JSON_ARRAY) {
		buf_printf(&w->pointer, "/%zu", l->index++);
		return json_next(l->before, &l->before_at, before) &&
		       json_next(l->after, &l->after_at, after);
	}
	if (!json_next_member(l->after, &l->after_at, &a)) {
		return false;
	}
	bool next = json_next_member(l->before, &l->before_at, &b) && str_eq(a.key, b.key);
	*before = next ? b.value : json_get(l->before, a.key);
	*after = a.value;
	put_token(&w->pointer, a.key);
	return true;
}

/* ---- what one member does ---- */

static bool is_close(double change, double elapsed, double unit, double quantum)
{
	return fabs(change - elapsed * unit) <= quantum + 0.05 * elapsed * unit + 0.005 * unit;
}

/* The units of a clock that the change fits, as bits, once for each of the two ways of
   timing. */
static unsigned clock_fits(double change, const struct interval *between, double quantum)
{
	static const double a_ms[] = {1e-3, 1, 1e3, 1e6};
	unsigned fits = 0;

	for (size_t way = 0; way < 2; way++) {
		for (size_t u = 0; between->elapsed_ms[way] >= ELAPSED_MIN && u < ARRAY_LEN(a_ms);
		     u++) {
			bool fit = is_close(change, between->elapsed_ms[way], a_ms[u], quantum);
			fits |= (unsigned)fit << (4 * way + u);
		}
	}
	return fits;
}

/* By the same number, but for what adding fractions loses. */
static bool is_same(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(a);
}

static void take_number(struct changing_member *m, const struct number_pair *p,
                        const struct interval *between)
{
	double change = p->after - p->before;

	m->quantum = m->changes == 0 ? p->quantum : fmin(m->quantum, p->quantum);
	m->clock_fits &= change > 0 ? clock_fits(change, between, m->quantum) : 0;
	m->largest = fmax(m->largest, change);
	m->even = !p->text && (m->changes == 0 || (m->even && is_same(change, m->delta)));
	m->delta = m->changes == 0 ? change : m->delta;
}

static bool is_separator(char c)
{
	return c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' || c == ' ';
}

/* Do the arguments contain the value, spelled identically? */
static bool is_in(struct str arguments, struct str value)
{
	for (size_t i = 1; value.n && i + value.n < arguments.n; i++) {
		if (memcmp(arguments.p + i, value.p, value.n) == 0 &&
		    is_separator(arguments.p[i - 1]) && is_separator(arguments.p[i + value.n])) {
			return true;
		}
	}
	return false;
}

/* Not set yet: null, 0 or "". */
static bool is_blank(struct str value)
{
	return json_is_null(value) || str_is(value, "0") || str_is(value, "0.0") ||
	       str_is(value, "\"\"");
}

/* A real clock keeps its offset to ours at each reading; a simulated time that starts at the
   present does not. */
static bool keeps_offset(struct changing_member *m, struct str value,
                         const struct interval *between)
{
	int64_t ms;

	if (between->now_ms < 0 || !clocks_time(value, between->now_ms, &ms)) {
		return between->now_ms < 0;
	}
	int64_t offset = ms - between->now_ms;
	m->offset_ms = m->has_offset ? m->offset_ms : offset;
	m->has_offset = true;
	return offset - m->offset_ms < OFFSET_MAX && m->offset_ms - offset < OFFSET_MAX;
}

/* Where the first value stood to our clock when it was read. */
static void take_offset(struct changing_member *m, struct str value, const struct interval *between)
{
	double elapsed = fmax(between->elapsed_ms[0], between->elapsed_ms[1]);
	int64_t ms;

	if (between->now_ms >= 0 && clocks_time(value, between->now_ms, &ms)) {
		m->offset_ms = ms - (between->now_ms - (elapsed > 0 ? (int64_t)elapsed : 0));
		m->has_offset = true;
	}
}

static void take_member(struct changing_member *m, struct str before, struct str after,
                        const struct interval *between)
{
	struct number_pair p;

	if (m->changes == 0) {
		m->was_blank = is_blank(before);
		m->is_now = m->was_blank || clocks_is_now(before, between->now_ms);
		m->is_new_id = m->was_blank || clocks_is_uuid(before);
		m->clock_fits = ~0u;
		m->is_echo = true;
		if (m->is_now && !m->was_blank) {
			take_offset(m, before, between);
		}
	}
	m->is_now = m->is_now && clocks_is_now(after, between->now_ms) &&
	            keeps_offset(m, after, between);
	m->is_new_id = m->is_new_id && clocks_is_uuid(after);
	m->is_echo = m->is_echo && is_in(between->arguments, after);
	m->without_call = m->without_call || !between->called;
	if (number_pair_read(before, after, &p)) {
		take_number(m, &p, between);
	} else {
		m->clock_fits = 0;
		m->even = false;
	}
	m->changes++;
}

static bool is_clock(const struct changing_member *m)
{
	bool coarse = m->quantum > FINE;

	return m->clock_fits && m->changes >= 3 &&
	       (!coarse || (m->largest >= 3 * m->quantum && !m->even));
}

static bool is_volatile(const struct changing_member *m)
{
	return m->without_call || (m->is_now && !m->was_blank) || is_clock(m);
}

/* New with each call: a stamp of the call, or of what it changed. */
static bool is_stamp(const struct member_changes *c, const struct changing_member *m)
{
	return (m->is_now || m->is_new_id) && m->changes >= STAMPS_MIN && m->changes == c->readings;
}

static bool is_counter(const struct member_changes *c, const struct changing_member *m)
{
	return m->even && m->delta != 0 && m->changes == c->readings;
}

static bool may_be_volatile(const struct changing_member *m)
{
	return is_volatile(m) || m->clock_fits || m->is_now || m->is_new_id;
}

/* It is no effect, or may still turn out to be none. */
static bool is_open(const struct member_changes *c, const struct changing_member *m)
{
	return may_be_volatile(m) || is_counter(c, m);
}

/* ---- all of them ---- */

static struct changing_member *find_or_add(struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->count; i++) {
		if (str_eq(c->members[i].pointer, pointer)) {
			return &c->members[i];
		}
	}
	if (c->count == CHANGES_MEMBERS_MAX - 1) { /* all bits are CHANGES_UNKNOWN */
		c->done = true;
		return NULL;
	}
	c->members = arena_grow(c->arena, c->members, c->count, sizeof(*c->members));
	c->members[c->count].pointer = arena_str(c->arena, pointer);
	return &c->members[c->count++];
}

/* A member that was added or removed differs from an absent one. */
static member_set note(struct member_changes *c, struct member_walk *w, struct str before,
                       struct str after, const struct interval *between)
{
	struct changing_member *m = w->pointer.full ? NULL : find_or_add(c, buf_view(&w->pointer));

	if (!m) {
		c->done = true;
		return CHANGES_UNKNOWN;
	}
	take_member(m, before, after, between);
	return (member_set)1 << (m - c->members);
}

static bool is_below(struct str pointer, struct str top)
{
	return str_starts(pointer, top) && (pointer.n == top.n || pointer.p[top.n] == '/');
}

static bool is_ignored(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->ignored_count; i++) {
		if (is_below(pointer, c->ignored[i])) {
			return true;
		}
	}
	return false;
}

static void take_ignored(struct member_changes *c, struct str pointer, struct str before,
                         struct str after, const struct interval *between)
{
	struct number_pair p;

	if (between->called && number_pair_read(before, after, &p) && !p.text) {
		call_changes_take(&c->by_call, c->arena, pointer, between->call, p.after - p.before,
		                  p.quantum);
	}
}

/* equal: only ignored members differ. */
static member_set compare(struct member_changes *c, struct str before, struct str after,
                          const struct interval *between, bool equal)
{
	struct member_walk w = {.pointer = BUF(POINTER_MAX)};
	member_set differ = 0;
	struct str a = before, b = after;
	bool ignored = false;

	if (is_comparable(before, after)) {
		descend(&w, before, after);
	} else if (!equal) {
		differ = note(c, &w, before, after, between);
	}
	while (w.depth > 0 && differ != CHANGES_UNKNOWN) {
		if (!next_pair(&w, &a, &b)) {
			w.depth--;
		} else if (str_eq(a, b)) {
			continue;
		} else if (is_ignored(c, buf_view(&w.pointer))) {
			ignored = true;
			take_ignored(c, buf_view(&w.pointer), a, b, between);
		} else if (w.depth < DEPTH_MAX && is_comparable(a, b)) {
			descend(&w, a, b);
		} else if (!equal) {
			differ |= note(c, &w, a, b, between);
		}
	}
	buf_release(&w.pointer);
	/* otherwise members were only removed, or spelled differently */
	return differ || ignored ? differ : CHANGES_UNKNOWN;
}

static void take_call(struct member_changes *c, const struct interval *between)
{
	c->readings++;
	if (!between->called) {
		return;
	}
	c->calls_differ = c->calls_differ || (c->called && c->call != between->call);
	c->called = true;
	c->call = between->call;
}

/* When no member can still turn out to be volatile, the others need no watching. Counters are
   told apart from effects only where nothing else changes. */
static bool is_settled(const struct member_changes *c)
{
	bool certain = false;

	if (c->count == 0 || c->readings < READINGS_MIN) {
		return false;
	}
	for (size_t i = 0; i < c->count && !certain; i++) {
		certain = !is_open(c, &c->members[i]);
	}
	for (size_t i = 0; i < c->count; i++) {
		if (may_be_volatile(&c->members[i])) {
			return false;
		}
	}
	return certain;
}

member_set member_changes_take(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between)
{
	c->done = c->done || before.n > VALUE_MAX || after.n > VALUE_MAX;
	if (c->done) {
		return CHANGES_UNKNOWN;
	}
	take_call(c, between);
	member_set differ = compare(c, before, after, between, false);
	c->done = c->done || (!c->never_done && is_settled(c));
	return differ;
}

void member_changes_take_equal(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between)
{
	if (c->done) {
		return;
	}
	take_call(c, between);
	if (c->ignored_count && before.n <= VALUE_MAX && !str_eq(before, after)) {
		(void)compare(c, before, after, between, true);
	}
}

void member_changes_count(struct member_changes *c, member_set members, bool in_episode)
{
	size_t i = 0;

	while (i < c->set_count && c->sets[i].members != members) {
		i++;
	}
	if (i == CHANGES_SETS_MAX || members == CHANGES_UNKNOWN) {
		return; /* an effect, whatever is learned later */
	}
	if (i == c->set_count) {
		c->sets = arena_grow(c->arena, c->sets, c->set_count++, sizeof(*c->sets));
	}
	c->sets[i].members = members;
	c->sets[i].steps++;
	c->sets[i].in_episode += in_episode;
}

member_set member_changes_volatile(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)is_volatile(&c->members[i]) << i;
	}
	return set;
}

static bool touches(struct str pointer, struct str other)
{
	return is_below(pointer, other) || is_below(other, pointer);
}

bool member_changes_moves_alone(const struct member_changes *c, struct str key)
{
	struct buf pointer = BUF(POINTER_MAX);
	bool found = false;

	if (c->ignored_count == 0 && member_changes_volatile(c) == 0) {
		return false;
	}
	put_token(&pointer, key);
	for (size_t i = 0; i < c->ignored_count && !found; i++) {
		found = touches(buf_view(&pointer), c->ignored[i]);
	}
	for (size_t i = 0; i < c->count && !found; i++) {
		found = is_volatile(&c->members[i]) &&
		        touches(buf_view(&pointer), c->members[i].pointer);
	}
	buf_release(&pointer);
	return found;
}

member_set member_changes_counters(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; c->calls_differ && c->readings >= 3 && i < c->count; i++) {
		set |= (member_set)is_counter(c, &c->members[i]) << i;
	}
	return set;
}

struct change_set member_changes_within(const struct member_changes *c, member_set members)
{
	struct change_set sum = {.members = members};

	for (size_t i = 0; i < c->set_count; i++) {
		if ((c->sets[i].members & ~members) == 0) {
			sum.steps += c->sets[i].steps;
			sum.in_episode += c->sets[i].in_episode;
		}
	}
	return sum;
}

member_set member_changes_stamps(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)is_stamp(c, &c->members[i]) << i;
	}
	return set;
}

member_set member_changes_echoes(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)c->members[i].is_echo << i;
	}
	return set;
}

member_set member_changes_alike(const struct member_changes *c, const struct member_changes *other,
                                member_set members)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < other->count; k++) {
			bool same = str_eq(c->members[i].pointer, other->members[k].pointer);
			set |= (member_set)(same && (members >> k & 1)) << i;
		}
	}
	return set;
}

bool member_changes_is_certain(const struct member_changes *c, member_set members)
{
	for (size_t i = 0; i < c->count; i++) {
		if ((members >> i & 1) && !is_open(c, &c->members[i])) {
			return true;
		}
	}
	return members == CHANGES_UNKNOWN;
}

bool member_changes_ignores(const struct member_changes *c, struct str key)
{
	struct buf pointer = BUF(POINTER_MAX);

	put_token(&pointer, key);
	bool ignored = is_ignored(c, buf_view(&pointer));
	buf_release(&pointer);
	return ignored;
}

static bool is_member_of(const struct member_changes *c, member_set members, struct str top)
{
	for (size_t i = 0; i < c->count; i++) {
		if ((members >> i & 1) && is_below(c->members[i].pointer, top)) {
			return true;
		}
	}
	return is_ignored(c, top);
}

bool member_changes_has_others(const struct member_changes *c, member_set members, struct str value)
{
	struct buf pointer = BUF(POINTER_MAX);
	struct json_member m;
	size_t cursor = 0;
	bool others = false;

	while (!others && json_next_member(value, &cursor, &m)) {
		buf_clear(&pointer);
		put_token(&pointer, m.key);
		others = !is_member_of(c, members, buf_view(&pointer));
	}
	buf_release(&pointer);
	return others;
}
