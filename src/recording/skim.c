/* Examines lines as bytes: see skim.h. */
#include "recording/skim.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const struct {
	struct str begin;
	enum line_type type;
} beginnings[] = {
	{STR_INIT("{\"type\":\"step\",\"rollout\":\""), LINE_STEP},
	{STR_INIT("{\"type\":\"reset\",\"rollout\":\""), LINE_RESET},
	{STR_INIT("{\"type\":\"event\",\"rollout\":\""), LINE_EVENT},
	{STR_INIT("{\"type\":\"end\",\"rollout\":\""), LINE_END},
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Is the brace at p, which is not the first byte of the line, after another and blanks? */
static bool is_fused(const char *p)
{
	do {
		p--;
	} while (is_blank(*p));
	return *p == '}';
}

#ifdef __SSE2__
/* One bit for each of 16 bytes that is an opening brace after a closing one or after a blank. */
static unsigned braces_apart(const char *p)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	const __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(p - 1));
	const __m128i blank = _mm_cmplt_epi8(before, _mm_set1_epi8(' ' + 1));
	const __m128i apart = _mm_or_si128(blank, _mm_cmpeq_epi8(before, _mm_set1_epi8('}')));

	return (unsigned)_mm_movemask_epi8(
		_mm_and_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('{')), apart));
}
#endif

/* Does another object, or text that looks like one, follow an object? Finds two objects on one
   line; strings with such text are false positives. */
static bool may_be_fused(struct str line)
{
	const char *p = line.p + 1, *end = line.p + line.n;

#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		for (unsigned places = braces_apart(p); places; places &= places - 1)
			if (is_fused(p + __builtin_ctz(places)))
				return true;
	}
#endif
	for (; p < end; p++)
		if (*p == '{' && is_fused(p))
			return true;
	return false;
}

/* Sets *rollout; returns the type, or LINE_UNKNOWN for lines that do not begin as we write them. */
static enum line_type skim(struct str text, struct str *rollout)
{
	size_t i = 0;

	while (i < ARRAY_LEN(beginnings) && !str_starts(text, beginnings[i].begin))
		i++;
	if (i == ARRAY_LEN(beginnings) || text.p[text.n - 1] != '}')
		return LINE_UNKNOWN;
	struct str rest = str_skip(text, beginnings[i].begin.n);
	const char *quote = memchr(rest.p, '"', rest.n);
	size_t n = quote ? (size_t)(quote - rest.p) : 0;
	*rollout = (struct str){rest.p, n};
	return n && !memchr(rest.p, '\\', n) ? beginnings[i].type : LINE_UNKNOWN;
}

bool line_skim(struct str text, struct line *out)
{
	struct str rollout;
	enum line_type type = skim(text, &rollout);

	if (type == LINE_UNKNOWN || may_be_fused(text))
		return false;
	*out = (struct line){.type = type, .text = text, .rollout = rollout};
	return true;
}

static size_t common_bytes(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

/* Does the line end with the member that begins at this byte and the closing brace? */
static bool is_last_member(struct str line, size_t at)
{
	struct json_fault fault;
	size_t used;

	return json_validate_first(str_skip(line, at), &used, &fault) == 0 &&
	       at + used + 1 == line.n && line.p[line.n - 1] == '}';
}

bool line_same_but_meta(struct str a, struct str b)
{
	static const struct str meta = STR_INIT(",\"meta\":{");
	size_t at;

	if (str_eq(a, b))
		return true;
	at = common_bytes(a, b);
	while (at >= meta.n && memcmp(a.p + at - meta.n, meta.p, meta.n) != 0)
		at--;
	return at >= meta.n && is_last_member(a, at - 1) && is_last_member(b, at - 1);
}
