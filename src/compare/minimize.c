/* Delta debugging: see minimize.h. */
#include "compare/minimize.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

struct ddmin {
	const struct minimize_conf *conf;
	struct minimized *best;
	struct map failed; /* hashes of lists that failed the test */
	struct arena arena;
	size_t parts; /* number of parts that the list is split into */
	bool pairs;   /* instead of parts, two elements are removed */
};

/* Lists up to this length are also tried without any two of their elements: ddmin leaves pairs
   that can only be removed together, such as a move and the move back. */
#define PAIRS_MAX 16

/* One part of the list, or all but that part; or all but two elements, given by their positions. */
struct variant {
	size_t part;
	bool rest;
	size_t first, second;
};

static size_t cut_at(const struct ddmin *s, size_t part)
{
	return part * s->best->count / s->parts;
}

static struct sublist build(const struct ddmin *s, struct variant v, size_t *room)
{
	size_t from = cut_at(s, v.part), to = cut_at(s, v.part + 1), n = 0;

	for (size_t i = 0; i < s->best->count; i++) {
		bool kept =
			s->pairs ? i != v.first && i != v.second : (i >= from && i < to) != v.rest;

		if (kept)
			room[n++] = s->best->index[i];
	}
	return (struct sublist){room, n};
}

static uint64_t hash_of(const struct sublist *l)
{
	return map_hash((struct str){(const char *)l->index, l->count * sizeof(*l->index)});
}

static bool is_known(const struct ddmin *s, const struct sublist *l)
{
	return map_find(&s->failed, hash_of(l), STR_NONE) != NULL;
}

static size_t variants_count(const struct ddmin *s)
{
	size_t n = s->best->count;

	return s->pairs ? n * (n - 1) / 2 : 2 * s->parts;
}

/* The variants of a round in order: each part, then the list without each part; or the list
   without each pair. */
static struct variant nth(const struct ddmin *s, size_t i)
{
	struct variant v = {.rest = true, .second = 1};

	if (!s->pairs)
		return (struct variant){.part = i % s->parts, .rest = i >= s->parts};
	while (i-- > 0) {
		v.second++;
		if (v.second == s->best->count) {
			v.first++;
			v.second = v.first + 1;
		}
	}
	return v;
}

/* Is this variant the same list as another variant, or as the list it is built from? */
static bool is_twin(const struct ddmin *s, struct variant v)
{
	if (s->pairs)
		return false;
	return s->parts == 2 ? v.rest : s->parts == 1 && !v.rest;
}

struct ddmin_round {
	struct sublist *lists;
	size_t **rooms; /* memory of the lists */
	struct variant *variants;
	bool *passes;
	size_t count;
};

/* Collects the next untested variants, from *next on. */
static void gather(const struct ddmin *s, size_t *next, struct ddmin_round *r)
{
	size_t most = s->conf->max_tests - s->best->tests;

	most = most < s->conf->at_once ? most : s->conf->at_once;
	for (r->count = 0; *next < variants_count(s) && r->count < most; (*next)++) {
		size_t *room = mem_array(s->best->count + 1, sizeof(*room));

		r->variants[r->count] = nth(s, *next);
		r->lists[r->count] = build(s, r->variants[r->count], room);
		if (is_twin(s, r->variants[r->count]) || is_known(s, &r->lists[r->count]))
			free(room);
		else
			r->rooms[r->count++] = room;
	}
}

/* Returns 1 if a variant passed and was kept, 0 if none did. */
static int try(struct ddmin *s, struct ddmin_round *r, struct variant *found, struct error *err)
{
	const struct minimize_conf *c = s->conf;
	int kept = 0;

	memset(r->passes, 0, c->at_once * sizeof(*r->passes));
	if (c->test(c->ctx, r->lists, r->count, r->passes, err))
		return -1;
	s->best->tests += r->count;
	for (size_t i = 0; i < r->count && !kept; i++) {
		if (r->passes[i]) {
			*found = r->variants[i];
			s->best->count = r->lists[i].count;
			memmove(s->best->index, r->lists[i].index,
			        s->best->count * sizeof(*s->best->index));
			kept = 1;
		} else if (!is_known(s, &r->lists[i])) {
			map_add(&s->failed, arena_new(&s->arena, sizeof(struct map_item)),
			        hash_of(&r->lists[i]));
		}
	}
	if (c->progress)
		c->progress(c->ctx, s->best->count, s->best->tests);
	return kept;
}

/* Tests all variants for this number of parts, up to the first that passes. *out: stopped by
   max_tests. */
static int one_round(struct ddmin *s, struct ddmin_round *r, struct variant *found, bool *out,
                     struct error *err)
{
	size_t next = 0, count = variants_count(s);
	int kept = 0;

	*out = false;
	while (!kept && next < count && !*out) {
		gather(s, &next, r);
		if (r->count > 0)
			kept = try(s, r, found, err);
		*out = !kept && next < count && s->best->tests >= s->conf->max_tests;
		for (size_t i = 0; i < r->count; i++)
			free(r->rooms[i]);
	}
	return kept;
}

static void refine(struct ddmin *s, struct variant found)
{
	s->parts = found.rest && s->parts > 2 ? s->parts - 1 : 2;
	s->parts = s->parts < s->best->count ? s->parts : s->best->count;
}

/* Removes elements until none can be removed. */
static int search(struct ddmin *s, struct ddmin_round *r, struct error *err)
{
	struct minimized *best = s->best;

	best->is_minimal = false;
	s->parts = best->count < 2 ? best->count : 2;
	while (best->count > 0) {
		struct variant found = {0};
		bool out;
		int kept = one_round(s, r, &found, &out, err);

		if (kept < 0 || out)
			return kept < 0 ? -1 : 0;
		if (kept)
			refine(s, found);
		else if (s->parts < best->count)
			s->parts = 2 * s->parts < best->count ? 2 * s->parts : best->count;
		else
			break;
	}
	best->is_minimal = true;
	return 0;
}

/* Returns 1 if a pair was removed, so that the search continues. */
static int drop_pair(struct ddmin *s, struct ddmin_round *r, struct error *err)
{
	struct variant found;
	bool out;

	if (!s->best->is_minimal || s->best->count < 2 || s->best->count > PAIRS_MAX)
		return 0;
	s->pairs = true;
	int kept = one_round(s, r, &found, &out, err);

	s->pairs = false;
	return kept;
}

int minimize(const struct minimize_conf *conf, struct minimized *out, struct error *err)
{
	struct ddmin s = {.conf = conf, .best = out};
	struct ddmin_round r = {.lists = mem_array(conf->at_once, sizeof(*r.lists)),
	                        .rooms = mem_array(conf->at_once, sizeof(*r.rooms)),
	                        .variants = mem_array(conf->at_once, sizeof(*r.variants)),
	                        .passes = mem_array(conf->at_once, sizeof(*r.passes))};

	*out = (struct minimized){.index = mem_array(conf->count + 1, sizeof(*out->index)),
	                          .count = conf->count};
	for (size_t i = 0; i < conf->count; i++)
		out->index[i] = i;
	int going = 1;

	while (going > 0)
		going = search(&s, &r, err) ? -1 : drop_pair(&s, &r, err);
	free(r.lists);
	free(r.rooms);
	free(r.variants);
	free(r.passes);
	arena_release(&s.arena);
	return going;
}
