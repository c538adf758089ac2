/* Any bytes as lines of a recording: an accepted line is written and read back with the
   same facts, and is still a line after secrets are redacted. */
#include "recording/line.h"
#include "recording/redact/redact.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parsed line is what line_written makes of the text. */
static void is_as_parsed(const struct line *parsed, const struct buf *text,
                         const size_t sizes[KEY_COUNT])
{
	struct buf scratch = BUF(1 << 20);
	struct line seen;
	struct error err;

	if (line_written(parsed->type, (struct str){text->p, text->n - 1}, sizes, &scratch, &seen,
	                 &err) != 0)
		abort();
	for (size_t k = 0; k < KEY_COUNT; k++)
		if (!str_eq(seen.value[k], parsed->value[k]))
			abort();
	if (!str_eq(seen.rollout, parsed->rollout) || seen.turn != parsed->turn ||
	    seen.step != parsed->step || seen.outcome != parsed->outcome ||
	    seen.status != parsed->status || seen.event != parsed->event)
		abort();
	buf_release(&scratch);
}

static void write_and_read(const struct line *l)
{
	struct buf text = BUF(1 << 22), again = BUF(1 << 22), scratch = BUF(1 << 20);
	struct line back;
	struct error err;
	size_t used, sizes[KEY_COUNT];

	line_write(l, &text, sizes);
	if (line_parse(buf_view(&text), &scratch, &back, &used, &err) != 0)
		abort();
	is_as_parsed(&back, &text, sizes);
	line_write(&back, &again, sizes);
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
	size_t used, sizes[KEY_COUNT];

	secrets_redact_line(s, l, &text, sizes);
	if (line_parse(buf_view(&text), &scratch, &back, &used, &err) != 0 || back.type != l->type)
		abort();
	is_as_parsed(&back, &text, sizes);
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
