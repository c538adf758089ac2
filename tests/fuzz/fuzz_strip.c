/* Any bytes as a recording: what strip makes of it is a recording that strip leaves
 * alone. */
#include "trajectory/strip.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void strip_text(struct str text, bool must_work, struct buf *out)
{
	struct buf scratch = BUF(1 << 20);
	struct strip *s = NULL;
	struct line l;
	struct error err;
	size_t used;

	if (strip_new(NULL, 0, &s, &err) != 0) {
		abort();
	}
	while (text.n) {
		if (text.p[0] == '\n') {
			text = str_skip(text, 1);
			continue;
		}
		bool good = line_parse(text, &scratch, &l, &used, &err) == 0 &&
		            strip_line(s, &l, out, &err) == 0;
		if (!good && must_work) {
			abort();
		}
		text = str_skip(text, good ? used : text.n);
	}
	strip_free(s);
	buf_release(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once = BUF(1 << 26), twice = BUF(1 << 26);

	strip_text((struct str){(const char *)data, size}, false, &once);
	if (!once.full) {
		strip_text(buf_view(&once), true, &twice);
		if (!str_eq(buf_view(&once), buf_view(&twice))) {
			abort();
		}
	}
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
