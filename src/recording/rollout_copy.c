/* Keeps a rollout in memory: see rollout_copy.h. */
#include "recording/rollout_copy.h"

#include <stdlib.h>

static struct line *place_for(struct rollout_copy *c, enum line_type type)
{
	if (type == LINE_STEP) {
		c->steps = mem_grow(c->steps, c->count, sizeof(*c->steps));
		return &c->steps[c->count++];
	}
	return type == LINE_HEADER  ? &c->header
	       : type == LINE_RESET ? &c->reset
	       : type == LINE_END   ? &c->end
	                            : NULL;
}

/* The id is also taken from events. */
int rollout_copy_keep(struct rollout_copy *c, struct str text, uint64_t number, struct error *err)
{
	AUTO_BUF scratch = BUF(BUF_MAX_SMALL);
	struct line parsed;

	if (line_parse(arena_str(&c->arena, text), &scratch, &parsed, NULL, err))
		return -1;
	c->id = c->id.p ? c->id : arena_str(&c->arena, parsed.rollout);
	parsed.rollout = c->id;
	parsed.number = number;
	struct line *place = place_for(c, parsed.type);

	if (place)
		*place = parsed;
	return 0;
}

int rollout_copy_add(struct rollout_copy *c, struct strip *strip, const struct line *l,
                     struct error *err)
{
	AUTO_BUF text = BUF(SIZE_MAX / 2); /* no cap needed, because the line itself is capped */

	if (strip_line(strip, l, &text, err))
		return -1;
	if (c->text)
		buf_str(c->text, buf_view(&text));
	return text.n > 0 ? rollout_copy_keep(c, buf_view(&text), l->number, err) : 0;
}

int rollout_copy_take(struct rollout_copy *c, struct strip *strip, const struct line *l,
                      struct buf *text, struct line *step, bool *is_step, struct error *err)
{
	AUTO_BUF scratch = BUF(BUF_MAX_SMALL);

	*is_step = false;
	buf_clear(text);
	if (strip_line(strip, l, text, err))
		return -1;
	if (l->type != LINE_STEP)
		return text->n ? rollout_copy_keep(c, buf_view(text), l->number, err) : 0;
	*is_step = true;
	int failed = line_parse(buf_view(text), &scratch, step, NULL, err);
	step->number = l->number;
	step->rollout = c->id;
	return failed;
}

const struct line *rollout_copy_line(const struct rollout_copy *c, size_t index)
{
	return index == 0              ? &c->header
	       : index == 1            ? &c->reset
	       : index < c->count + 2  ? &c->steps[index - 2]
	       : index == c->count + 2 ? &c->end
	                               : NULL;
}

void rollout_copy_release(struct rollout_copy *c)
{
	free(c->steps);
	arena_release(&c->arena);
	*c = (struct rollout_copy){.count = 0};
}
