/* Parser of a trainer's log-probabilities: see trained.h. */
#include "recording/trained.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE 65536

struct numbered_turn {
	struct map_item item;
	struct trained_turn what;
};

struct trained {
	struct map turns; /* by rollout and turn; in the arena */
	struct arena arena;
};

static uint64_t hash_of(struct str rollout, int64_t turn)
{
	return map_hash_with(map_hash(rollout), (uint64_t)turn);
}

static int read_logprobs(struct trained *t, struct str list, struct trained_turn *out,
                         struct error *err)
{
	size_t n = json_count(list), i = 0;
	double *values;
	struct str each;

	if (json_type(list) != JSON_ARRAY) {
		return error_set(err, FAIL_INPUT, "\"logprobs\" is %s, not an array",
		                 json_type_phrase(json_type(list)));
	}
	values = arena_new(&t->arena, (n + 1) * sizeof(*values));
	for (size_t cursor = 0; json_next(list, &cursor, &each); i++) {
		if (!json_double(each, &values[i])) {
			return error_set(err, FAIL_INPUT,
			                 "\"logprobs\": the value at %zu is not a number", i);
		}
	}
	out->logprobs = values;
	out->count = n;
	return 0;
}

static int read_line(struct trained *t, struct str text, uint64_t number, struct buf *scratch,
                     struct error *err)
{
	struct json_fault fault;
	struct trained_turn what = {.line = number};
	int64_t turn;

	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_INPUT, "%s at byte %zu", fault.why, fault.at + 1);
	}
	if (json_type(JSON_GET(text, "rollout")) != JSON_STRING) {
		return error_set(err, FAIL_INPUT, "\"rollout\" is missing or not a string");
	}
	if (!json_i64(JSON_GET(text, "turn"), &turn) || turn < 0) {
		return error_set(err, FAIL_INPUT,
		                 "\"turn\" is missing or not a non-negative integer");
	}
	if (read_logprobs(t, JSON_GET(text, "logprobs"), &what, err)) {
		return -1;
	}
	buf_clear(scratch);
	json_decode(JSON_GET(text, "rollout"), scratch);
	uint64_t hash = hash_of(buf_view(scratch), turn);
	struct numbered_turn *one = map_find(&t->turns, hash, STR_NONE);
	if (one) {
		return error_set(err, FAIL_INPUT, "duplicate of turn %" PRId64 " in line %" PRIu64,
		                 turn, one->what.line);
	}
	one = arena_new(&t->arena, sizeof(*one));
	one->what = what;
	map_add(&t->turns, &one->item, hash);
	return 0;
}

/* Processes the complete lines of `text`; a last line without a line feed only if `last` is set.
   *used: the bytes processed. */
static int read_complete_lines(struct trained *t, struct str text, bool last, uint64_t *number,
                               size_t *used, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct str rest = text;
	int failed = 0;

	while (!failed && rest.n > 0) {
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str one = {rest.p, lf ? (size_t)(lf - rest.p) : rest.n};

		if (!lf && !last) {
			break;
		}
		++*number;
		if (text_trim(one).n) {
			failed = read_line(t, one, *number, &scratch, err);
		}
		rest = str_skip(rest, one.n + 1);
	}
	buf_release(&scratch);
	*used = text.n - rest.n;
	return failed;
}

static int read_lines(struct trained *t, FILE *f, uint64_t *number, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	char piece[PIECE];
	size_t n, used = 0;
	int failed = 0;

	while (!failed && (n = fread(piece, 1, sizeof(piece), f)) > 0) {
		buf_add(&text, piece, n);
		if (text.full) {
			failed = error_set(err, FAIL_INPUT, "the line is too long");
		} else if (memchr(piece, '\n', n)) {
			failed = read_complete_lines(t, buf_view(&text), false, number, &used, err);
			buf_drop(&text, used);
		}
	}
	if (!failed && ferror(f)) {
		failed = error_set(err, FAIL_INPUT, "%s", strerror(errno));
	} else if (!failed) {
		failed = read_complete_lines(t, buf_view(&text), true, number, &used, err);
	}
	buf_release(&text);
	return failed;
}

/* Returns the result, or adds the position to the error. */
static int finish_reading(struct trained *t, int failed, const char *name, uint64_t number,
                          struct trained **out, struct error *err)
{
	if (failed && !number) {
		error_wrap(err, "cannot read %s", name);
	} else if (failed) {
		error_wrap(err, "%s:%" PRIu64, name, number);
	} else if (t->turns.count == 0) {
		failed = error_set(err, FAIL_INPUT, "%s: contains no log-probabilities", name);
	}
	if (failed) {
		trained_free(t);
	} else {
		*out = t;
	}
	return failed;
}

int trained_parse(struct str text, const char *name, struct trained **out, struct error *err)
{
	struct trained *t = mem_new(sizeof(*t));
	uint64_t number = 0;
	size_t used;
	int failed = read_complete_lines(t, text, true, &number, &used, err);

	return finish_reading(t, failed, name, number, out, err);
}

int trained_read(const char *path, struct trained **out, struct error *err)
{
	FILE *f = fopen(path, "rb");
	uint64_t number = 0;

	if (!f) {
		return error_set(err, FAIL_INPUT, "cannot read %s: %s", path, strerror(errno));
	}
	struct trained *t = mem_new(sizeof(*t));
	int failed = read_lines(t, f, &number, err);
	fclose(f);
	return finish_reading(t, failed, path, number, out, err);
}

void trained_free(struct trained *t)
{
	if (!t) {
		return;
	}
	arena_release(&t->arena);
	free(t);
}

struct trained_turn *trained_find(struct trained *t, struct str rollout, int64_t turn)
{
	struct numbered_turn *one = map_find(&t->turns, hash_of(rollout, turn), STR_NONE);

	return one ? &one->what : NULL;
}

struct trained_use trained_use(const struct trained *t)
{
	struct trained_use use = {.turns = (int64_t)t->turns.count};
	struct numbered_turn **turns = map_list(&t->turns);

	for (size_t i = 0; i < t->turns.count; i++) {
		use.unused += turns[i]->what.uses == 0;
		use.several += turns[i]->what.uses > 1;
	}
	free(turns);
	return use;
}
