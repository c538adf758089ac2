/* Which of the members that changed show no effect, by how they changed: see member_changes.h. */
#include "facts/member_changes.h"

#include <math.h>

#define STAMPS_MIN 3
#define UUIDS_MIN  2

/* New after each call: a time or id of the call, or of the data that it changed. */
static bool is_stamp(const struct member_changes *c, const struct changing_member *m)
{
	return (m->is_now || m->is_new_id) && m->changes >= STAMPS_MIN && m->changes == c->readings;
}

member_set member_changes_volatile(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)changing_member_is_volatile(&c->members[i]) << i;
	}
	return set;
}

/* A number that grows evenly while the arguments do may be derived from them, unless it changes
   by one each time. */
static member_set counters(const struct member_changes *c, bool in_text)
{
	member_set set = 0;

	for (size_t i = 0; c->calls_differ && c->readings >= 3 && i < c->count; i++) {
		const struct changing_member *m = &c->members[i];
		bool made = c->argument_even && (in_text || fabs(m->delta) != 1);
		bool counts = m->in_text == in_text && changing_member_is_counter(m, c->readings) &&
		              !made;
		set |= (member_set)counts << i;
	}
	return set;
}

member_set member_changes_counters(const struct member_changes *c)
{
	return counters(c, false);
}

member_set member_changes_text_counters(const struct member_changes *c)
{
	return counters(c, true);
}

member_set member_changes_fresh(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct changing_member *m = &c->members[i];
		/* UUIDs cannot be anything else */
		bool known = m->changes >= (m->is_new_id ? UUIDS_MIN : STAMPS_MIN);
		bool each = known && m->changes == c->readings;
		set |= (member_set)(m->is_fresh && each) << i;
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

member_set member_changes_fractions(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)changing_member_is_fraction(&c->members[i]) << i;
	}
	return set;
}

member_set member_changes_echo_texts(const struct member_changes *c)
{
	member_set set = 0;

	for (size_t i = 0; i < c->count; i++) {
		set |= (member_set)changing_member_is_echo_text(&c->members[i]) << i;
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
