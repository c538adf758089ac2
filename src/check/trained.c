/* Reading a trainer's log-probabilities: see trained.h. */
#include "check/trained.h"

#include "check/open.h"
#include "json/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE 65536

struct slot {
	struct str rollout; /* absent: free */
	int64_t turn;
	struct trained_turn what;
};

struct trained {
	struct slot *slots;
	size_t size, count;
	struct arena arena;
};

static struct slot *place(struct slot *slots, size_t size, struct str rollout,
                          int64_t turn)
{
	uint64_t hash = open_hash(rollout) + (uint64_t)turn * 0x9e3779b97f4a7c15u;
	size_t i = (hash ^ hash >> 32) & (size - 1);

	while (slots[i].rollout.p &&
	       !(slots[i].turn == turn && str_eq(slots[i].rollout, rollout)))
		i = (i + 1) & (size - 1);
	return &slots[i];
}

static void grow(struct trained *t)
{
	size_t size = t->size ? 2 * t->size : 64;
	struct slot *slots = mem_array(size, sizeof(*slots));

	for (size_t i = 0; i < t->size; i++) {
		if (t->slots[i].rollout.p)
			*place(slots, size, t->slots[i].rollout, t->slots[i].turn) =
				t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->size = size;
}

static int take_logprobs(struct trained *t, struct str list, struct trained_turn *out,
                         struct error *err)
{
	size_t n = json_count(list), i = 0;
	double *values;
	struct str each;

	if (json_type(list) != JSON_ARRAY)
		return error_set(err, FAIL_INPUT, "\"logprobs\" is %s, not an array",
		                 json_type_name(json_type(list)));
	values = arena_new(&t->arena, (n + 1) * sizeof(*values));
	for (size_t cursor = 0; json_next(list, &cursor, &each); i++) {
		if (!json_double(each, &values[i]))
			return error_set(err, FAIL_INPUT,
			                 "\"logprobs\": the value at %zu is not a number",
			                 i);
	}
	out->logprobs = values;
	out->count = n;
	return 0;
}

static int take_line(struct trained *t, struct str text, uint64_t number,
                     struct buf *scratch, struct error *err)
{
	struct json_fault fault;
	struct trained_turn what = {.line = number};
	int64_t turn;

	if (json_validate(text, &fault))
		return error_set(err, FAIL_INPUT, "%s at byte %zu", fault.why,
		                 fault.at + 1);
	if (json_type(JSON_GET(text, "rollout")) != JSON_STRING)
		return error_set(err, FAIL_INPUT, "no \"rollout\" that is a string");
	if (!json_i64(JSON_GET(text, "turn"), &turn) || turn < 0)
		return error_set(err, FAIL_INPUT,
		                 "no \"turn\" that is a whole number from 0");
	if (take_logprobs(t, JSON_GET(text, "logprobs"), &what, err))
		return -1;
	buf_clear(scratch);
	json_decode(JSON_GET(text, "rollout"), scratch);
	if (4 * (t->count + 1) > 3 * t->size)
		grow(t);
	struct slot *s = place(t->slots, t->size, buf_view(scratch), turn);
	if (s->rollout.p)
		return error_set(err, FAIL_INPUT,
		                 "turn %" PRId64 " of that rollout is in line %" PRIu64
		                 " already",
		                 turn, s->what.line);
	*s = (struct slot){arena_str(&t->arena, buf_view(scratch)), turn, what};
	t->count++;
	return 0;
}

static bool is_blank(struct str s)
{
	size_t i = 0;

	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r'))
		i++;
	return i == s.n;
}

/* The whole lines of `text`; of a last one that has no line feed only where `last` says
 *so. used: the bytes they take. */
static int take_lines(struct trained *t, struct str text, bool last, uint64_t *number,
                      size_t *used, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct str rest = text;
	int failed = 0;

	while (!failed && rest.n > 0) {
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str one = {rest.p, lf ? (size_t)(lf - rest.p) : rest.n};

		if (!lf && !last)
			break;
		++*number;
		if (!is_blank(one))
			failed = take_line(t, one, *number, &scratch, err);
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
			failed = error_set(err, FAIL_INPUT, "a line that is too long");
		} else if (memchr(piece, '\n', n)) {
			failed =
				take_lines(t, buf_view(&text), false, number, &used, err);
			buf_drop(&text, used);
		}
	}
	if (!failed && ferror(f))
		failed = error_set(err, FAIL_INPUT, "%s", strerror(errno));
	else if (!failed)
		failed = take_lines(t, buf_view(&text), true, number, &used, err);
	buf_release(&text);
	return failed;
}

/* What was read, or the error with its place. */
static int settle(struct trained *t, int failed, const char *name, uint64_t number,
                  struct trained **out, struct error *err)
{
	if (failed)
		error_wrap(err, "%s:%" PRIu64, name, number);
	else if (t->count == 0)
		failed = error_set(err, FAIL_INPUT,
		                   "%s: there are no log-probabilities in it", name);
	if (failed)
		trained_free(t);
	else
		*out = t;
	return failed;
}

int trained_parse(struct str text, const char *name, struct trained **out,
                  struct error *err)
{
	struct trained *t = mem_new(sizeof(*t));
	uint64_t number = 0;
	size_t used;
	int failed = take_lines(t, text, true, &number, &used, err);

	return settle(t, failed, name, number, out, err);
}

int trained_read(const char *path, struct trained **out, struct error *err)
{
	FILE *f = fopen(path, "rb");
	uint64_t number = 0;

	if (!f)
		return error_set(err, FAIL_INPUT, "cannot read %s: %s", path,
		                 strerror(errno));
	struct trained *t = mem_new(sizeof(*t));
	int failed = read_lines(t, f, &number, err);
	fclose(f);
	return settle(t, failed, path, number, out, err);
}

void trained_free(struct trained *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t->slots);
	free(t);
}

struct trained_turn *trained_find(struct trained *t, struct str rollout, int64_t turn)
{
	struct slot *s = place(t->slots, t->size, rollout, turn);

	return s->rollout.p ? &s->what : NULL;
}

struct trained_use trained_use(const struct trained *t)
{
	struct trained_use use = {.turns = (int64_t)t->count};

	for (size_t i = 0; i < t->size; i++) {
		use.unused += t->slots[i].rollout.p && t->slots[i].what.uses == 0;
		use.several += t->slots[i].what.uses > 1;
	}
	return use;
}
