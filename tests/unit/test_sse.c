/* protocol/sse against tests/vectors/sse.test: fed as a whole, byte by byte and split
   everywhere. Each piece ends at the end of readable memory and is overwritten by the next
   one. */
#include "protocol/sse.h"
#include "tap.h"
#include "vectors.h"

struct vector {
	char name[128];
	struct buf input, expected;
	char *page;
	int count;
};

/* Feeds one piece and lists its events. */
static void feed(struct sse *s, struct vector *v, struct str piece, struct buf *told)
{
	struct sse_event e;

	sse_feed(s, guarded_copy(&v->page, piece));
	while (sse_next(s, &e)) {
		buf_text(told, "> ");
		vectors_escape(told, e.type);
		buf_char(told, '|');
		vectors_escape(told, e.id);
		buf_char(told, '|');
		vectors_escape(told, e.data);
		buf_char(told, '\n');
	}
}

/* Pieces: [0, first), then pieces of `size`. */
static const char *tell(struct vector *v, size_t first, size_t size, struct buf *told)
{
	struct sse s;
	struct str rest = buf_view(&v->input);

	sse_init(&s, 64);
	buf_clear(told);
	feed(&s, v, (struct str){rest.p, first}, told);
	for (rest = str_skip(rest, first); rest.n; rest = str_skip(rest, size))
		feed(&s, v, (struct str){rest.p, size < rest.n ? size : rest.n}, told);
	buf_char(told, '=');
	vectors_escape(told, buf_view(&s.id));
	buf_printf(told, "|%llu|%llu|%d\n", (unsigned long long)s.retry_ms,
	           (unsigned long long)s.comments, s.too_large);
	sse_release(&s);
	return buf_cstr(told);
}

static void check(struct vector *v)
{
	struct buf told = BUF(1 << 20);
	size_t n = v->input.n, differing = 0;

	is_str(tell(v, n, 1, &told), buf_cstr(&v->expected), "%s", v->name);
	is_str(tell(v, 0, 1, &told), buf_cstr(&v->expected), "%s: byte by byte", v->name);
	for (size_t at = 0; at <= n; at++)
		differing += strcmp(tell(v, at, n, &told), buf_cstr(&v->expected)) != 0;
	is_int(differing, 0, "%s: split at each of %zu places", v->name, n + 1);
	buf_release(&told);
	v->count++;
}

static void on_line(void *arg, char letter, const char *text)
{
	struct vector *v = arg;

	if (letter == '#') {
		snprintf(v->name, sizeof(v->name), "%s", text);
		buf_clear(&v->input);
		buf_clear(&v->expected);
	} else if (letter == '<') {
		vectors_unescape(&v->input, text);
	} else if (letter == '>') {
		buf_printf(&v->expected, "> %s\n", text);
	} else if (letter == '=') {
		buf_printf(&v->expected, "=%s\n", text);
		check(v);
	}
}

/* 4 MiB of lone CRs in one piece: finding line ends takes linear time. */
static void test_linear(void)
{
	struct buf input = BUF(BUF_MAX_MESSAGE);
	struct sse s;
	struct sse_event e;
	size_t events = 0;

	for (int i = 0; i < 600000; i++)
		buf_text(&input, "data:\r\r");
	sse_init(&s, BUF_MAX_MESSAGE);
	sse_feed(&s, buf_view(&input));
	while (sse_next(&s, &e))
		events++;
	is_int(events, 600000, "lone CRs in one large piece");
	sse_release(&s);
	buf_release(&input);
}

int main(void)
{
	struct vector v = {.input = BUF(1 << 20), .expected = BUF(1 << 20)};

	vectors_read("tests/vectors/sse.test", on_line, &v);
	ok(v.count > 30, "there are vectors");
	test_linear();
	buf_release(&v.input);
	buf_release(&v.expected);
	guarded_release(&v.page);
	return done();
}
