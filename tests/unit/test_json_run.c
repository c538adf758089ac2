/* Runs of bytes stop where a byte loop does, for every byte at every
   position, and never read beyond the end. */
#include "guard.h"
#include "json/lex.h"
#include "tap.h"

#define LENGTH 41

typedef const unsigned char *run_function(const unsigned char *p, const unsigned char *end);

#define NAMED(name)                                                                                \
	static const unsigned char *call_##name(const unsigned char *p, const unsigned char *end)  \
	{                                                                                          \
		return name(p, end);                                                               \
	}
NAMED(run_plain)
NAMED(run_text)
NAMED(run_flat)
NAMED(run_digits)

static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && !strchr("\"\\", c);
}

static bool text(unsigned char c)
{
	return c == 0 || !strchr("\"\\", c);
}

static bool flat(unsigned char c)
{
	return c == 0 || !strchr("\"[]{}", c);
}

static bool digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static const struct {
	const char *name;
	run_function *run;
	bool (*in_run)(unsigned char c);
	char filler;
} kinds[] = {
	{"plain", call_run_plain, plain, 'a'},
	{"text", call_run_text, text, '\x7f'},
	{"flat", call_run_flat, flat, ','},
	{"digits", call_run_digits, digit, '9'},
};

/* The number of wrong results with byte c at `at` in a run of `n`. */
static int wrong(size_t kind, struct str s, size_t at, unsigned char c)
{
	const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;
	const unsigned char *want = kinds[kind].in_run(c) ? end : p + at;

	return kinds[kind].run(p, end) != want;
}

static int wrong_for_byte(size_t kind, const struct guard *g, unsigned char c)
{
	int count = 0;
	char bytes[LENGTH];

	for (size_t n = 1; n <= LENGTH; n++) {
		for (size_t at = 0; at < n; at++) {
			memset(bytes, kinds[kind].filler, n);
			bytes[at] = (char)c;
			count += wrong(kind, guard_put(g, (struct str){bytes, n}), at, c);
		}
	}
	return count;
}

int main(void)
{
	struct guard g = guard_new(LENGTH);

	for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
		int count = 0;

		for (int c = 0; c < 256; c++)
			count += wrong_for_byte(kind, &g, (unsigned char)c);
		is_int(count, 0, "run of %s", kinds[kind].name);
		const unsigned char *p = (const unsigned char *)guard_put(&g, STR("")).p;
		ok(kinds[kind].run(p, p) == p, "no %s at the end", kinds[kind].name);
	}
	guard_free(&g);
	return done();
}
