/* Examines lines as bytes: see skim.h. */
#include "recording/skim.h"

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

/* Does another object, or text that looks like one, follow an object? Finds two objects on one
   line; strings with such text are false positives. */
static bool may_be_fused(struct str line)
{
	const char *p = line.p, *end = line.p + line.n;

	while ((p = memchr(p + 1, '{', (size_t)(end - p) - 1)))
		if (is_fused(p))
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
