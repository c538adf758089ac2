/* What rollouts have to do with each other: see company.h. */
#include "check/company.h"

#include <stdlib.h>

/* Who took an id first. A table at most three quarters full. */
struct claim {
	uint64_t id; /* 0: free */
	uint64_t rollout, mark;
};

void company_release(struct company *c)
{
	free(c->claims);
	*c = (struct company){0};
}

static struct claim *slot(struct claim *table, size_t size, uint64_t id)
{
	size_t i = id & (size - 1);
	while (table[i].id && table[i].id != id)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static void grow(struct company *c)
{
	size_t size = c->size ? 2 * c->size : 16;
	struct claim *table = mem_array(size, sizeof(*table));
	for (size_t i = 0; i < c->size; i++) {
		if (c->claims[i].id)
			*slot(table, size, c->claims[i].id) = c->claims[i];
	}
	free(c->claims);
	c->claims = table;
	c->size = size;
}

bool company_claim(struct company *c, char kind, struct str id, uint64_t mark,
                   struct str *owner)
{
	uint64_t hash = (open_hash(id) ^ (uint64_t)(unsigned char)kind) | 1;
	if (4 * (c->count + 1) > 3 * c->size)
		grow(c);
	struct claim *taken = slot(c->claims, c->size, hash);
	*owner = (struct str){NULL, 0};
	if (taken->id == 0) {
		c->count++;
		*taken = (struct claim){hash, c->current->hash, mark};
		return false;
	}
	if (taken->mark == mark)
		return false;
	const struct open_rollout *o = open_find_hash(c->open, taken->rollout);
	if (o && o != c->current)
		*owner = o->facts.id;
	return true;
}

typedef bool company_test(const struct open_rollout *other, const struct company *c,
                          int64_t before, int64_t now);

static struct str first(const struct company *c, company_test *test, int64_t before,
                        int64_t now)
{
	for (size_t i = 0; i < c->open->size; i++) {
		for (const struct open_rollout *o = c->open->buckets[i]; o; o = o->next) {
			if (o != c->current && test(o, c, before, now))
				return o->facts.id;
		}
	}
	return (struct str){NULL, 0};
}

static bool is_state(const struct state_copy *a, struct str b)
{
	return a->n > 0 && str_eq((struct str){a->text, a->n}, b);
}

static bool moved(const struct open_rollout *o, const struct company *c, int64_t before,
                  int64_t now)
{
	(void)now;
	const struct open_rollout *me = c->current;
	struct str was = {me->was.text, me->was.n};
	return o->acted > before &&
	       (is_state(&o->before, was) || is_state(&o->before, me->now));
}

struct str company_mover(const struct company *c)
{
	return first(c, moved, c->current->seen, 0);
}

static bool counted(const struct open_rollout *o, const struct company *c, int64_t before,
                    int64_t now)
{
	(void)c;
	return o->env_steps == now - 1 && o->env_steps > before;
}

struct str company_counter(const struct company *c, int64_t before, int64_t now)
{
	return first(c, counted, before, now);
}
