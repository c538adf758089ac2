/* Multiply and shift, eight bytes at a time: see fingerprint.h. */
#include "facts/fingerprint.h"

uint64_t fingerprint(struct str s)
{
	uint64_t h = s.n * 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < s.n; i += 8) {
		uint64_t word = 0;

		memcpy(&word, s.p + i, s.n - i < 8 ? s.n - i : 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}
