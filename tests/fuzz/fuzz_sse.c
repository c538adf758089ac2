/* Input split at any position gives the same events, and none is over the cap. The first
   byte of the input selects the sizes of the pieces, 0 to 15 bytes each. */
#include "protocol/sse.h"

#include <stdlib.h>

#define CAP 96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* An unambiguous part of the transcript: its length comes first. */
static void tell(struct buf *told, struct str s)
{
	buf_printf(told, "%zu:", s.n);
	buf_str(told, s);
}

/* A copy of exactly its size, so that a sanitizer detects reads beyond its end and after it
   was freed. */
static void feed(struct sse *s, const char *bytes, size_t n, struct buf *told)
{
	char *copy = malloc(n + 1);
	struct sse_event e;

	require(copy != NULL);
	memcpy(copy + 1, bytes, n);
	sse_feed(s, (struct str){copy + 1, n});
	while (sse_next(s, &e)) {
		require(e.data.n <= CAP && e.type.n <= CAP && e.id.n <= CAP);
		tell(told, e.type);
		tell(told, e.id);
		tell(told, e.data);
	}
	free(copy);
}

/* pieces 0: all in one piece. */
static void run(const char *bytes, size_t size, uint32_t pieces, struct buf *told)
{
	struct sse s;

	sse_init(&s, CAP);
	for (size_t at = 0, n; at < size; at += n) {
		n = size - at;
		if (pieces) {
			pieces = pieces * 1664525u + 1013904223u;
			n = (pieces >> 24 & 15) < n ? pieces >> 24 & 15 : n;
		}
		feed(&s, bytes + at, n, told);
	}
	tell(told, buf_view(&s.id));
	buf_printf(told, "%llu %llu %d", (unsigned long long)s.retry_ms,
	           (unsigned long long)s.comments, s.too_large);
	sse_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF(BUF_MAX_MESSAGE), split = BUF(BUF_MAX_MESSAGE);
	const char *bytes = (const char *)data + (size > 0);
	size_t n = size - (size > 0);

	run(bytes, n, 0, &whole);
	run(bytes, n, size ? data[0] + 1u : 1, &split);
	require(!whole.full && str_eq(buf_view(&whole), buf_view(&split)));
	buf_release(&whole);
	buf_release(&split);
	return 0;
}
