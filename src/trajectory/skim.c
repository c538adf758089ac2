/* Examines lines as bytes: see skim.h. */
#include "trajectory/skim.h"

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

/* Does another object, or text that looks like one, follow an object? Finds two objects on one
   line; strings with such text are false positives. */
static bool may_be_fused(struct str line)
{
	const char *end = line.p + line.n, *p = line.p + 1;

	for (p = memchr(p, '{', (size_t)(end - p)); p;
	     p = memchr(p + 1, '{', (size_t)(end - p - 1))) {
		const char *before = p - 1;

		while (is_blank(*before)) {
			before--;
		}
		if (*before == '}') {
			return true;
		}
	}
	return false;
}

bool line_skim(struct str text, struct line *out)
{
	size_t i = 0;

	while (i < ARRAY_LEN(beginnings) && !str_starts(text, beginnings[i].begin)) {
		i++;
	}
	if (i == ARRAY_LEN(beginnings) || text.p[text.n - 1] != '}') {
		return false;
	}
	struct str rest = str_skip(text, beginnings[i].begin.n);
	const char *quote = memchr(rest.p, '"', rest.n);
	size_t n = quote ? (size_t)(quote - rest.p) : 0;
	if (!n || memchr(rest.p, '\\', n) || may_be_fused(text)) {
		return false;
	}
	*out = (struct line){.type = beginnings[i].type, .text = text, .rollout = {rest.p, n}};
	return true;
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
