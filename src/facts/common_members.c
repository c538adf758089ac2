/* Intersects the keys of answers: see common_members.h. */
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
static bool next_key(struct str answer, size_t *cursor, uint64_t *key)
{
	struct json_member m;

	if (json_type(answer) != JSON_OBJECT) {
		*key = (uint64_t)json_type(answer);
		return !(*cursor)++ && !is_blank(answer);
	}
	while (json_next_member(answer, cursor, &m)) {
		if (!is_blank(m.value) && !str_eq(m.key, STR("metadata"))) {
			*key = fingerprint(m.key);
			return true;
		}
	}
	return false;
}

static bool has(struct str answer, uint64_t key)
{
	size_t cursor = 0;
	uint64_t each;

	while (next_key(answer, &cursor, &each)) {
		if (each == key) {
			return true;
		}
	}
	return false;
}

void common_members_add(struct common_members *c, struct str answer)
{
	size_t cursor = 0, kept = 0;
	uint64_t key;

	while (!c->any && c->count < COMMON_MEMBERS_MAX && next_key(answer, &cursor, &key)) {
		c->keys[c->count++] = key;
	}
	for (size_t i = 0; c->any && i < c->count; i++) {
		if (has(answer, c->keys[i])) {
			c->keys[kept++] = c->keys[i];
		}
	}
	c->count = c->any ? kept : c->count;
	c->any = true;
}

bool common_members_lacks_all(const struct common_members *c, struct str answer)
{
	for (size_t i = 0; i < c->count; i++) {
		if (has(answer, c->keys[i])) {
			return false;
		}
	}
	return c->count > 0;
}
