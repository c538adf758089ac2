/* Finds the members that differ in one walk through both values, and tracks how each changes
   over time: see member_changes.h. */
#include "facts/member_changes.h"

#include "facts/number_pair.h"
#include "facts/respelled.h"
#include "facts/word_changes.h"
#include "json/held.h"
#include "json/scan.h"
#include "json/string_words.h"

#include <math.h>

#define DEPTH_MAX 6 /* deeper containers are compared as one value */
/* longer arrays, and arrays of different lengths, are compared as one value */
#define ELEMENTS_MAX 8
/* objects with so many members, all changing without a call, are one volatile value */
#define RESTLESS_MIN 8
#define POINTER_MAX  200                /* bytes */
#define VALUE_MAX    ((size_t)64 << 10) /* larger readings are not examined after a call */
#define READINGS_MIN 2                  /* by then most members have shown their behavior */

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
		buf_char(&w->pointer, '/');
		buf_char(&w->pointer, (char)('0' + l->index++)); /* below ELEMENTS_MAX */
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

/* ---- one member ---- */

/* Is it open whether the member shows an effect: can it be volatile, generated, a counter, an
   echo or a measurement? */
static bool is_open(const struct member_changes *c, const struct changing_member *m)
{
	return changing_member_may_be_volatile(m) || m->is_fresh || m->is_echo ||
	       changing_member_may_be_echo_text(m) || changing_member_is_counter(m, c->readings) ||
	       (c->keep_fractions && changing_member_is_fraction(m));
}

/* ---- all members ---- */

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

/* A key that appears without a call may be an id that never appears again: the object that contains
   it is volatile, with all its members. At the top it must look like an id. */
static struct str volatile_pointer(struct str pointer, struct str before,
                                   const struct interval *between)
{
	size_t parent = pointer.n;

	while (parent > 0 && pointer.p[parent - 1] != '/') {
		parent--;
	}
	if (between->called || before.p || parent == 0 ||
	    (parent == 1 && !fresh_ids_is_id(str_skip(pointer, parent)))) {
		return pointer;
	}
	return (struct str){pointer.p, parent - 1};
}

/* A closing read only tells about members that changed before. */
static void confirm(struct member_changes *c, struct str pointer, struct str before,
                    struct str after)
{
	for (size_t i = 0; i < c->count; i++) {
		if (str_eq(c->members[i].pointer, pointer)) {
			changing_member_confirm_clock(&c->members[i], before, after);
		}
	}
}

/* A member that was added or removed is compared with an absent value. */
static member_set note(struct member_changes *c, struct member_walk *w, struct str before,
                       struct str after, const struct interval *between)
{
	struct str pointer = volatile_pointer(buf_view(&w->pointer), before, between);
	struct changing_member *m;

	if (between->closing) {
		confirm(c, pointer, before, after);
		return 0;
	}
	m = w->pointer.full ? NULL : find_or_add(c, pointer);
	if (!m) {
		c->done = true;
		return CHANGES_UNKNOWN;
	}
	changing_member_take(m, before, after, between);
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

static void take_words(struct member_changes *c, struct str pointer, struct str before,
                       struct str after, const struct interval *between)
{
	if (between->called) {
		recurring_words_take(&c->words, c->arena, pointer,
		                     &(struct echo){before, between->previous_arguments},
		                     &(struct echo){after, between->newest_arguments});
	}
}

static void take_number(struct member_changes *c, struct str pointer, struct str before,
                        struct str after, const struct interval *between)
{
	struct number_pair p;

	if (between->called && number_pair_read(before, after, &p) && !p.text) {
		call_changes_take(&c->by_call, c->arena, pointer,
		                  &(struct called_change){between->call, between->argument,
		                                          p.after - p.before, p.quantum});
	}
}

/* Do all members differ between these two readings, and is none of them a container? */
static bool is_restless(struct str before, struct str after)
{
	struct json_member m;
	size_t cursor = 0;

	if (json_type(after) != JSON_OBJECT || json_count(after) < RESTLESS_MIN) {
		return false;
	}
	while (json_next_member(after, &cursor, &m)) {
		if (m.type == JSON_OBJECT || m.type == JSON_ARRAY ||
		    str_eq(json_get(before, m.key), m.value)) {
			return false;
		}
	}
	return true;
}

/* An array is unordered if any of its elements is ignored or changed without a call. */
static bool is_unordered(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->ignored_count; i++) {
		if (is_below(c->ignored[i], pointer)) {
			return true;
		}
	}
	for (size_t i = 0; i < c->count; i++) {
		if (c->members[i].without_call && is_below(c->members[i].pointer, pointer)) {
			return true;
		}
	}
	return false;
}

static bool is_reordered(const struct member_changes *c, struct str pointer, struct str before,
                         struct str after)
{
	return json_type(after) == JSON_ARRAY && json_count(after) <= ELEMENTS_MAX &&
	       is_unordered(c, pointer) && respelled_order(before, after);
}

/* ---- words of texts ---- */

/* Is a word of the text at the pointer ignored? */
static bool has_ignored(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->ignored_count; i++) {
		if (c->ignored[i].n > pointer.n && is_below(c->ignored[i], pointer)) {
			return true;
		}
	}
	return false;
}

static bool has_member(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->members[i].pointer.n > pointer.n &&
		    is_below(c->members[i].pointer, pointer)) {
			return true;
		}
	}
	return false;
}

/* Words are members if one of them is known to be, if all that differ without a call may be
   generated, or if a point in time or an id is among them. */
static bool are_members(const struct word_changes *words, bool known,
                        const struct interval *between)
{
	return known || (words->generated && (!between->called || words->dated));
}

/* The result of a comparison so far. */
struct differences {
	member_set differ;
	bool ignored, same;
	struct arena held; /* JSON held in strings, decoded */
};

static struct str held_in(struct arena *a, struct str string)
{
	struct buf text = BUF(0);
	struct str held = json_held(string, &text);

	held = held.n ? arena_str(a, held) : held;
	buf_release(&text);
	return held;
}

/* Two strings that hold JSON are compared like the values in them. */
static bool descend_held(struct member_changes *c, struct member_walk *w, const struct str pair[2],
                         struct differences *d)
{
	struct str before, after;

	if (!c->by_words || json_type(pair[0]) != JSON_STRING ||
	    json_type(pair[1]) != JSON_STRING || w->depth == DEPTH_MAX) {
		return false;
	}
	before = held_in(&d->held, pair[0]);
	after = before.n ? held_in(&d->held, pair[1]) : STR_NONE;
	if (!after.n || !is_comparable(before, after)) {
		return false;
	}
	descend(w, before, after);
	return true;
}

/* False if the pair is not to be compared by words. */
static bool compare_words(struct member_changes *c, struct member_walk *w, const struct str pair[2],
                          const struct interval *between, bool equal, struct differences *d)
{
	struct word_changes words;
	bool ignored = c->by_words && has_ignored(c, buf_view(&w->pointer));
	size_t n = w->pointer.n;

	if (!c->by_words || json_type(pair[1]) != JSON_STRING ||
	    !word_changes_find(&words, pair[0], pair[1], between->now_ms) ||
	    !are_members(&words, ignored || has_member(c, buf_view(&w->pointer)), between)) {
		return false;
	}
	for (size_t i = 0; i < words.count && d->differ != CHANGES_UNKNOWN; i++) {
		const struct changed_word *word = &words.words[i];

		buf_cut(&w->pointer, n);
		buf_printf(&w->pointer, "/%zu", word->number);
		if (is_ignored(c, buf_view(&w->pointer))) {
			d->ignored = true;
			if (word->numbers) {
				take_number(c, buf_view(&w->pointer), json_inner(word->before),
				            json_inner(word->after), between);
			}
		} else if (!equal) {
			d->differ |= note(c, w, word->before, word->after, between);
		}
	}
	buf_cut(&w->pointer, n);
	if (ignored) {
		take_words(c, buf_view(&w->pointer), pair[0], pair[1], between);
	}
	return true;
}

static void compare_pair(struct member_changes *c, struct member_walk *w, const struct str pair[2],
                         const struct interval *between, bool equal, struct differences *d)
{
	struct str a = pair[0], b = pair[1], pointer = buf_view(&w->pointer);

	if (is_ignored(c, pointer)) {
		d->ignored = true;
		take_words(c, pointer, a, b, between);
		take_number(c, pointer, a, b, between);
	} else if ((between->called && respelled_number(a, b)) || is_reordered(c, pointer, a, b)) {
		d->same = true;
	} else if (w->depth < DEPTH_MAX && is_comparable(a, b) &&
	           (between->called || !is_restless(a, b))) {
		descend(w, a, b);
	} else if (!descend_held(c, w, pair, d) && !compare_words(c, w, pair, between, equal, d) &&
	           !equal) {
		d->differ |= note(c, w, a, b, between);
	}
}

/* equal: the states differ in ignored members only. */
static member_set compare(struct member_changes *c, struct str before, struct str after,
                          const struct interval *between, bool equal)
{
	struct member_walk w = {.pointer = BUF(POINTER_MAX)};
	struct differences d = {0};
	struct str pair[2] = {before, after};

	if (is_comparable(before, after)) {
		descend(&w, before, after);
	} else if (!descend_held(c, &w, pair, &d) &&
	           !compare_words(c, &w, pair, between, equal, &d) && !equal) {
		d.differ = note(c, &w, before, after, between);
	}
	while (w.depth > 0 && d.differ != CHANGES_UNKNOWN) {
		if (!next_pair(&w, &pair[0], &pair[1])) {
			w.depth--;
		} else if (!str_eq(pair[0], pair[1])) {
			compare_pair(c, &w, pair, between, equal, &d);
		}
	}
	buf_release(&w.pointer);
	arena_release(&d.held);
	/* otherwise members were only removed, or spelled differently */
	return d.differ || d.ignored || d.same ? d.differ : CHANGES_UNKNOWN;
}

static void take_argument(struct member_changes *c, struct str arguments)
{
	struct json_member m;
	size_t cursor = 0;
	double value = NAN, step;

	while (isnan(value) && json_next_member(arguments, &cursor, &m)) {
		value = json_double(m.value, &value) ? value : (double)NAN;
	}
	step = value - c->argument;
	c->argument_even = c->arguments > 0 && !isnan(step) && step != 0 &&
	                   (c->arguments == 1 ||
	                    (c->argument_even && changing_member_is_even(step, c->argument_step)));
	c->argument_step = step;
	c->argument = value;
	c->arguments++;
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
	if (between->arguments.p) {
		take_argument(c, between->arguments);
	}
}

/* If no member can still turn out to be volatile, the others need no tracking. Counters are
   distinguished from effects only if nothing else changes. */
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
		if (changing_member_may_be_volatile(&c->members[i])) {
			return false;
		}
	}
	return certain;
}

member_set member_changes_take(struct member_changes *c, struct str before, struct str after,
                               const struct interval *between)
{
	/* readings without a call are always examined: they are few, and one decides about all
	   later ones */
	c->done = c->done || (between->called && (before.n > VALUE_MAX || after.n > VALUE_MAX));
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

void member_changes_take_closing(struct member_changes *c, struct str before, struct str after,
                                 const struct interval *between)
{
	if (!c->done) {
		(void)compare(c, before, after, between, false);
	}
}

void member_changes_count(struct member_changes *c, member_set members, bool in_episode)
{
	size_t i = 0;

	while (i < c->set_count && c->sets[i].members != members) {
		i++;
	}
	if (i == CHANGES_SETS_MAX || members == CHANGES_UNKNOWN) {
		return; /* an effect, regardless of later readings */
	}
	if (i == c->set_count) {
		c->sets = arena_grow(c->arena, c->sets, c->set_count++, sizeof(*c->sets));
	}
	c->sets[i].members = members;
	c->sets[i].steps++;
	c->sets[i].in_episode += in_episode;
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
		found = changing_member_is_volatile(&c->members[i]) &&
		        touches(buf_view(&pointer), c->members[i].pointer);
	}
	buf_release(&pointer);
	return found;
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
		if ((members >> i & 1) && touches(c->members[i].pointer, top)) {
			return true;
		}
	}
	return is_ignored(c, top);
}

/* Has the text a word that is neither in the set nor ignored? */
static bool has_other_words(const struct member_changes *c, member_set members, struct str text)
{
	struct buf pointer = BUF(POINTER_MAX);
	struct str word;
	size_t at = 0;
	bool others = false;

	for (size_t n = 0; !others && json_next_word(text, &at, &word); n++) {
		buf_clear(&pointer);
		buf_printf(&pointer, "/%zu", n);
		others = !is_member_of(c, members, buf_view(&pointer));
	}
	buf_release(&pointer);
	return others;
}

bool member_changes_has_others(const struct member_changes *c, member_set members, struct str value)
{
	struct buf pointer = BUF(POINTER_MAX);
	struct json_member m;
	size_t cursor = 0;
	bool others = c->by_words && json_type(value) == JSON_STRING &&
	              has_other_words(c, members, json_inner(value));

	while (!others && json_next_member(value, &cursor, &m)) {
		buf_clear(&pointer);
		put_token(&pointer, m.key);
		others = !is_member_of(c, members, buf_view(&pointer));
	}
	buf_release(&pointer);
	return others;
}
