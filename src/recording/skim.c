/* Examines lines as bytes: see skim.h. */
#include "recording/skim.h"

#ifdef __SSE2__
#include <immintrin.h>
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
#define VECTORS ((size_t)4)
#define TESTED  64 /* bytes tested at once */
#define AVX2    __attribute__((target("avx2")))

static __m128i braces_at(const char *p)
{
	return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p),
	                      _mm_set1_epi8('{'));
}

/* One bit for each of the bytes that is an opening brace. Most blocks have none: calling memchr
   for each brace of a line takes twice as long. */
static uint64_t open_braces(const char *p)
{
	__m128i v[VECTORS], any = _mm_setzero_si128();
	uint64_t places = 0;

	for (size_t i = 0; i < VECTORS; i++) {
		v[i] = braces_at(p + 16 * i);
		any = _mm_or_si128(any, v[i]);
	}
	for (size_t i = 0; i < VECTORS && UNLIKELY(_mm_movemask_epi8(any)); i++) {
		places |= (uint64_t)(unsigned)_mm_movemask_epi8(v[i]) << (16 * i);
	}
	return places;
}
#endif

#ifdef __SSE2__
/* Line feeds, and opening braces after a closing one or after a blank (or a control character). */
static inline AVX2 __m256i ends_at(const char *p)
{
	const __m256i *here = (const __m256i *)(const void *)p;
	const __m256i *back = (const __m256i *)(const void *)(p - 1);
	__m256i v = _mm256_loadu_si256(here), before = _mm256_loadu_si256(back);
	__m256i space = _mm256_set1_epi8(' ');
	__m256i blank = _mm256_cmpeq_epi8(_mm256_min_epu8(before, space), before);
	__m256i apart = _mm256_or_si256(blank, _mm256_cmpeq_epi8(before, _mm256_set1_epi8('}')));
	__m256i opens = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('{'));

	return _mm256_or_si256(_mm256_and_si256(opens, apart),
	                       _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n')));
}

static AVX2 const char *line_end_avx2(const char *p, const char *end)
{
	for (; end - p >= TESTED; p += TESTED) {
		__m256i low = ends_at(p), high = ends_at(p + TESTED / 2);

		if (LIKELY(_mm256_testz_si256(_mm256_or_si256(low, high),
		                              _mm256_or_si256(low, high)))) {
			continue;
		}
		uint64_t places = (uint32_t)_mm256_movemask_epi8(low) |
		                  (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << TESTED / 2;
		for (; places; places &= places - 1) {
			const char *at = p + __builtin_ctzll(places);

			if (*at == '\n' || is_fused(at)) {
				return *at == '\n' ? at : NULL;
			}
		}
	}
	return NULL;
}
#endif

/* Does another object, or text that looks like one, follow an object? Finds two objects on one
   line; strings with such text are false positives. */
static bool may_be_fused(struct str line)
{
	const char *p = line.p + 1, *end = line.p + line.n;

#ifdef __SSE2__
	for (; end - p >= TESTED; p += TESTED) {
		for (uint64_t places = open_braces(p); places; places &= places - 1) {
			if (is_fused(p + __builtin_ctzll(places))) {
				return true;
			}
		}
	}
#endif
	for (; p < end; p++) {
		if (*p == '{' && is_fused(p)) {
			return true;
		}
	}
	return false;
}

/* Sets *rollout; returns the type, or LINE_UNKNOWN for lines that do not begin as we write them. */
static enum line_type skim(struct str text, struct str *rollout)
{
	size_t i = 0;

	while (i < ARRAY_LEN(beginnings) && !str_starts(text, beginnings[i].begin)) {
		i++;
	}
	if (i == ARRAY_LEN(beginnings) || text.p[text.n - 1] != '}') {
		return LINE_UNKNOWN;
	}
	struct str rest = str_skip(text, beginnings[i].begin.n);
	const char *quote = memchr(rest.p, '"', rest.n);
	size_t n = quote ? (size_t)(quote - rest.p) : 0;
	*rollout = (struct str){rest.p, n};
	return n && !memchr(rest.p, '\\', n) ? beginnings[i].type : LINE_UNKNOWN;
}

/* More may follow the object. */
static bool skim_start(struct str text, struct line *out)
{
	struct str rollout;
	enum line_type type = skim(text, &rollout);

	if (type == LINE_UNKNOWN) {
		return false;
	}
	*out = (struct line){.type = type, .text = text, .rollout = rollout};
	return true;
}

bool line_skim_first(struct str lines, struct line *out)
{
#ifdef __SSE2__
	if (lines.n > 0 && lines.p[0] == '{' && __builtin_cpu_supports("avx2")) {
		const char *end = line_end_avx2(lines.p + 1, lines.p + lines.n);

		return end && skim_start((struct str){lines.p, (size_t)(end - lines.p)}, out);
	}
#endif
	(void)lines;
	(void)out;
	return false;
}

bool line_skim(struct str text, struct line *out)
{
	struct str rollout;

	return skim(text, &rollout) != LINE_UNKNOWN && !may_be_fused(text) && skim_start(text, out);
}

/* The length of the common prefix. */
static size_t common_bytes(struct str a, struct str b)
{
	enum { BLOCK = 256 };
	size_t n = a.n < b.n ? a.n : b.n, at = 0;

	while (n - at >= BLOCK && memcmp(a.p + at, b.p + at, BLOCK) == 0) {
		at += BLOCK;
	}
	while (at < n && a.p[at] == b.p[at]) {
		at++;
	}
	return at;
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
	size_t at = common_bytes(a, b);

	if (at == a.n && at == b.n) {
		return true;
	}
	while (at >= meta.n && memcmp(a.p + at - meta.n, meta.p, meta.n) != 0) {
		at--;
	}
	return at >= meta.n && is_last_member(a, at - 1) && is_last_member(b, at - 1);
}
