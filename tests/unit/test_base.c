/* The base layer: text, buffers, arenas, errors, hashes, clock, random numbers. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- text ---- */

static void test_nearest(void)
{
	static const char *const names[] = {"check", "run", "strip", NULL, "serve", "show"};
	struct {
		const char *typed, *expected;
	} rows[] = {
		{"chekc", "check"}, {"rnu", "run"},       {"stirp", "strip"}, {"server", "serve"},
		{"shwo", "show"},   {"xyzzy", NULL},      {"", NULL},         {"check", "check"},
		{"c", NULL},        {"frobnicate", NULL}, {"se", "serve"},    {"s", NULL},
		{"prune", NULL},    {"chow", "show"},     {"shot", "show"},   {"sh", "show"},
		{"crunch", NULL},   {"or", NULL},         {"rn", "run"},      {"trip", "strip"},
		{"chcek", "check"}, {"shopt", "show"},    {"oshe", NULL},     {"srteve", "serve"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *near = text_nearest(str_from(rows[i].typed), names, ARRAY_LEN(names));

		is_str(near ? near : "(none)", rows[i].expected ? rows[i].expected : "(none)",
		       "nearest to '%s'", rows[i].typed);
	}
}

static void test_numbers(void)
{
	struct {
		const char *text;
		bool ok;
		uint64_t value;
	} durations[] =
		{
			{"500ms", true, 500},
			{"3s", true, 3000},
			{"2m", true, 120000},
			{"1h", true, 3600000},
			{"0", true, 0},
			{"5", false, 0},
			{"", false, 0},
			{"-1s", false, 0},
			{"1.5s", false, 0},
			{"3 s", false, 0},
			{"ms", false, 0},
			{"3sec", false, 0},
			{"99999999999999999999s", false, 0},
			{"18446744073709551615h", false, 0},
		},
	  sizes[] = {
		  {"64MiB", true, 64u << 20},
		  {"512KiB", true, 512u << 10},
		  {"10MB", true, 10000000},
		  {"100B", true, 100},
		  {"7", false, 0},
		  {"1TiB", false, 0},
	  };
	uint64_t v;
	int64_t i;

	for (size_t n = 0; n < ARRAY_LEN(durations); n++) {
		v = 0;
		bool ok = text_duration_ms(str_from(durations[n].text), &v);
		ok(ok == durations[n].ok && (!ok || v == durations[n].value), "duration '%s'",
		   durations[n].text);
	}
	for (size_t n = 0; n < ARRAY_LEN(sizes); n++) {
		v = 0;
		bool ok = text_size(str_from(sizes[n].text), &v);
		ok(ok == sizes[n].ok && (!ok || v == sizes[n].value), "size '%s'", sizes[n].text);
	}
	ok(text_u64(STR("18446744073709551615"), &v) && v == UINT64_MAX, "the largest u64");
	ok(!text_u64(STR("18446744073709551616"), &v), "one more overflows");
	ok(text_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN, "the smallest i64");
	ok(!text_i64(STR("-9223372036854775809"), &i), "one less overflows");
	ok(!text_i64(STR("9223372036854775808"), &i), "one too many");
	ok(!text_i64(STR("-"), &i) && !text_i64(STR("+1"), &i), "no lone signs, no plus");
}

static void is_escaped(const char *text, size_t n, size_t columns, const char *expected)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	text_escape_cut(&out, (struct str){text, n}, columns);
	is_str(buf_cstr(&out), expected, "escaped and cut to %zu", columns);
	buf_release(&out);
}

static void test_escape(void)
{
	is_escaped("plain", 5, 80, "plain");
	is_escaped("a\x1b[31mb", 7, 80, "a\\x1b[31mb");
	is_escaped("a\nb\tc\rd\0e", 9, 80, "a\\nb\\tc\\rd\\x00e");
	is_escaped("\x7f\xc2\x9b", 3, 80, "\\x7f\\x9b");
	/* spelled out, so that this file contains no bidirectional control characters */
	const char override[] = {'a', (char)0xe2, (char)0x80, (char)0xae, 'b'};
	is_escaped(override, sizeof(override), 80, "a\\u{202e}b");
	is_escaped("\xff\xc3", 2, 80, "\\xff\\xc3");
	is_escaped("\xed\xa0\x80", 3, 80, "\\xed\\xa0\\x80");
	is_escaped("caf\xc3\xa9", 5, 80, "caf\xc3\xa9");
	is_escaped("caf\xc3\xa9", 5, 4, "caf\xc3\xa9");
	is_escaped("caf\xc3\xa9!", 6, 4, "caf\xe2\x80\xa6");
	is_escaped("abcdef", 6, 6, "abcdef");
	is_escaped("abcdefg", 7, 6, "abcde\xe2\x80\xa6");
	is_escaped("ab\x1bxyz", 6, 5, "ab\xe2\x80\xa6");
}

static void test_mask(void)
{
	struct {
		const char *text, *masked;
	} rows[] = {
		{"Maximum concurrent environments (3) reached",
	         "Maximum concurrent environments (#) reached"},
		{"'gym_140247762780320'", "'gym_#'"},
		{"id 550e8400-e29b-41d4-a716-446655440000.", "id #."},
		{"deadbeefcafe and dead", "# and dead"},
		{"a1b2 12ab34cd", "a#b# #"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(BUF_MAX_SMALL);

		text_mask(&out, str_from(rows[i].text));
		is_str(buf_cstr(&out), rows[i].masked, "masked '%s'", rows[i].text);
		buf_release(&out);
	}
}

static void test_utf8_and_base64(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	is_int(text_utf8_valid(STR("ok\xc3\xa9")), 4, "all of it is UTF-8");
	is_int(text_utf8_valid(STR("ok\xc0\x80")), 2, "an overlong NUL is not");
	is_int(text_utf8_valid(STR("\xf4\x90\x80\x80")), 0, "no code point above U+10FFFF");
	is_int(text_utf8_valid(STR("a\xe2\x82")), 1, "cut inside a character");
	const char *texts[][2] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe", "//4="}};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		buf_clear(&out);
		base64_encode(&out, str_from(texts[i][0]));
		is_str(buf_cstr(&out), texts[i][1], "base64");
		buf_clear(&out);
		ok(base64_decode(&out, str_from(texts[i][1])), "and back");
		is_str(buf_cstr(&out), texts[i][0], "to the same bytes");
	}
	const char *none[] = {"Zg", "Z===", "Zm9=v", "Zm9v!", "=", "Zm-_"};
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		ok(!base64_decode(&out, str_from(none[i])), "'%s' is not base64", none[i]);
	buf_release(&out);
}

static void test_long_base64(void)
{
	struct buf bytes = BUF(BUF_MAX_MESSAGE), text = BUF(BUF_MAX_MESSAGE),
		   back = BUF(BUF_MAX_MESSAGE);

	for (size_t n = 3070; n < 9300; n += 103) {
		buf_clear(&bytes);
		buf_clear(&text);
		buf_clear(&back);
		for (size_t i = 0; i < n; i++)
			buf_char(&bytes, (char)(i * 7 + i / 256));
		base64_encode(&text, buf_view(&bytes));
		ok(text.n == (n + 2) / 3 * 4 && base64_decode(&back, buf_view(&text)) &&
		           str_eq(buf_view(&bytes), buf_view(&back)),
		   "%zu bytes there and back", n);
	}
	buf_release(&bytes);
	buf_release(&text);
	buf_release(&back);
}

static void test_trim_and_cut(void)
{
	char room[5];

	ok(str_is(text_trim(STR(" \t a b\r\n")), "a b"), "blanks around go");
	ok(str_eq(text_trim(STR("\0a\0")), STR("\0a\0")), "a NUL is not whitespace");
	ok(text_trim(STR(" \n")).n == 0, "only blanks");
	is_int(text_utf8_cut(STR("ab"), 2).n, 2, "a text within the limit is not cut");
	is_int(text_utf8_cut(STR("a\xe2\x82\xac"), 3).n, 1, "a character is not cut in two");
	is_int(text_utf8_cut(STR("a\xf0\x9f\x98\x80"), 4).n, 1, "nor one of four bytes");
	is_int(text_utf8_cut(STR("\x80\x80\x80\x80\x80\x80"), 5).n, 2,
	       "no text: at most 3 bytes less");
	text_copy(room, sizeof(room), STR("abc\xc3\xa9"));
	is_str(room, "abc", "terminated, and cut between characters");
}

/* ---- memory ---- */

static void test_buf(void)
{
	struct buf b = BUF(8);

	buf_text(&b, "12345678");
	ok(!b.full && b.n == 8, "a buffer grows to its cap");
	buf_char(&b, '9');
	ok(b.full && b.n == 8, "bytes beyond the cap are dropped completely");
	buf_cut(&b, 2);
	buf_char(&b, 'x');
	ok(b.full && b.n == 2, "full is sticky");
	buf_clear(&b);
	buf_printf(&b, "%s-%d", "ab", 7);
	is_str(buf_cstr(&b), "ab-7", "until it is cleared");
	buf_drop(&b, 3);
	is_str(buf_cstr(&b), "7", "the front can be dropped");
	buf_printf(&b, "%s", "much too long for it");
	ok(b.full && b.n == 1, "printing is capped, too");
	buf_release(&b);
	is_str(buf_cstr(&b), "", "a released buffer is empty");
}

static void test_arena(void)
{
	struct arena a = {0};
	char *big = arena_new(&a, 100000);
	struct str absent = arena_str(&a, STR_NONE);
	struct str copy = arena_str(&a, STR("copy"));

	ok(big[0] == 0 && big[99999] == 0, "allocated memory is zeroed");
	ok(!absent.p, "absent stays absent");
	is_str(copy.p, "copy", "copies are terminated");
	for (int round = 0; round < 3; round++) {
		char *p = arena_new(&a, 64);

		memset(p, 'x', 64);
		arena_reset(&a);
		is_int(a.bytes, 0, "a reset arena is empty");
		p = arena_new(&a, 64);
		ok(p[0] == 0 && p[63] == 0, "and its memory zeroed again");
	}
	arena_release(&a);
	arena_release(&a);
	ok(!a.last, "releasing twice is fine");
}

/* ---- the rest ---- */

static void test_error(void)
{
	struct error e = {0};
	char longer[600];

	memset(longer, 'y', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	is_int(error_set(&e, FAIL_INPUT, "reward is not a number"), -1,
	       "setting an error gives -1");
	is_int(error_wrap(&e, "%s:%d", "a.jsonl", 17), -1, "so does wrapping it");
	is_str(e.text, "a.jsonl:17: reward is not a number", "context comes first");
	error_set(&e, FAIL_INPUT, "%s", longer);
	error_wrap(&e, "place");
	ok(strlen(e.text) == sizeof(e.text) - 1 && !strncmp(e.text, "place: yyy", 10),
	   "too much text loses its end, not its place");
	errno = ENOSPC;
	error_errno(&e, "writing %s", "x");
	is_str(e.text, "writing x: No space left on device", "errno is described");
	is_int(fail_exit_code(FAIL_USAGE), 2, "usage");
	is_int(fail_exit_code(FAIL_INPUT), 3, "input");
	is_int(fail_exit_code(FAIL_TIMEOUT), 4, "timeout");
	is_int(fail_exit_code(FAIL_SYSTEM), 5, "system");
	is_int(fail_exit_code(FAIL_INTERRUPTED), 130, "interrupted");
}

static void test_hash(void)
{
	char hex[HASH_HEX + 1];

	hash_hex(STR("abc"), hex);
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223", "SHA-256, first half (FIPS 180-4)");
	hash_hex(STR(""), hex);
	is_str(hex, "e3b0c44298fc1c149afbf4c8996fb924", "hash of nothing");
	hash_md5_hex(STR("abc"), hex);
	is_str(hex, "900150983cd24fb0d6963f7d28e17f72", "MD5 (RFC 1321)");
}

static void test_clock(void)
{
	struct {
		uint64_t ms;
		const char *text;
	} rows[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{951782400123, "2000-02-29T00:00:00.123Z"},
		{951868800000, "2000-03-01T00:00:00.000Z"},
		{1767225599999, "2025-12-31T23:59:59.999Z"},
		{4107542400000, "2100-03-01T00:00:00.000Z"},
	};
	char out[32];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		clock_format(rows[i].ms, out);
		is_str(out, rows[i].text, "time %zu", i);
	}
}

static void test_rng(void)
{
	struct rng a, b;
	uint32_t seen = 0;
	char one[33], other[33];

	/* the demo output of the reference implementation, seed 42, stream 54 */
	rng_seed(&a, 42, 54);
	is_int(rng_next(&a), 0xa15c02b7u, "PCG32, first draw");
	is_int(rng_next(&a), 0x7b47f409u, "second");
	is_int(rng_next(&a), 0xba1d3330u, "third");
	rng_seed(&a, 7, 1);
	rng_seed(&b, 7, 1);
	for (int i = 0; i < 100; i++) {
		uint32_t x = rng_below(&a, 6);

		seen |= 1u << x;
		if (x != rng_below(&b, 6) || x > 5)
			ok(false, "the same seed gives the same draws");
	}
	is_int(seen, 63, "each of the six values occurs, and no other");
	ok(!rng_unique_hex(one, 32) && !rng_unique_hex(other, 32) && strlen(one) == 32,
	   "unique ids have their length");
	ok(strcmp(one, other) != 0, "and differ");
}

static void test_globs(void)
{
	ok(text_glob(STR("get_*"), STR("get_user")), "a star at the end");
	ok(text_glob(STR("*"), STR("")) && text_glob(STR(""), STR("")), "nothing");
	ok(text_glob(STR("*a*b"), STR("xaabyb")), "stars take what they need");
	ok(!text_glob(STR("get_*"), STR("forget_it")), "a pattern matches the whole text");
	ok(!text_glob(STR("a*b"), STR("ab c")) && !text_glob(STR("ab"), STR("a")), "to its end");
	ok(text_globs("look,get_*", STR("get_user")), "the second of two");
	ok(!text_globs("look,get_*", STR("looks")) && !text_globs("", STR("x")) &&
	           !text_globs(NULL, STR("x")),
	   "none of them");
}

/* ---- file descriptors ---- */

#define MUCH ((size_t)1 << 20) /* more than a pipe holds */

struct draining {
	int fd;
	size_t total;
};

static void *drain(void *ctx)
{
	struct draining *d = ctx;
	char piece[4096];
	ssize_t n;

	while ((n = read(d->fd, piece, sizeof(piece))) > 0)
		d->total += (size_t)n;
	return NULL;
}

static void test_fd_write(void)
{
	char *text = mem_new(MUCH);
	struct draining drained = {0};
	size_t done = 0;
	int ends[2];
	pthread_t reader;

	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	if (!ok(pipe(ends) == 0, "a pipe"))
		return;
	drained.fd = ends[0];
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	pthread_create(&reader, NULL, drain, &drained);
	is_int(fd_write(ends[1], (struct str){text, MUCH}, &done), 0, "a full pipe is waited for");
	is_int(done, MUCH, "until all is written");
	close(ends[1]);
	pthread_join(reader, NULL);
	is_int(drained.total, MUCH, "and all arrives");
	close(ends[0]);

	(void)!pipe(ends);
	close(ends[0]);
	ok(fd_write(ends[1], STR("x"), &done) == -1 && errno == EPIPE,
	   "without a reader: errno is EPIPE");
	is_int(done, 0, "and nothing was written");
	close(ends[1]);
	free(text);
}

int main(void)
{
	test_globs();
	test_nearest();
	test_numbers();
	test_escape();
	test_mask();
	test_utf8_and_base64();
	test_long_base64();
	test_trim_and_cut();
	test_buf();
	test_arena();
	test_error();
	test_hash();
	test_clock();
	test_rng();
	test_fd_write();
	return done();
}
