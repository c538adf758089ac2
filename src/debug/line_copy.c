/* Copies of lines: see line_copy.h. Slices are relocated to the copy: parsing it again takes ten
   times as long. */
#include "debug/line_copy.h"

void line_copy_init(struct line_copy *c)
{
	*c = (struct line_copy){.text = BUF(BUF_MAX_MESSAGE + 1), .id = BUF(BUF_MAX_MESSAGE + 1)};
}

void line_copy_release(struct line_copy *c)
{
	buf_release(&c->text);
	buf_release(&c->id);
}

static bool is_within(struct str part, struct str whole)
{
	return (uintptr_t)part.p >= (uintptr_t)whole.p &&
	       (uintptr_t)part.p + part.n <= (uintptr_t)whole.p + whole.n;
}

int line_copy_set(struct line_copy *c, const struct line *l, struct error *err)
{
	size_t used;

	buf_clear(&c->text);
	buf_clear(&c->id);
	buf_str(&c->text, l->text);
	buf_str(&c->id, l->rollout);
	if (c->text.full || c->id.full) {
		return error_set(err, FAIL_INPUT, "the line is longer than %zu MiB",
		                 BUF_MAX_MESSAGE >> 20);
	}
	c->line = *l;
	c->line.text = buf_view(&c->text);
	c->line.rollout = buf_view(&c->id);
	for (size_t k = 0; k < KEY_COUNT; k++) {
		struct str *value = &c->line.value[k];

		/* values of a line that was not parsed from its text */
		if (value->p && !is_within(*value, l->text)) {
			return line_parse(c->line.text, &c->id, &c->line, &used, err);
		}
		if (value->p) {
			value->p = c->text.p + (value->p - l->text.p);
		}
	}
	return 0;
}
