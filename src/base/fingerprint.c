/* Multiply and shift, eight bytes at a time: see fingerprint.h. */
#include "base/fingerprint.h"

static uint64_t load(const char *p, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, p, n);
	return word;
}

/* 1 to 8 bytes. Loads of constant size, which overlap, need no call of memcpy. */
static uint64_t last_word(const char *p, size_t n)
{
	if (n >= 4) {
		return load(p, 4) | load(p + n - 4, 4) << 8 * (n - 4);
	}
	return load(p, 1) | load(p + n / 2, 1) << 8 * (n / 2) | load(p + n - 1, 1) << 8 * (n - 1);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

uint64_t fingerprint(struct str s)
{
	uint64_t h = s.n * 0x9e3779b97f4a7c15u;

	for (; s.n > 8; s = str_skip(s, 8)) {
		h = mix(h, load(s.p, 8));
	}
	return s.n ? mix(h, last_word(s.p, s.n)) : h;
}
