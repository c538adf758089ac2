/* Nearest names, units and masked text: see text.h. */
#define _GNU_SOURCE /* memmem */
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>

#define NEAREST_MAX 64 /* longer words are not compared */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance, computed with three rows of the table. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][NEAREST_MAX + 1];
	size_t *two_up = rows[0], *up = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b.n; j++)
		up[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			bool same = a.p[i - 1] == b.p[j - 1];

			row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + !same);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				row[j] = least(row[j], two_up[j - 2] + 1);
		}
		size_t *oldest = two_up;
		two_up = up;
		up = row;
		row = oldest;
	}
	return up[b.n];
}

/* The only name that begins with the typed text; NULL if there is none or several. */
static const char *completed(struct str typed, const char *const *names, size_t count)
{
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (names[i] && str_starts(str_from(names[i]), typed)) {
			if (found)
				return NULL;
			found = names[i];
		}
	}
	return found;
}

const char *text_nearest(struct str typed, const char *const *names, size_t count)
{
	const char *best = NULL;
	size_t limit = typed.n < 3 ? typed.n / 2 : typed.n / 3, best_distance = SIZE_MAX;

	if (typed.n == 0 || typed.n > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct str name = str_from(names[i]);

		if (name.n == 0 || name.n > NEAREST_MAX)
			continue;
		size_t d = distance(typed, name);
		size_t more = typed.n > 3 && typed.p[0] == name.p[0];
		if (d <= limit + more && d < best_distance) {
			best_distance = d;
			best = names[i];
		}
	}
	return best || typed.n < 2 ? best : completed(typed, names, count);
}

bool text_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v)) {
			return false;
		}
	}
	*out = v;
	return s.n > 0;
}

bool text_i64(struct str s, int64_t *out)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	uint64_t v;

	if (!text_u64(str_skip(s, negative), &v) || v > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

double text_double(const char *number)
{
	return strtod(number, NULL);
}

struct unit {
	const char *name;
	uint64_t factor;
};

static bool with_unit(struct str s, const struct unit *units, size_t count, uint64_t *out)
{
	size_t digits = 0;
	uint64_t v;

	while (digits < s.n && isdigit((unsigned char)s.p[digits]))
		digits++;
	if (!text_u64((struct str){s.p, digits}, &v))
		return false;
	if (digits == s.n) {
		*out = 0;
		return v == 0;
	}
	for (size_t i = 0; i < count; i++)
		if (str_is(str_skip(s, digits), units[i].name))
			return !__builtin_mul_overflow(v, units[i].factor, out);
	return false;
}

bool text_duration_ms(struct str s, uint64_t *out)
{
	static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	uint64_t ms;

	/* deadlines are in nanoseconds: refuse durations that would overflow */
	if (!with_unit(s, units, ARRAY_LEN(units), &ms) || ms > (uint64_t)1000 * 3600000)
		return false;
	*out = ms;
	return true;
}

void text_put_duration(struct buf *out, uint64_t ms)
{
	bool whole = ms % 1000 == 0;

	buf_printf(out, "%llu%s", (unsigned long long)(whole ? ms / 1000 : ms), whole ? "s" : "ms");
}

bool text_size(struct str s, uint64_t *out)
{
	static const struct unit units[] = {
		{"B", 1},           {"kB", 1000},  {"KB", 1000},      {"MB", 1000000},
		{"GB", 1000000000}, {"KiB", 1024}, {"MiB", 1u << 20}, {"GiB", 1u << 30},
	};

	return with_unit(s, units, ARRAY_LEN(units), out);
}

static size_t run_of(struct str s, int (*is_in)(int))
{
	size_t n = 0;

	while (n < s.n && is_in((unsigned char)s.p[n]))
		n++;
	return n;
}

/* 8-4-4-4-12 hex digits */
static bool is_uuid(struct str s)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	size_t at = 0;

	if (s.n < 36)
		return false;
	for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
		if (run_of((struct str){s.p + at, groups[g]}, isxdigit) != groups[g])
			return false;
		at += groups[g];
		if (g + 1 < ARRAY_LEN(groups) && s.p[at++] != '-')
			return false;
	}
	return true;
}

void text_mask(struct buf *out, struct str s)
{
	while (s.n) {
		size_t hex = run_of(s, isxdigit), digits = run_of(s, isdigit);
		size_t masked = is_uuid(s) ? 36 : hex >= 8 ? hex : digits;

		if (masked) {
			buf_char(out, '#');
			s = str_skip(s, masked);
			continue;
		}
		/* a hex letter does not end a run: the next digit is examined again */
		buf_char(out, s.p[0]);
		s = str_skip(s, 1);
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str text_trim(struct str s)
{
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	while (s.n && is_blank(s.p[0]))
		s = str_skip(s, 1);
	return s;
}

bool text_glob(struct str pattern, struct str s)
{
	size_t p = 0, i = 0, star = SIZE_MAX, from = 0;

	while (i < s.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			from = i;
		} else if (p < pattern.n && pattern.p[p] == s.p[i]) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1; /* the last star matches one more byte */
			i = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

bool text_globs(const char *patterns, struct str s)
{
	struct str rest = str_from(patterns);
	bool found = false;

	while (rest.n && !found)
		found = text_glob(str_cut(&rest, ','), s);
	return found;
}

/* ---- search ---- */

bool find_in(struct str text, struct str part)
{
	return text.n >= part.n && memmem(text.p, text.n, part.p, part.n) != NULL;
}

size_t find_at(struct str text, struct str part)
{
	const char *at = text.n < part.n ? NULL : memmem(text.p, text.n, part.p, part.n);

	return at ? (size_t)(at - text.p) : text.n;
}

/* ---- UTF-8 (RFC 3629) ---- */

size_t utf8_encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(0xf00 >> n | code);
	return n;
}

size_t utf8_decode(struct str s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = p[0] < 0x80       ? 1
	           : p[0] >> 5 == 6  ? 2
	           : p[0] >> 4 == 14 ? 3
	           : p[0] >> 3 == 30 ? 4
	                             : 0;

	if (n == 0 || n > s.n)
		return 0;
	*code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
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

		if (n == 0)
			return at;
		at += n;
	}
	return at;
}

struct str text_utf8_cut(struct str s, size_t max)
{
	size_t n = max;

	if (s.n <= max)
		return s;
	while (n > 0 && max - n < 3 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return (struct str){s.p, n};
}

void text_copy(char *out, size_t size, struct str s)
{
	s = text_utf8_cut(s, size - 1);
	if (s.n)
		memcpy(out, s.p, s.n);
	out[s.n] = '\0';
}

/* A byte is a digit if it differs from '0' by less than 10. Eight at a time. */
bool text_has_digit(struct str s)
{
	const uint64_t each = UINT64_MAX / 0xff;

	for (; s.n >= 8; s = str_skip(s, 8)) {
		uint64_t b;

		memcpy(&b, s.p, 8);
		b ^= each * '0';
		if (~((b & each * 0x7f) + each * (0x80 - 10)) & ~b & each * 0x80)
			return true;
	}
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			return true;
	return false;
}
