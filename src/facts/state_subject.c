/* Compares a state with a call's arguments: see state_subject.h. */
#include "facts/state_subject.h"

#include "json/scan.h"

#define DIGEST_MIN 16 /* hex digits */

static bool is_digest(struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;

	for (size_t i = 0; i < text.n; i++) {
		if (!strchr("0123456789abcdefABCDEF", text.p[i])) {
			return false;
		}
	}
	return text.n >= DIGEST_MIN;
}

/* Does the state consist only of digests? A digest next to other members may belong to a task or
   a program. */
static bool is_digests(const struct member_changes *states, struct str state)
{
	struct json_member member;
	size_t cursor = 0;
	bool found = is_digest(state);

	while (json_next_member(state, &cursor, &member)) {
		if (member_changes_ignores(states, member.key)) {
			continue;
		}
		if (!is_digest(member.value)) {
			return false;
		}
		found = true;
	}
	return found;
}

/* Does the text occur as a key anywhere in the value? */
static bool has_key(struct str value, struct str text)
{
	for (size_t i = 0; i + text.n < value.n; i++) {
		if (value.p[i] == text.p[0] && memcmp(value.p + i, text.p, text.n) == 0 &&
		    value.p[i + text.n] == ':') {
			return true;
		}
	}
	return false;
}

/* Is an argument the name of a member of the state? Lists of names do not count, because they
   may select what to read. */
static bool names_argument(struct str state, struct str arguments)
{
	struct json_member member;
	size_t cursor = 0;

	while (json_next_member(arguments, &cursor, &member)) {
		struct str text = member.type == JSON_STRING ? member.value : STR_NONE;
		if (text.n > 2 && has_key(state, text)) {
			return true;
		}
	}
	return false;
}

bool state_subject_is_calls(const struct member_changes *states, struct str state,
                            struct str arguments)
{
	return is_digests(states, state) || names_argument(state, arguments);
}
