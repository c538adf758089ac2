/* One rollout reads the state twice, the others wait for the result: see volatile_members.h. */
#include "rollout/volatile_members.h"

#include "base/log.h"
#include "evidence/series.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdatomic.h>
#include <stdlib.h>

#define WAIT_MS   2 /* polling interval while waiting for the other rollout */
#define FOUND_MAX 1024

/* How often the state is read in all: words that are drawn may be equal by chance. */
#define READS          2
#define READS_OF_ANY   3
#define READS_OF_WORDS 5

enum reading { NOT_READ, BEING_READ, WAS_READ };

struct volatile_members {
	atomic_int reading;
	struct arena arena;
	struct str *found;                /* pointers of the members */
	uint64_t numbers[FOUND_MAX / 64]; /* one bit each */
	size_t count;
	bool words;      /* some are words of a text */
	bool incomplete; /* there are more */
};

struct volatile_members *volatile_members_new(void)
{
	return mem_new(sizeof(struct volatile_members));
}

void volatile_members_free(struct volatile_members *v)
{
	if (!v)
		return;
	arena_release(&v->arena);
	free(v);
}

int volatile_members_wait(struct volatile_members *v, struct io *io, bool *ours, struct error *err)
{
	for (;;) {
		int before = NOT_READ;

		*ours = atomic_compare_exchange_strong(&v->reading, &before, BEING_READ);
		if (before != BEING_READ)
			return 0;
		if (io_wait(io, NULL, WAIT_MS, err))
			return -1;
	}
}

void volatile_members_skip(struct volatile_members *v, bool answered)
{
	atomic_store(&v->reading, answered ? NOT_READ : WAS_READ);
}

static void add_found(struct volatile_members *v, struct str pointer, bool number)
{
	for (size_t i = 0; i < v->count; i++)
		if (str_eq(v->found[i], pointer))
			return;
	v->incomplete = v->incomplete || v->count == FOUND_MAX;
	if (v->count < FOUND_MAX) {
		v->numbers[v->count / 64] |= (uint64_t)number << v->count % 64;
		v->found = arena_grow(&v->arena, v->found, v->count, sizeof(*v->found));
		v->found[v->count++] = arena_str(&v->arena, pointer);
	}
}

static size_t count_words(struct str inner)
{
	struct str word;
	size_t n = 0;

	for (size_t at = 0; json_next_word(inner, &at, &word);)
		n++;
	return n;
}

/* In two texts of as many words, the words that differ. False if they are no such texts. */
static bool add_words(struct volatile_members *v, struct str pointer, struct str a, struct str b)
{
	struct str one = json_inner(a), two = json_inner(b), x, y;
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);
	size_t words = count_words(one), i = 0;

	if (words < 2 || words != count_words(two))
		return false;
	for (size_t at_a = 0, at_b = 0; json_next_word(one, &at_a, &x); i++) {
		if (json_next_word(two, &at_b, &y) && !str_eq(x, y)) {
			buf_set(&name, pointer);
			buf_printf(&name, "/%zu", i);
			add_found(v, buf_view(&name), false);
			v->words = true;
		}
	}
	return true;
}

static int by_pointer(const void *left, const void *right)
{
	return str_order((*(struct member *const *)left)->pointer,
	                 (*(struct member *const *)right)->pointer);
}

static void add_members(struct volatile_members *v, const struct series *s,
                        const struct reading_pair *pair)
{
	struct member **list = map_list(&s->members);
	AUTO_BUF a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);

	qsort(list, s->members.count, sizeof(struct member *), by_pointer);
	for (size_t i = 0; i < s->members.count; i++) {
		struct str pointer = list[i]->pointer;

		struct str first = json_point(pair->first, pointer, &a);

		if (!list[i]->is_list &&
		    !add_words(v, pointer, first, json_point(pair->second, pointer, &b))) {
			add_found(v, pointer, json_type(first) == JSON_NUMBER);
		}
	}
	free(list);
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

/* No lock needed: only this thread uses v while it reads. */
int volatile_members_compare(struct volatile_members *v, const struct reading_pair *pair,
                             struct str ignored)
{
	struct series s = {.has_last = false};

	if (pair->first.n && pair->second.n && !str_eq(pair->first, pair->second)) {
		series_ignore(&s, ignored, STR_NONE);
		series_start(&s, pair->first);
		series_control(&s, pair->second, false);
		v->incomplete = v->incomplete || s.over;
		add_members(v, &s, pair);
		series_release(&s);
	}
	return v->words ? READS_OF_WORDS : v->count ? READS_OF_ANY : READS;
}

void volatile_members_finish(struct volatile_members *v)
{
	warn(v);
	atomic_store(&v->reading, WAS_READ);
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
	AUTO_ARENA arena = {0};
	size_t cursor = 0;
	int failed = 0;

	*paths = json_paths_new(false);
	struct json_writer w = jw_form(json, "[");
	while (!failed && json_next(ignored, &cursor, &pointer))
		failed = put(&w, *paths, json_text(&arena, pointer), err);
	for (size_t i = 0; !failed && i < v->count; i++)
		failed = put(&w, *paths, v->found[i], err);
	jw_end(&w);
	return failed;
}

void volatile_members_put_numbers(const struct volatile_members *v, struct buf *json)
{
	bool any = false;

	for (size_t i = 0; i < v->count; i++)
		any = any || (v->numbers[i / 64] >> i % 64 & 1);
	if (!any)
		return;
	struct json_writer w = jw_form(json, "[");
	for (size_t i = 0; i < v->count; i++)
		if (v->numbers[i / 64] >> i % 64 & 1)
			jw_str(&w, v->found[i]);
	jw_end(&w);
}
