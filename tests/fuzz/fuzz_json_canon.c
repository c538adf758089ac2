/* The canonical form is valid and idempotent, with and without edits. The first line of an
   input has pointers, the others are JSON. */
#include "base/buf.h"
#include "json/canon.h"
#include "json/scan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	struct json_fault fault;

	if (!line)
		return 0;
	struct str pointers = {(const char *)data, (size_t)(line - data)};
	struct str value = {(const char *)line + 1, size - pointers.n - 1};
	if (json_validate(value, &fault) != 0)
		return 0;
	check_repeated(value, NULL);
	check(pointers, value, true);
	check(pointers, value, false);
	return 0;
}
