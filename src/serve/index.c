/* A chained hash table that grows by doubling: see index.h. */
#include "serve/index.h"

#include "base/mem.h"

#include <stdlib.h>

#define CHAINS_FIRST 64

static uint64_t hash_of(struct str name) /* FNV-1a, 64 bits */
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < name.n; i++) {
		hash = (hash ^ (unsigned char)name.p[i]) * 1099511628211u;
	}
	return hash;
}

static void grow(struct index *x)
{
	size_t chains = x->chains ? (x->mask + 1) * 2 : CHAINS_FIRST;
	struct index larger = {mem_array(chains, sizeof(struct named *)), chains - 1,
	                       x->count};

	for (size_t i = 0; x->chains && i <= x->mask; i++) {
		for (struct named *n = x->chains[i], *next; n != NULL; n = next) {
			next = n->next;
			n->next = larger.chains[n->hash & larger.mask];
			larger.chains[n->hash & larger.mask] = n;
		}
	}
	free(x->chains);
	*x = larger;
}

struct named *index_find(const struct index *x, struct str name)
{
	uint64_t hash = hash_of(name);

	if (x->chains == NULL) {
		return NULL;
	}
	for (struct named *n = x->chains[hash & x->mask]; n != NULL; n = n->next) {
		if (n->hash == hash && str_eq(n->name, name)) {
			return n;
		}
	}
	return NULL;
}

void index_add(struct index *x, struct named *n)
{
	if (x->chains == NULL || x->count > x->mask) {
		grow(x);
	}
	n->hash = hash_of(n->name);
	n->next = x->chains[n->hash & x->mask];
	x->chains[n->hash & x->mask] = n;
	x->count++;
}

void index_remove(struct index *x, struct named *n)
{
	struct named **at = &x->chains[n->hash & x->mask];

	while (*at != n) {
		at = &(*at)->next;
	}
	*at = n->next;
	x->count--;
}

struct named *index_next(const struct index *x, const struct named *n)
{
	size_t i = 0;

	if (n != NULL) {
		if (n->next != NULL) {
			return n->next;
		}
		i = (n->hash & x->mask) + 1;
	}
	for (; x->chains && i <= x->mask; i++) {
		if (x->chains[i] != NULL) {
			return x->chains[i];
		}
	}
	return NULL;
}

void index_release(struct index *x)
{
	free(x->chains);
	*x = (struct index){0};
}
