/* Searching bytes gives the result of a plain loop, for parts of every length at every
   position, and never reads beyond the end. */
#include "base/text.h"
#include "guard.h"
#include "tap.h"

#define TEXT_BYTES 100
#define PART_BYTES 80

static bool wanted(struct str text, struct str part)
{
	for (size_t at = 0; at + part.n <= text.n; at++)
		if (memcmp(text.p + at, part.p, part.n) == 0)
			return true;
	return false;
}

/* Parts of the text itself, then with one byte changed. */
static size_t differing(struct guard *g, const char *bytes)
{
	size_t wrong = 0;

	for (size_t n = 1; n <= PART_BYTES; n++) {
		for (size_t at = 0; at + n <= TEXT_BYTES; at++) {
			char part[PART_BYTES];
			struct str text = guard_put(g, (struct str){bytes, TEXT_BYTES});
			struct str p = {part, n};

			memcpy(part, bytes + at, n);
			wrong += !find_in(text, p);
			part[n / 2] = (char)(part[n / 2] ^ 1);
			wrong += find_in(text, p) != wanted(text, p);
		}
	}
	return wrong;
}

int main(void)
{
	struct guard g = guard_new(1 << 12);
	char bytes[TEXT_BYTES];

	for (size_t i = 0; i < TEXT_BYTES; i++)
		bytes[i] = (char)('a' + i * i % 7);
	is_int(differing(&g, bytes), 0, "as a loop over all places finds, in a text that repeats");
	memset(bytes, 'a', sizeof(bytes));
	is_int(differing(&g, bytes), 0, "and in one of equal bytes");
	ok(!find_in(STR("ab"), STR("abc")), "not found in a shorter text");
	guard_free(&g);
	return done();
}
