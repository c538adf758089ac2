/* Does a value have members outside a set? See member_changes.h. */
#include "facts/member_changes.h"

#include "facts/member_walk.h"
#include "json/held.h"
#include "json/scan.h"
#include "json/string_words.h"

#define POINTER_MAX 200 /* bytes */

/* Where a value is, seen from the members of a set and those that are ignored. */
enum place { OUTSIDE, AROUND, INSIDE };

static enum place place_of(const struct member_changes *c, member_set members, struct str pointer)
{
	enum place place = OUTSIDE;

	for (size_t i = 0; i < c->count; i++) {
		struct str member = c->members[i].pointer;

		if (!(members >> i & 1)) {
			continue;
		}
		if (member_walk_is_below(pointer, member)) {
			return INSIDE;
		}
		place = member_walk_is_below(member, pointer) ? AROUND : place;
	}
	return member_changes_is_ignored(c, pointer) ? INSIDE : place;
}

/* Does the text have a word outside? */
static bool has_other_words(const struct member_changes *c, member_set members, struct buf *pointer,
                            struct str text)
{
	struct str word;
	size_t at = 0, n = pointer->n;
	bool others = false;

	for (size_t i = 0; !others && json_next_word(text, &at, &word); i++) {
		buf_printf(pointer, "/%zu", i);
		others = place_of(c, members, buf_view(pointer)) == OUTSIDE;
		buf_cut(pointer, n);
	}
	return others;
}

/* Begins a level, unless the value is a text. */
static bool descend(struct member_walk *w, struct buf *decoded, struct str value)
{
	struct str held;

	buf_clear(decoded);
	held = json_held(value, decoded);
	if (w->depth == MEMBER_WALK_DEPTH || !held.n || !member_walk_comparable(held, held)) {
		return false;
	}
	member_walk_descend(w, held, held);
	return true;
}

bool member_changes_has_others(const struct member_changes *c, member_set members, struct str value)
{
	struct member_walk w = {.pointer = BUF(POINTER_MAX)};
	struct buf decoded[MEMBER_WALK_DEPTH + 1] = {0};
	size_t used = 0;
	struct str same, v = value;
	bool others = false, enter = true;

	do {
		if (enter && !descend(&w, &decoded[used], v)) {
			others = json_type(v) == JSON_STRING &&
			         has_other_words(c, members, &w.pointer, json_inner(v));
		} else if (enter) {
			used += decoded[used].n > 0; /* the level is a view of it */
		}
		enter = false;
		if (w.depth > 0 && !member_walk_next(&w, &same, &v)) {
			w.depth--;
		} else if (w.depth > 0) {
			enum place place = place_of(c, members, buf_view(&w.pointer));
			others = others || place == OUTSIDE;
			enter = place == AROUND && used < MEMBER_WALK_DEPTH;
		}
	} while (!others && (w.depth > 0 || enter));
	for (size_t i = 0; i <= MEMBER_WALK_DEPTH; i++) {
		buf_release(&decoded[i]);
	}
	buf_release(&w.pointer);
	return others;
}
