/* One rollout reads the state twice, the others wait for the result: see volatile_members.h. */
#include "rollout/volatile_members.h"

#include "base/log.h"
#include "facts/member_changes.h"
#include "json/scan.h"
#include "json/string_words.h"
#include "json/write.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define WAIT_MS   2 /* polling interval while waiting for the other rollout */
#define FOUND_MAX 1024

/* How often the state is read in all. */
#define READS          2
#define READS_OF_ANY   3
#define READS_OF_WORDS 5

enum reading { NOT_READ, BEING_READ, WAS_READ };

/* All values of a number; least > most: it is none. */
struct value_range {
	double least, most;
};

struct volatile_members {
	pthread_mutex_t lock;
	enum reading reading;
	struct arena arena;
	struct str *found; /* pointers of the members */
	struct value_range *ranges;
	size_t count;
	int64_t ms;      /* from the first to the last reading */
	bool incomplete; /* there are more */
};

struct volatile_members *volatile_members_new(void)
{
	struct volatile_members *v = mem_new(sizeof(*v));

	pthread_mutex_init(&v->lock, NULL);
	return v;
}

void volatile_members_free(struct volatile_members *v)
{
	if (!v) {
		return;
	}
	pthread_mutex_destroy(&v->lock);
	arena_release(&v->arena);
	free(v);
}

static enum reading try_to_read(struct volatile_members *v)
{
	pthread_mutex_lock(&v->lock);
	enum reading before = v->reading;
	if (before == NOT_READ) {
		v->reading = BEING_READ;
	}
	pthread_mutex_unlock(&v->lock);
	return before;
}

int volatile_members_wait(struct volatile_members *v, struct io *io, bool *ours, struct error *err)
{
	for (;;) {
		enum reading before = try_to_read(v);
		*ours = before == NOT_READ;
		if (before != BEING_READ) {
			return 0;
		}
		if (io_wait(io, NULL, WAIT_MS, err)) {
			return -1;
		}
	}
}

static void set_reading(struct volatile_members *v, enum reading reading)
{
	pthread_mutex_lock(&v->lock);
	v->reading = reading;
	pthread_mutex_unlock(&v->lock);
}

void volatile_members_skip(struct volatile_members *v, bool answered)
{
	set_reading(v, answered ? NOT_READ : WAS_READ);
}

/* The pointers of the array, then those found so far, and room for more. */
static struct str *known_of(struct volatile_members *v, struct str array, size_t *count)
{
	struct str *list = arena_new(&v->arena, (json_count(array) + FOUND_MAX) * sizeof(*list));
	struct str pointer;
	size_t cursor = 0;

	*count = 0;
	while (json_next(array, &cursor, &pointer)) {
		list[(*count)++] = arena_str(&v->arena, json_inner(pointer));
	}
	if (v->count) {
		memcpy(list + *count, v->found, v->count * sizeof(*list));
	}
	return list;
}

/* Finds as many members as are tracked at a time, that are not in `known` yet, and appends them
   to it. Returns their number. *all: there are no others. */
static size_t find_some(struct volatile_members *v, struct str *known, size_t count,
                        const struct str states[2], bool *all)
{
	struct interval between = {
		.now_ms = -1, .elapsed_ms = {-1, -1}, .least_ms = -1, .most_ms = -1};
	struct member_changes c = {
		.arena = &v->arena, .ignored = known, .ignored_count = count, .by_words = true};

	(void)member_changes_take(&c, states[0], states[1], &between);
	*all = !c.done;
	for (size_t i = 0; i < c.count; i++) {
		known[count + i] = c.members[i].pointer;
	}
	return c.count;
}

static void warn(const struct volatile_members *v)
{
	for (size_t i = 0; i < v->count; i++) {
		struct str pointer = v->found[i];

		if (pointer.n) {
			log_warn("ignored in the state: %.*s (changes without a call)",
			         STR_ARG(pointer));
		} else {
			log_warn("the state as a whole changes without a call: it shows no effects "
			         "(choose another with \1state\2)");
		}
	}
	if (v->incomplete) {
		log_warn("more members of the state change without a call than can be found: "
		         "name them with \1ignore\2, else their changes count as effects");
	}
}

/* The text of which the pointer is a word; absent if it is none. */
static struct str text_with(struct str state, struct str pointer, struct buf *scratch)
{
	struct str text = pointer;

	while (text.n && text.p[text.n - 1] != '/') {
		text.n--;
	}
	if (text.n == 0) {
		return STR_NONE;
	}
	text.n--;
	text = json_point(state, text, scratch);
	return json_type(text) == JSON_STRING ? text : STR_NONE;
}

/* Is one of the members a word of a text in the state? */
static bool has_word(const struct volatile_members *v, struct str state)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	bool found = false;

	for (size_t i = 0; i < v->count && !found; i++) {
		found = text_with(state, v->found[i], &scratch).n > 0;
	}
	buf_release(&scratch);
	return found;
}

/* The member's value, which may be a word of a text. */
static bool number_at(struct str state, struct str pointer, struct buf *scratch, double *number)
{
	struct str value = json_point(state, pointer, scratch), word = STR_NONE;
	int64_t place;
	size_t digits = pointer.n, at = 0;

	if (json_type(value) == JSON_NUMBER) {
		return json_double(value, number);
	}
	while (digits && pointer.p[digits - 1] != '/') {
		digits--;
	}
	value = json_inner(text_with(state, pointer, scratch));
	if (!value.n || !json_i64(str_skip(pointer, digits), &place)) {
		return false;
	}
	for (int64_t i = 0; i <= place; i++) {
		if (!json_next_word(value, &at, &word)) {
			return false;
		}
	}
	return json_double_text(word, number);
}

static struct value_range *new_ranges(struct arena *a)
{
	struct value_range *ranges = arena_new(a, FOUND_MAX * sizeof(*ranges));

	for (size_t i = 0; i < FOUND_MAX; i++) {
		ranges[i] = (struct value_range){INFINITY, -INFINITY};
	}
	return ranges;
}

static void widen_ranges(struct volatile_members *v, struct str state)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	double number;

	for (size_t i = 0; i < v->count; i++) {
		if (number_at(state, v->found[i], &scratch, &number)) {
			v->ranges[i].least = fmin(v->ranges[i].least, number);
			v->ranges[i].most = fmax(v->ranges[i].most, number);
		}
	}
	buf_release(&scratch);
}

/* No lock needed: only this thread uses v while it reads. */
int volatile_members_compare(struct volatile_members *v, const struct reading_pair *pair,
                             struct str ignored)
{
	const struct str states[] = {pair->first, pair->second}, second = pair->second;
	bool differ = pair->first.n && second.n && !str_eq(pair->first, second), all = !differ;
	size_t count, some = differ;
	struct str *known = known_of(v, ignored, &count);

	v->found = known + count;
	v->ranges = v->ranges ? v->ranges : new_ranges(&v->arena);
	while (!all && some > 0 && v->count + CHANGES_MEMBERS_MAX <= FOUND_MAX) {
		some = find_some(v, known, count + v->count, states, &all);
		v->count += some;
	}
	v->incomplete = v->incomplete || !all;
	v->ms += pair->ms;
	widen_ranges(v, pair->first);
	widen_ranges(v, second);
	if (v->count == 0) {
		return READS;
	}
	return has_word(v, second) ? READS_OF_WORDS : READS_OF_ANY;
}

void volatile_members_finish(struct volatile_members *v)
{
	warn(v);
	set_reading(v, WAS_READ);
}

static int put(struct json_writer *w, struct json_paths *paths, struct str pointer,
               struct error *err)
{
	jw_str(w, pointer);
	return json_paths_add(paths, pointer, err);
}

int volatile_members_add(struct volatile_members *v, struct str ignored, struct buf *json,
                         struct json_paths **paths, struct error *err)
{
	struct str pointer;
	struct json_writer w;
	struct arena arena = {0};
	size_t cursor = 0;
	int failed = 0;

	*paths = json_paths_new(false);
	jw_init(&w, json);
	jw_array(&w);
	while (!failed && json_next(ignored, &cursor, &pointer)) {
		failed = put(&w, *paths, json_text(&arena, pointer), err);
	}
	for (size_t i = 0; !failed && i < v->count; i++) {
		failed = put(&w, *paths, v->found[i], err);
	}
	jw_end(&w);
	arena_release(&arena);
	return failed;
}

void volatile_members_put_ranges(const struct volatile_members *v, struct buf *json)
{
	struct json_writer w;
	bool any = false;

	for (size_t i = 0; i < v->count; i++) {
		any = any || v->ranges[i].least < v->ranges[i].most;
	}
	if (!any) {
		return;
	}
	jw_init(&w, json);
	jw_object(&w);
	jw_key(&w, "ms");
	jw_i64(&w, v->ms);
	jw_key(&w, "ranges");
	jw_object(&w);
	for (size_t i = 0; i < v->count; i++) {
		if (v->ranges[i].least < v->ranges[i].most) {
			jw_key_str(&w, v->found[i]);
			jw_double(&w, v->ranges[i].most - v->ranges[i].least);
		}
	}
	jw_end(&w);
	jw_end(&w);
}
