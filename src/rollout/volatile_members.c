/* One rollout reads the state twice, the others wait for the result: see volatile_members.h. */
#include "rollout/volatile_members.h"

#include "base/log.h"
#include "facts/member_changes.h"
#include "json/scan.h"
#include "json/write.h"

#include <pthread.h>
#include <stdlib.h>

#define WAIT_MS   2 /* polling interval while waiting for the other rollout */
#define FOUND_MAX 1024

enum reading { NOT_READ, BEING_READ, WAS_READ };

struct volatile_members {
	pthread_mutex_t lock;
	enum reading reading;
	struct arena arena;
	struct str *found; /* pointers of the members */
	size_t count;
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

/* Is one of the members a word of a text in the state? */
static bool has_word(const struct volatile_members *v, struct str state)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	bool found = false;

	for (size_t i = 0; i < v->count && !found; i++) {
		struct str text = v->found[i];

		while (text.n && text.p[text.n - 1] != '/') {
			text.n--;
		}
		text.n -= text.n > 0;
		found = v->found[i].n > 0 &&
		        json_type(json_point(state, text, &scratch)) == JSON_STRING;
	}
	buf_release(&scratch);
	return found;
}

/* No lock needed: only this thread uses v while it reads. */
bool volatile_members_compare(struct volatile_members *v, struct str first, struct str second,
                              struct str ignored)
{
	const struct str states[] = {first, second};
	bool differ = first.n && second.n && !str_eq(first, second), all = !differ;
	size_t count, some = differ;
	struct str *known = known_of(v, ignored, &count);

	v->found = known + count;
	while (!all && some > 0 && v->count + CHANGES_MEMBERS_MAX <= FOUND_MAX) {
		some = find_some(v, known, count + v->count, states, &all);
		v->count += some;
	}
	v->incomplete = v->incomplete || !all;
	return has_word(v, second);
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
