/* Finds the members that differ in one walk through both values, and tracks how each changes
   over time: see member_changes.h. */
#include "facts/member_changes.h"

#include "facts/member_walk.h"
#include "facts/number_pair.h"
#include "facts/respelled.h"
#include "facts/word_changes.h"
#include "json/held.h"
#include "json/scan.h"

#include <math.h>

/* objects with so many members, all changing without a call, are one volatile value */
#define RESTLESS_MIN 8
#define POINTER_MAX  200                /* bytes */
#define VALUE_MAX    ((size_t)64 << 10) /* larger readings are not examined after a call */
#define READINGS_MIN 2                  /* by then most members have shown their behavior */

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

bool member_changes_is_ignored(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->ignored_count; i++) {
		if (member_walk_is_below(pointer, c->ignored[i])) {
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

	if (between->called && !between->closing && number_pair_read(before, after, &p) &&
	    !p.text) {
		call_changes_take(&c->by_call, c->arena, pointer,
		                  &(struct called_change){
					  between->call, between->argument, p.after - p.before,
					  p.quantum,
					  fmax(between->elapsed_ms[0], between->elapsed_ms[1]), 0});
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
		if (member_walk_is_below(c->ignored[i], pointer)) {
			return true;
		}
	}
	for (size_t i = 0; i < c->count; i++) {
		if (c->members[i].without_call &&
		    member_walk_is_below(c->members[i].pointer, pointer)) {
			return true;
		}
	}
	return false;
}

static bool is_reordered(const struct member_changes *c, struct str pointer, struct str before,
                         struct str after)
{
	return json_type(after) == JSON_ARRAY && json_count(after) <= MEMBER_WALK_ELEMENTS &&
	       is_unordered(c, pointer) && respelled_order(before, after);
}

/* ---- words of texts ---- */

/* Is a word of the text at the pointer ignored? */
static bool has_ignored(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->ignored_count; i++) {
		if (c->ignored[i].n > pointer.n && member_walk_is_below(c->ignored[i], pointer)) {
			return true;
		}
	}
	return false;
}

static bool has_member(const struct member_changes *c, struct str pointer)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->members[i].pointer.n > pointer.n &&
		    member_walk_is_below(c->members[i].pointer, pointer)) {
			return true;
		}
	}
	return false;
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
	    json_type(pair[1]) != JSON_STRING || w->depth == MEMBER_WALK_DEPTH) {
		return false;
	}
	before = held_in(&d->held, pair[0]);
	after = before.n ? held_in(&d->held, pair[1]) : STR_NONE;
	if (!after.n || !member_walk_comparable(before, after)) {
		return false;
	}
	member_walk_descend(w, before, after);
	return true;
}

/* Are this text's words tracked as members of their own? Yes if one already is. Without a call: if one
   that differs looks generated; all that differ then are. After a call: only if all of them look
   generated, and one is a time or a UUID. */
static bool are_members(struct word_changes *w, const struct str pair[2], bool known,
                        const struct interval *between)
{
	bool prose = known || !between->called;

	return word_changes_find(w, pair[0], pair[1], prose, between->now_ms) &&
	       (known || (between->called ? w->dated : w->generated > 0));
}

/* False if the pair is not to be compared by words. */
static bool compare_words(struct member_changes *c, struct member_walk *w, const struct str pair[2],
                          const struct interval *between, bool equal, struct differences *d)
{
	struct word_changes words;
	size_t n = w->pointer.n;

	if (!c->by_words || json_type(pair[1]) != JSON_STRING) {
		return false;
	}
	bool known = has_ignored(c, buf_view(&w->pointer)) || has_member(c, buf_view(&w->pointer));
	if (!are_members(&words, pair, known, between)) {
		return false;
	}
	for (size_t i = 0; i < words.count && d->differ != CHANGES_UNKNOWN; i++) {
		const struct changed_word *word = &words.words[i];

		buf_cut(&w->pointer, n);
		buf_printf(&w->pointer, "/%zu", word->number);
		if (member_changes_is_ignored(c, buf_view(&w->pointer))) {
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
	return true;
}

static void compare_pair(struct member_changes *c, struct member_walk *w, const struct str pair[2],
                         const struct interval *between, bool equal, struct differences *d)
{
	struct str a = pair[0], b = pair[1], pointer = buf_view(&w->pointer);

	if (member_changes_is_ignored(c, pointer)) {
		d->ignored = true;
		take_words(c, pointer, a, b, between);
		take_number(c, pointer, a, b, between);
	} else if ((between->called && respelled_number(a, b)) || is_reordered(c, pointer, a, b)) {
		d->same = true;
	} else if (w->depth < MEMBER_WALK_DEPTH && member_walk_comparable(a, b) &&
	           (between->called || !is_restless(a, b))) {
		member_walk_descend(w, a, b);
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

	if (member_walk_comparable(before, after)) {
		member_walk_descend(&w, before, after);
	} else if (!descend_held(c, &w, pair, &d) &&
	           !compare_words(c, &w, pair, between, equal, &d) && !equal) {
		d.differ = note(c, &w, before, after, between);
	}
	while (w.depth > 0 && d.differ != CHANGES_UNKNOWN) {
		if (!member_walk_next(&w, &pair[0], &pair[1])) {
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
	call_changes_called(&c->by_call);
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

bool member_changes_moves_alone(const struct member_changes *c, struct str key)
{
	struct buf pointer = BUF(POINTER_MAX);
	bool found = false;

	if (c->ignored_count == 0 && member_changes_volatile(c) == 0) {
		return false;
	}
	member_walk_put_token(&pointer, key);
	for (size_t i = 0; i < c->ignored_count && !found; i++) {
		found = member_walk_touches(buf_view(&pointer), c->ignored[i]);
	}
	for (size_t i = 0; i < c->count && !found; i++) {
		found = changing_member_is_volatile(&c->members[i]) &&
		        member_walk_touches(buf_view(&pointer), c->members[i].pointer);
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

	member_walk_put_token(&pointer, key);
	bool ignored = member_changes_is_ignored(c, buf_view(&pointer));
	buf_release(&pointer);
	return ignored;
}
