/* A map from keys to items: a trie over the bits of the key's hash. The items themselves are the
   nodes, so nothing is ever moved or reallocated, and a look-up takes about log2(count) steps.
   Keys chosen by a server cannot make it slow: sharing n bits of a hash takes 2^n trials per
   key, and beyond 64 bits a SipHash collision. */
#pragma once

#include "base/base.h"

struct arena;

/* Must be the first member of each item. */
struct map_item {
	struct map_item *child[2];
	uint64_t hash;
};

/* A zeroed map is empty and treats equal hashes as equal keys: that saves storing the keys where
   a mistake in 2^64 does no harm. To compare the keys too, set `key` to the offset of a struct
   str in the item ({.key = offsetof(struct item, key)}), which must outlive the item. */
struct map {
	struct map_item *root;
	size_t count;
	size_t key;
};

/* SipHash-1-3 with a fixed key: the same in every process. */
uint64_t map_hash(struct str key);
uint64_t map_hash_with(uint64_t hash, uint64_t number); /* for a key that is a pair */

/* The item, or NULL. `key` is only read if the map compares keys. */
void *map_find(const struct map *m, uint64_t hash, struct str key);

/* Adds an item that is not in the map; the caller keeps ownership. A map that compares keys
   reads the item's key. */
void map_add(struct map *m, struct map_item *item, uint64_t hash);
/* The item with that hash, in a map that compares no keys. If there is none, one of that size is
   added: zeroed, from the arena, or without an arena to be freed. */
void *map_find_or_add(struct map *m, uint64_t hash, struct arena *a, size_t size)
	__attribute__((returns_nonnull));
void map_remove(struct map *m, struct map_item *item); /* must be in the map */

/* Returns all items: an array of m->count pointers, to be freed by the caller. The order is
   arbitrary: sort them before anything visible depends on it. */
void *map_list(const struct map *m) __attribute__((returns_nonnull));
