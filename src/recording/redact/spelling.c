/* Matches a text against its escaped spellings: see spelling.h. An escape can have several
   meanings (%25 is a percent sign, or the start of one that was escaped twice), so matching is a
   search. The number of its steps is limited. */
#include "recording/redact/spelling.h"

#define MEANINGS   12 /* meanings of one escape */
#define PLACES     64 /* pending positions of the search */
#define TRIES_EACH 16 /* steps for each byte of the text */

/* What an escape may stand for, and its length. */
struct meaning {
	char bytes[4];
	size_t n, used;
};

struct meanings {
	struct meaning item[MEANINGS];
	size_t count;
};

static void add_byte(struct meanings *m, unsigned char byte, size_t used)
{
	if (m->count < MEANINGS)
		m->item[m->count++] = (struct meaning){{(char)byte}, 1, used};
}

static void add_code(struct meanings *m, uint32_t code, size_t used)
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	struct meaning x = {.used = used};

	if (code < 0x80) {
		add_byte(m, (unsigned char)code, used);
		return;
	}
	if (code > 0x10ffff || m->count == MEANINGS)
		return;
	x.n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = x.n - 1; i > 0; i--, code >>= 6)
		x.bytes[i] = (char)(0x80 | (code & 0x3f));
	x.bytes[0] = (char)(lead[x.n] | code);
	m->item[m->count++] = x;
}

static char at_of(struct str s, size_t at)
{
	return at < s.n ? s.p[at] : '\0';
}

/* Reads at most max digits; returns their number. */
static size_t read_digits(struct str s, unsigned base, size_t max, uint32_t *value)
{
	size_t n = 0;

	*value = 0;
	for (; n < max && n < s.n; n++) {
		unsigned c = (unsigned char)s.p[n], letter = (c | 32) - 'a';
		unsigned digit = c - '0' < 10 ? c - '0' : letter < 6 ? letter + 10 : 99;

		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	return n;
}

static size_t backslashes(struct str s)
{
	size_t n = 0;

	while (at_of(s, n) == '\\')
		n++;
	return n;
}

/* Reads the digits after \u: four, or up to six in braces. Returns their length including
   braces; 0: none. */
static size_t read_unicode(struct str s, uint32_t *code)
{
	if (at_of(s, 0) != '{')
		return read_digits(s, 16, 4, code) == 4 ? 4 : 0;
	size_t n = read_digits(str_skip(s, 1), 16, 6, code);

	return n && at_of(s, n + 1) == '}' ? n + 2 : 0;
}

/* Reads \u with its backslashes and the letter before `at`; a surrogate with its second half. */
static void add_unicode(struct meanings *m, struct str s, size_t at)
{
	uint32_t code, low;
	size_t n = read_unicode(str_skip(s, at), &code);

	if (!n)
		return;
	at += n;
	if (code >= 0xd800 && code < 0xdc00) {
		size_t run = backslashes(str_skip(s, at));

		if (!run || at_of(s, at + run) != 'u' ||
		    read_digits(str_skip(s, at + run + 1), 16, 4, &low) != 4) {
			return;
		}
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		at += run + 5;
	}
	add_code(m, code, at);
}

static void read_backslash(struct meanings *m, struct str s)
{
	static const char letters[] = "nrtbf\"'/", stands_for[] = "\n\r\t\b\f\"'/";
	size_t run = backslashes(s);
	char c = at_of(s, run);
	const char *known = c ? strchr(letters, c) : NULL;
	uint32_t code;

	for (size_t n = 2; n <= run && n <= 16; n *= 2)
		add_byte(m, '\\', n);
	if (known)
		add_byte(m, (unsigned char)stands_for[known - letters], run + 1);
	else if (c == 'u')
		add_unicode(m, s, run + 1);
	else if (c == 'x' && read_digits(str_skip(s, run + 1), 16, 2, &code) == 2)
		add_byte(m, (unsigned char)code, run + 3);
}

/* %41, %2541, ... */
static void read_percent(struct meanings *m, struct str s)
{
	uint32_t code = '%';

	for (size_t at = 1; code == '%' && read_digits(str_skip(s, at), 16, 2, &code) == 2; at += 2)
		add_byte(m, (unsigned char)code, at + 2);
}

static void read_entity(struct meanings *m, struct str s)
{
	static const struct {
		struct str name;
		char byte;
	} names[] = {{STR_INIT("lt;"), '<'},
	             {STR_INIT("gt;"), '>'},
	             {STR_INIT("quot;"), '"'},
	             {STR_INIT("apos;"), '\''}};
	struct str amp = STR("amp;");
	size_t at = 1;
	uint32_t code;

	for (; str_starts(str_skip(s, at), amp); at += amp.n)
		add_byte(m, '&', at + amp.n);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_starts(str_skip(s, at), names[i].name))
			add_byte(m, (unsigned char)names[i].byte, at + names[i].name.n);
	if (at_of(s, at) == '#') {
		bool hex = at_of(s, at + 1) == 'x' || at_of(s, at + 1) == 'X';
		size_t from = at + 1 + hex,
		       n = read_digits(str_skip(s, from), hex ? 16 : 10, 7, &code);

		if (n && at_of(s, from + n) == ';')
			add_code(m, code, from + n + 1);
	}
}

bool spelling_is_escape(char c)
{
	return c == '\\' || c == '%' || c == '&' || c == '+';
}

static void read_escape(struct meanings *m, struct str s)
{
	switch (at_of(s, 0)) {
	case '\\':
		read_backslash(m, s);
		break;
	case '%':
		read_percent(m, s);
		break;
	case '&':
		read_entity(m, s);
		break;
	case '+':
		add_byte(m, ' ', 1);
		break;
	default:
		break;
	}
}

bool spelling_begins(struct str s, const bool bytes[256])
{
	struct meanings m;
	bool begins = bytes[(unsigned char)at_of(s, 0)];

	m.count = 0;
	read_escape(&m, s);
	for (size_t i = 0; i < m.count; i++)
		begins = begins || bytes[(unsigned char)m.item[i].bytes[0]];
	return begins;
}

/* The first `text` bytes of the text are spelled by the first `s` bytes of s. */
struct spelled {
	size_t text, s;
};

struct search {
	struct str text, s;
	const char *between;
	struct spelled open[PLACES];
	size_t count;
};

/* Advances over bytes that only stand for themselves. */
static struct spelled walk(const struct search *w, struct spelled p)
{
	while (p.text < w->text.n && p.s < w->s.n && w->text.p[p.text] == w->s.p[p.s] &&
	       !spelling_is_escape(w->s.p[p.s])) {
		p.text++;
		p.s++;
	}
	return p;
}

/* The length of what separates two bytes of the text. */
static size_t gap_length(struct str s, const char *between)
{
	size_t n = 0, run;
	char c;

	for (;;) {
		c = at_of(s, n);
		run = backslashes(str_skip(s, n));
		if (c && (strchr(between, c) || (n && strchr(" \t\r\n", c))))
			n++;
		else if (run && (at_of(s, n + run) == 'n' || at_of(s, n + run) == 'r'))
			n += run + 1;
		else
			return n;
	}
}

/* The literal byte is pushed last, so that it is tried first. */
static void branch(struct search *w, struct spelled p)
{
	struct meanings m;
	struct str left = str_skip(w->text, p.text);
	size_t gap = p.text ? gap_length(str_skip(w->s, p.s), w->between) : 0;

	if (gap && w->count < PLACES)
		w->open[w->count++] = (struct spelled){p.text, p.s + gap};
	m.count = 0;
	read_escape(&m, str_skip(w->s, p.s));
	add_byte(&m, (unsigned char)at_of(w->s, p.s), 1);
	for (size_t i = 0; i < m.count && w->count < PLACES; i++) {
		const struct meaning *x = &m.item[i];

		if (str_starts(left, (struct str){x->bytes, x->n}))
			w->open[w->count++] = (struct spelled){p.text + x->n, p.s + x->used};
	}
}

size_t spelling_match(struct str text, struct str s, const char *between, size_t *used)
{
	struct search w; /* not cleared, because the open positions are large */
	struct spelled best = {0, 0};

	w.text = text;
	w.s = s;
	w.between = between;
	w.open[0] = best;
	w.count = 1;
	for (size_t tries = TRIES_EACH * (text.n + 1); w.count && tries && best.text < text.n;
	     tries--) {
		struct spelled p = walk(&w, w.open[--w.count]);

		best = p.text > best.text ? p : best;
		char next = at_of(s, p.s);
		if (p.text < text.n && next && (spelling_is_escape(next) || strchr(between, next)))
			branch(&w, p);
	}
	*used = best.s;
	return best.text;
}
