/* Splits strings into words: see string_words.h. */
#include "json/string_words.h"

#include "json/lex.h"

static bool separates(uint32_t c)
{
	static const bool printed[0x80] = {
		['"'] = true, [','] = true, [';'] = true,  ['='] = true, ['<'] = true,
		['>'] = true, ['('] = true, [')'] = true,  ['['] = true, [']'] = true,
		['{'] = true, ['}'] = true, ['\\'] = true, ['/'] = true, ['|'] = true,
	};

	return c <= ' ' || (c < sizeof(printed) && printed[c]);
}

/* Does a separator begin at p? *after is where the next character begins. */
static bool separator_at(const unsigned char *p, const unsigned char *end,
                         const unsigned char **after)
{
	*after = p + 1;
	if (*p != '\\') {
		return separates(*p);
	}
	*after = p;
	return separates(lex_unescape(after, end));
}

bool json_next_word(struct str inner, size_t *at, struct str *word)
{
	const unsigned char *end = lex_end(inner), *p = lex_begin(inner) + *at, *from, *next;

	while (p < end && separator_at(p, end, &next)) {
		p = next;
	}
	from = p;
	while (p < end && !separator_at(p, end, &next)) {
		p = next;
	}
	*word = lex_slice(from, p);
	*at = (size_t)(p - lex_begin(inner));
	return word->n > 0;
}
