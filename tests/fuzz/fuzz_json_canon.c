/* The canonical form is valid and idempotent, with and without edits. The first line of an
   input has pointers, the others are JSON. */
#include "base/buf.h"
#include "json/canon.h"
#include "json/canon_shape.h"
#include "json/scan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds) {
		abort();
	}
}

static void must_be_valid(const struct buf *b)
{
	struct json_fault fault;

	must(!b->full && json_validate(buf_view(b), &fault) == 0);
}

/* Canonicalizing the canonical form changes nothing, nor does masking it again. */
static void check_repeated(struct str value, const struct json_paths *paths)
{
	struct buf once = BUF(BUF_MAX_MESSAGE), twice = BUF(BUF_MAX_MESSAGE);

	json_canon(value, paths, JSON_EDIT_MASK, &once);
	must_be_valid(&once);
	json_canon(buf_view(&once), paths, JSON_EDIT_MASK, &twice);
	must(str_eq(buf_view(&once), buf_view(&twice)));
	must(paths || once.n <= value.n);
	buf_release(&once);
	buf_release(&twice);
}

static void check_dropped(struct str value, const struct json_paths *paths)
{
	struct buf once = BUF(BUF_MAX_MESSAGE), twice = BUF(BUF_MAX_MESSAGE);

	json_canon(value, paths, JSON_EDIT_DROP, &once);
	must_be_valid(&once);
	json_canon(buf_view(&once), NULL, JSON_EDIT_DROP, &twice);
	must(str_eq(buf_view(&once), buf_view(&twice)));
	buf_release(&once);
	buf_release(&twice);
}

/* True if it was added to paths. */
static bool check_pointer(struct str value, struct str pointer, struct json_paths *paths)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;
	struct error err;
	struct str found = json_point(value, pointer, &scratch);

	must(!found.p || json_validate(found, &fault) == 0);
	bool added = json_paths_add(paths, pointer, &err) == 0;
	must(added || err.kind == FAIL_INPUT);
	buf_release(&scratch);
	return added;
}

static void check(struct str pointers, struct str value, bool wild)
{
	struct json_paths *paths = json_paths_new(wild);
	int added = 0;

	while (pointers.p && added < 4) {
		const char *blank = memchr(pointers.p, ' ', pointers.n);
		size_t n = blank ? (size_t)(blank - pointers.p) : pointers.n;

		added += check_pointer(value, (struct str){pointers.p, n}, paths);
		pointers = blank ? str_skip(pointers, n + 1) : STR_NONE;
	}
	check_repeated(value, paths);
	check_dropped(value, paths);
	json_paths_free(paths);
}

/* A line whose shape is known gives the same. The lines of the text learn from each
   other. */
static void check_shapes(struct str text, const struct json_canon_keys *keys)
{
	struct json_shapes *shapes = json_canon_shapes_new();
	struct json_canon_object plain, other;

	for (int round = 0; round < 2; round++) {
		for (struct str rest = text; rest.n;) {
			const char *feed = memchr(rest.p, '\n', rest.n);
			struct buf a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);
			bool valid = json_canon_members(rest, keys, &plain, &a);
			const struct json_canon_object *o =
				json_canon_shaped(shapes, rest, keys, &other, &b);

			must(valid == (o != NULL) && str_eq(buf_view(&a), buf_view(&b)));
			must(!o || (o->count == plain.count && o->used == plain.used));
			for (size_t i = 0; o && i < o->count; i++) {
				must(str_eq(o->members[i].key, plain.members[i].key));
				must(str_eq(o->members[i].value, plain.members[i].value));
			}
			buf_release(&a);
			buf_release(&b);
			rest = feed ? str_skip(rest, (size_t)(feed - rest.p) + 1) : STR_NONE;
		}
	}
	json_shapes_free(shapes);
}

/* The canonical form made during validation is the same, member by member, and only a valid
   object on one line is accepted. */
static void check_members(struct str text)
{
	static const struct str names[] = {STR_INIT("a")};
	static const struct json_lead leads[] = {JSON_LEAD("a"), JSON_LEAD("z")};
	const struct json_canon_keys keys = {names, 1, {leads, ARRAY_LEN(leads)}};
	struct json_canon_object o;
	struct buf out = BUF(BUF_MAX_MESSAGE);
	struct json_member m;
	struct json_fault fault;
	size_t cursor = 0;

	check_shapes(text, &keys);
	if (json_canon_members(text, &keys, &o, &out)) {
		text.n = o.used;
		must(json_validate(text, &fault) == 0 && !memchr(text.p, '\n', text.n));
		must_be_valid(&out);
		for (size_t i = 0; i < o.count; i++) {
			must(json_next_member(text, &cursor, &m) &&
			     str_eq(m.key, o.members[i].key) && m.type == o.members[i].type);
			must(!o.members[i].lead || m.key.p[0] == "az"[o.members[i].lead - 1]);
			must(json_equal(m.value, o.members[i].value));
			if (m.type != JSON_OBJECT || !str_is(m.key, "a")) {
				struct buf one = BUF(BUF_MAX_MESSAGE);

				json_canon(m.value, NULL, JSON_EDIT_MASK, &one);
				must(str_eq(buf_view(&one), o.members[i].value));
				buf_release(&one);
			} else {
				must(o.inner[i].count == json_count(m.value));
			}
		}
		must(!json_next_member(text, &cursor, &m));
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	struct json_fault fault;

	if (!line) {
		return 0;
	}
	struct str pointers = {(const char *)data, (size_t)(line - data)};
	struct str value = {(const char *)line + 1, size - pointers.n - 1};
	check_members(value);
	if (json_validate(value, &fault) != 0) {
		return 0;
	}
	check_repeated(value, NULL);
	check(pointers, value, true);
	check(pointers, value, false);
	return 0;
}
