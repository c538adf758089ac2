/* Parser of a trainer's log-probabilities: see trained.h. */
#include "recording/trained.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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

	if (json_validate(text, &fault))
		return error_set(err, FAIL_INPUT, "%s at byte %zu", fault.why, fault.at + 1);
	if (json_type(JSON_GET(text, "rollout")) != JSON_STRING)
		return error_set(err, FAIL_INPUT, "\"rollout\" is missing or not a string");
	if (!json_i64(JSON_GET(text, "turn"), &turn) || turn < 0) {
		return error_set(err, FAIL_INPUT,
		                 "\"turn\" is missing or not a non-negative integer");
	}
	if (read_logprobs(t, JSON_GET(text, "logprobs"), &what, err))
		return -1;
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

static int read_lines(struct trained *t, FILE *f, uint64_t *number, struct error *err)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int failed = 0;

	while (!failed && (n = getline(&line, &room, f)) > 0) {
		struct str text = {line, (size_t)n - (line[n - 1] == '\n')};

		++*number;
		failed = text_trim(text).n ? read_line(t, text, *number, &scratch, err) : 0;
	}
	if (!failed && ferror(f))
		failed = error_set(err, FAIL_INPUT, "%s", strerror(errno));
	free(line);
	return failed;
}

int trained_read_stream(FILE *f, const char *name, struct trained **out, struct error *err)
{
	struct trained *t = mem_new(sizeof(*t));
	uint64_t number = 0;
	int failed = read_lines(t, f, &number, err);

	if (failed && !number)
		error_wrap(err, "cannot read %s", name);
	else if (failed)
		error_wrap(err, "%s:%" PRIu64, name, number);
	else if (t->turns.count == 0)
		failed = error_set(err, FAIL_INPUT, "%s: contains no log-probabilities", name);
	if (failed)
		trained_free(t);
	else
		*out = t;
	return failed;
}

int trained_read(const char *path, struct trained **out, struct error *err)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return error_set(err, FAIL_INPUT, "cannot read %s: %s", path, strerror(errno));
	int failed = trained_read_stream(f, path, out, err);
	fclose(f);
	return failed;
}

void trained_free(struct trained *t)
{
	if (!t)
		return;
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
