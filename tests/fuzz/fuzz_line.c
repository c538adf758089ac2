/* Any bytes as lines of a recording: an accepted line is written and read back with the
   same facts, and is still a line after secrets are redacted. */
#include "recording/line.h"
#include "recording/redact/redact.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(const struct line *l)
{
	struct buf text = BUF(1 << 22), again = BUF(1 << 22), scratch = BUF(1 << 20);
	struct line back;
	struct error err;
	size_t used;

	line_write(l, &text);
	if (line_parse(buf_view(&text), &scratch, &back, &used, &err) != 0)
		abort();
	line_write(&back, &again);
	if (back.type != l->type || used + 1 != text.n ||
	    !str_eq(buf_view(&text), buf_view(&again)) || back.turn != l->turn ||
	    back.step != l->step || back.outcome != l->outcome ||
	    back.terminated != l->terminated || back.truncated != l->truncated) {
		abort();
	}
	buf_release(&text);
	buf_release(&again);
	buf_release(&scratch);
}

static void redact(const struct secrets *s, const struct line *l)
{
	struct buf text = BUF(1 << 22), scratch = BUF(1 << 20);
	struct line back;
	struct error err;
	size_t used;

	secrets_redact_line(s, l, &text);
	if (line_parse(buf_view(&text), &scratch, &back, &used, &err) != 0 || back.type != l->type)
		abort();
	buf_release(&text);
	buf_release(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct buf scratch = BUF(1 << 20);
	struct secrets *s = secrets_new();
	struct line l;
	struct error err;
	size_t used;

	secrets_add(s, STR("abcd"));
	secrets_add(s, STR("n\"\\u"));
	secrets_add(s, STR("1234"));
	while (text.n) {
		bool good = line_parse(text, &scratch, &l, &used, &err) == 0;

		if (good && l.type != LINE_UNKNOWN) {
			write_and_read(&l);
			redact(s, &l);
		}
		text = str_skip(text, used ? used : text.n);
	}
	secrets_free(s);
	buf_release(&scratch);
	return 0;
}
