/* Input split at any position gives the same lines, none over the cap, and no byte is lost
   of a line that is within it. The first byte of the input selects the sizes of the pieces.
   */
#include "net/line_splitter.h"

#include <stdlib.h>

#define CAP 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void tell(struct buf *told, bool too_long, struct str line)
{
	require(too_long || line.n <= CAP);
	buf_printf(told, too_long ? "!" : "%zu:", line.n);
	buf_str(told, too_long ? STR("") : line);
}

static void take(struct lines *l, bool ended, struct buf *told)
{
	enum lines_got got;
	struct str line;

	while ((got = lines_next(l, ended, &line)) != LINES_NONE)
		tell(told, got == LINES_TOO_LONG, line);
}

/* pieces 0: as much at once as there is room for. */
static void run(const char *bytes, size_t size, uint32_t pieces, struct buf *told)
{
	struct lines l;

	lines_init(&l, CAP, 32);
	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < 32 ? size - at : 32;
		if (pieces) {
			pieces = pieces * 1664525u + 1013904223u;
			n = (pieces >> 24 & 15) < n ? pieces >> 24 & 15 : n;
		}
		char *room = lines_room(&l, n);
		if (!room) {
			take(&l, false, told);
			room = lines_room(&l, n);
		}
		require(room != NULL);
		memcpy(room, bytes + at, n);
		lines_added(&l, n);
		if (!pieces || pieces >> 30)
			take(&l, false, told);
	}
	take(&l, true, told);
	lines_release(&l);
}

/* The same lines by a simple implementation. */
static void run_simply(struct str all, struct buf *told)
{
	while (all.n) {
		const char *lf = memchr(all.p, '\n', all.n);
		struct str line = {all.p, lf ? (size_t)(lf - all.p) : all.n};

		all = str_skip(all, line.n + 1);
		line.n -= line.n && line.p[line.n - 1] == '\r';
		tell(told, line.n > CAP, line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF(BUF_MAX_MESSAGE), split = BUF(BUF_MAX_MESSAGE),
		   simple = BUF(BUF_MAX_MESSAGE);
	struct str all = {(const char *)data + (size > 0), size - (size > 0)};

	run(all.p, all.n, 0, &whole);
	run(all.p, all.n, size ? data[0] + 1u : 1, &split);
	run_simply(all, &simple);
	require(!whole.full && str_eq(buf_view(&whole), buf_view(&simple)));
	require(str_eq(buf_view(&split), buf_view(&simple)));
	buf_release(&whole);
	buf_release(&split);
	buf_release(&simple);
	return 0;
}
