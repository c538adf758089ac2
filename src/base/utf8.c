/* UTF-8 (RFC 3629): see utf8.h and text.h. */
#include "base/utf8.h"

#include "base/text.h"

size_t utf8_decode(struct str s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = p[0] < 0x80       ? 1
	           : p[0] >> 5 == 6  ? 2
	           : p[0] >> 4 == 14 ? 3
	           : p[0] >> 3 == 30 ? 4
	                             : 0;

	if (n == 0 || n > s.n) {
		return 0;
	}
	*code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2) {
			return 0;
		}
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	bool surrogate = *code >= 0xd800 && *code < 0xe000;
	return *code < smallest[n] || *code > 0x10ffff || surrogate ? 0 : n;
}

size_t text_utf8_valid(struct str s)
{
	size_t at = 0;
	uint32_t code;

	while (at < s.n) {
		size_t n = utf8_decode(str_skip(s, at), &code);

		if (n == 0) {
			return at;
		}
		at += n;
	}
	return at;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

struct str text_utf8_cut(struct str s, size_t max)
{
	size_t n = max;

	if (s.n <= max) {
		return s;
	}
	while (n > 0 && max - n < 3 && continues(s.p[n])) {
		n--;
	}
	return (struct str){s.p, n};
}

void text_copy(char *out, size_t size, struct str s)
{
	s = text_utf8_cut(s, size - 1);
	if (s.n) {
		memcpy(out, s.p, s.n);
	}
	out[s.n] = '\0';
}
