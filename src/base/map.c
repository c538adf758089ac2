/* A hash trie, one bit per level: see map.h. */
#include "base/map.h"

#include "base/mem.h"

/* ---- SipHash-1-3 (Aumasson and Bernstein, 2012): one round a word, three at the end ---- */

struct sip {
	uint64_t a, b, c, d;
};

static uint64_t turned(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void sip_round(struct sip *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = turned(s->b, 13) ^ s->a;
	s->d = turned(s->d, 16) ^ s->c;
	s->a = turned(s->a, 32) + s->d;
	s->c += s->b;
	s->b = turned(s->b, 17) ^ s->c;
	s->d = turned(s->d, 21) ^ s->a;
	s->c = turned(s->c, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->d ^= word;
	sip_round(s);
	s->a ^= word;
}

static uint64_t sip_end(struct sip *s)
{
	s->c ^= 0xff;
	sip_round(s);
	sip_round(s);
	sip_round(s);
	return s->a ^ s->b ^ s->c ^ s->d;
}

/* SipHash's initial state for an all-zero key: "somepseudorandomlygeneratedbytes". */
static const struct sip sip_begin = {0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261,
                                     0x7465646279746573};

uint64_t map_hash(struct str key)
{
	struct sip s = sip_begin;
	uint64_t last = (uint64_t)key.n << 56;
	size_t i = 0;

	for (; i + 8 <= key.n; i += 8) {
		uint64_t word;

		memcpy(&word, key.p + i, 8);
		sip_word(&s, word);
	}
	for (unsigned bits = 0; i < key.n; i++, bits += 8)
		last |= (uint64_t)(unsigned char)key.p[i] << bits;
	sip_word(&s, last);
	return sip_end(&s);
}

uint64_t map_hash_with(uint64_t hash, uint64_t number)
{
	struct sip s = sip_begin;

	sip_word(&s, hash);
	sip_word(&s, number);
	return sip_end(&s);
}

/* ---- the trie: each hash bit, from the highest on, selects a child ---- */

static bool is_it(const struct map *m, const struct map_item *item, uint64_t hash, struct str key)
{
	if (item->hash != hash || !m->key)
		return item->hash == hash;
	return str_eq(*(const struct str *)((const char *)item + m->key), key);
}

void *map_find(const struct map *m, uint64_t hash, struct str key)
{
	struct map_item *item = m->root;

	for (uint64_t bits = hash; item && !is_it(m, item, hash, key); bits <<= 1)
		item = item->child[bits >> 63];
	return item;
}

/* The pointer to the item, or the NULL pointer where it would be inserted. */
static struct map_item **place_of(struct map *m, const struct map_item *item, uint64_t hash)
{
	struct map_item **at = &m->root;

	for (uint64_t bits = hash; *at && *at != item; bits <<= 1)
		at = &(*at)->child[bits >> 63];
	return at;
}

void map_add(struct map *m, struct map_item *item, uint64_t hash)
{
	*item = (struct map_item){.hash = hash};
	*place_of(m, item, hash) = item;
	m->count++;
}

void *map_find_or_add(struct map *m, uint64_t hash, struct arena *a, size_t size)
{
	struct map_item *item = map_find(m, hash, STR_NONE);

	if (!item) {
		item = a ? arena_new(a, size) : mem_new(size);
		map_add(m, item, hash);
	}
	return item;
}

/* Replaces the item by a leaf of its subtree, whose hash has the same leading bits. */
void map_remove(struct map *m, struct map_item *item)
{
	struct map_item **at = place_of(m, item, item->hash), **leaf = at, *replacement = item;

	while (replacement->child[0] || replacement->child[1]) {
		leaf = &replacement->child[replacement->child[0] ? 0 : 1];
		replacement = *leaf;
	}
	*leaf = NULL;
	if (replacement != item) {
		memcpy(replacement->child, item->child, sizeof(replacement->child));
		*at = replacement;
	}
	m->count--;
}

void *map_list(const struct map *m)
{
	struct map_item **list = mem_array(m->count + 1, sizeof(struct map_item *));
	size_t n = 0;

	if (m->root)
		list[n++] = m->root;
	for (size_t i = 0; i < n; i++) { /* items after i are not visited yet */
		for (size_t side = 0; side < 2; side++)
			if (list[i]->child[side])
				list[n++] = list[i]->child[side];
	}
	return list;
}
