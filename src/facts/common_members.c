/* Intersects the keys of replies: see common_members.h. */
#include "facts/common_members.h"

#include "facts/fingerprint.h"
#include "json/scan.h"

static bool is_blank(struct str value)
{
	enum json_type type = json_type(value);

	return !value.n || type == JSON_NULL || (type == JSON_STRING && !json_inner(value).n) ||
	       ((type == JSON_ARRAY || type == JSON_OBJECT) && !json_count(value));
}

/* The next member that counts, as a hash of its key. */
static bool next_key(struct str reply, size_t *cursor, uint64_t *key)
{
	struct json_member m;

	if (json_type(reply) != JSON_OBJECT) {
		*key = (uint64_t)json_type(reply);
		return !(*cursor)++ && !is_blank(reply);
	}
	while (json_next_member(reply, cursor, &m)) {
		if (!is_blank(m.value) && !str_eq(m.key, STR("metadata"))) {
			*key = fingerprint(m.key);
			return true;
		}
	}
	return false;
}

static bool has(struct str reply, uint64_t key)
{
	size_t cursor = 0;
	uint64_t each;

	while (next_key(reply, &cursor, &each)) {
		if (each == key) {
			return true;
		}
	}
	return false;
}

void common_members_add(struct common_members *c, struct str reply)
{
	size_t cursor = 0, kept = 0;
	uint64_t key;

	while (!c->any && c->count < COMMON_MEMBERS_MAX && next_key(reply, &cursor, &key)) {
		c->keys[c->count++] = key;
	}
	for (size_t i = 0; c->any && i < c->count; i++) {
		if (has(reply, c->keys[i])) {
			c->keys[kept++] = c->keys[i];
		}
	}
	c->count = c->any ? kept : c->count;
	c->any = true;
}

bool common_members_lacks_all(const struct common_members *c, struct str reply)
{
	for (size_t i = 0; i < c->count; i++) {
		if (has(reply, c->keys[i])) {
			return false;
		}
	}
	return c->count > 0;
}
