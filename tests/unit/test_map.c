/* The map: SipHash against its reference; lookup, removal and listing. */
#include "base/map.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY 5000

struct thing {
	struct map_item item;
	struct str name;
	char text[24];
	bool in, listed;
};

static void test_hash(void)
{
	/* reference values of SipHash-1-3 with a key of zeros */
	static const struct {
		struct str text;
		uint64_t hash;
	} rows[] = {
		{STR_INIT(""), 0xd1fba762150c532c},
		{STR_INIT("a"), 0x407448d2b89b1813},
		{STR_INIT("rollout-1"), 0x5475c20fa5763086},
		{STR_INIT("0123456789abcdef"), 0x1d42b30f7e060c24},
		{STR_INIT("\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b"
	                  "\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96"),
	         0xcf4e1fd128ae47db},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		ok(map_hash(rows[i].text) == rows[i].hash, "SipHash of %zu bytes", rows[i].text.n);
	ok(map_hash(STR_NONE) == map_hash(STR("")), "absent text hashes like none");
	ok(map_hash_with(1, 2) != map_hash_with(2, 1), "a pair is ordered");
}

static struct thing *many_things(void)
{
	struct thing *things = mem_array(MANY, sizeof(*things));

	for (size_t i = 0; i < MANY; i++) {
		int n = snprintf(things[i].text, sizeof(things[i].text), "session-%zu", i * i);

		things[i].name = (struct str){things[i].text, (size_t)n};
	}
	return things;
}

static void check_all(const struct map *m, struct thing *things, const char *when)
{
	struct thing **list = map_list(m);
	size_t wrong = 0, in = 0;

	for (size_t i = 0; i < MANY; i++) {
		const void *found = map_find(m, map_hash(things[i].name), things[i].name);

		wrong += found != (things[i].in ? &things[i] : NULL);
		in += things[i].in;
		things[i].listed = false;
	}
	is_int(wrong, 0, "found when in, and only then: %s", when);
	is_int(m->count, in, "counted: %s", when);
	for (size_t i = 0; i < m->count; i++) {
		wrong += list[i]->listed || !list[i]->in;
		list[i]->listed = true;
	}
	is_int(wrong, 0, "listed once each: %s", when);
	free(list);
}

static void test_come_and_go(void)
{
	struct map m = {.key = offsetof(struct thing, name)};
	struct thing *things = many_things();
	struct rng rng;

	rng_seed(&rng, 7, 1);
	free(map_list(&m));
	ok(!map_find(&m, 1, STR("a")), "an empty map finds nothing and can be listed");
	for (size_t i = 0; i < MANY; i++) {
		map_add(&m, &things[i].item, map_hash(things[i].name));
		things[i].in = true;
	}
	check_all(&m, things, "all in");
	for (size_t round = 0; round < 4; round++) {
		for (size_t i = 0; i < MANY; i++) {
			struct thing *t = &things[rng_below(&rng, MANY)];

			if (t->in)
				map_remove(&m, &t->item);
			else
				map_add(&m, &t->item, map_hash(t->name));
			t->in = !t->in;
		}
		check_all(&m, things, "after coming and going");
	}
	for (size_t i = 0; i < MANY; i++) {
		if (things[i].in) {
			map_remove(&m, &things[i].item);
			things[i].in = false;
		}
	}
	check_all(&m, things, "all were removed");
	ok(!m.root, "the map is empty");
	free(things);
}

/* Equal hashes: a map by text distinguishes the keys, a map by hash does not. */
static void test_collisions(void)
{
	struct thing a = {.name = STR("a")}, b = {.name = STR("b")}, c = {.name = STR("c")};
	struct map by_text = {.key = offsetof(struct thing, name)}, by_hash = {0};

	map_add(&by_text, &a.item, 5);
	map_add(&by_text, &b.item, 5);
	map_add(&by_text, &c.item, 5);
	ok(map_find(&by_text, 5, STR("a")) == &a && map_find(&by_text, 5, STR("b")) == &b &&
	           map_find(&by_text, 5, STR("c")) == &c && !map_find(&by_text, 5, STR("d")),
	   "one hash, three texts");
	map_remove(&by_text, &a.item);
	ok(!map_find(&by_text, 5, STR("a")) && map_find(&by_text, 5, STR("b")) == &b &&
	           map_find(&by_text, 5, STR("c")) == &c,
	   "the others are still there");
	map_add(&by_hash, &a.item, 5);
	ok(map_find(&by_hash, 5, STR("anything")) == &a && !map_find(&by_hash, 6, STR("a")),
	   "by hash only");
}

int main(void)
{
	test_hash();
	test_come_and_go();
	test_collisions();
	return done();
}
