/* Finds observations in states: see mirrored.h. */
#include "facts/mirrored.h"

#include "json/canon.h"
#include "json/scan.h"

static bool is_in(struct str observation, struct str value)
{
	struct json_member member;
	size_t cursor = 0;
	bool same = value.n && str_eq(value, observation);

	while (!same && value.n && json_next_member(observation, &cursor, &member)) {
		same = member.type == JSON_STRING && str_eq(value, member.value);
	}
	return same;
}

bool mirrored_is(const struct member_changes *states, struct str observation, struct str state)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	bool is = json_equal(state, observation);

	if (!is && states->count == 1) {
		is = is_in(observation, json_point(state, states->members[0].pointer, &scratch));
	}
	buf_release(&scratch);
	return is;
}
