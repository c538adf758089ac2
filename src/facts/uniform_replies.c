/* Compares replies without their numbers: see uniform_replies.h. */
#include "facts/uniform_replies.h"

#include "facts/fingerprint.h"
#include "json/scan.h"

#define REPLY_MAX ((size_t)1 << 10)

static uint64_t hash_of(const struct json_member *m)
{
	return fingerprint(m->key) ^ 3 * fingerprint(m->value);
}

void uniform_replies_reset(struct uniform_replies *u, struct str observation)
{
	struct json_member m;
	size_t cursor = 0;

	u->excluded = u->excluded || u->reset.any;
	common_members_add(&u->reset, observation);
	while (!u->excluded && u->value_count < UNIFORM_VALUES &&
	       json_next_member(observation, &cursor, &m)) {
		if (m.type == JSON_NUMBER || m.type == JSON_STRING) {
			u->values[u->value_count++] = hash_of(&m);
		}
	}
}

static bool contains(const struct uniform_replies *u, uint64_t value)
{
	for (size_t i = 0; i < u->value_count; i++) {
		if (u->values[i] == value) {
			return true;
		}
	}
	return false;
}

void uniform_replies_state(struct uniform_replies *u, struct str state)
{
	struct json_member m;
	size_t cursor = 0;

	if (u->excluded || u->shown || !state.n) {
		return;
	}
	while (!u->shown && json_next_member(state, &cursor, &m)) {
		u->shown = contains(u, hash_of(&m));
	}
	u->excluded = !u->shown;
}

static uint64_t words_of(struct str reply)
{
	char words[REPLY_MAX];
	size_t n = 0;

	for (size_t i = 0; i < reply.n; i++) {
		char c = reply.p[i];

		if (c != '.' && (c < '0' || c > '9')) {
			words[n++] = c;
		}
	}
	return fingerprint((struct str){words, n});
}

void uniform_replies_add(struct uniform_replies *u, uint64_t call, struct str reply)
{
	u->excluded = u->excluded || !u->shown || reply.n > REPLY_MAX ||
	              !common_members_lacks_all(&u->reset, reply);
	if (u->excluded) {
		return;
	}
	uint64_t words = words_of(reply);
	u->words = u->replies ? u->words : words;
	u->call = u->replies ? u->call : call;
	u->excluded = words != u->words;
	u->calls_differ = u->calls_differ || call != u->call;
	u->replies++;
}

bool uniform_replies_found(const struct uniform_replies *u)
{
	return !u->excluded && u->replies >= UNIFORM_REPLIES_MIN && u->calls_differ;
}
