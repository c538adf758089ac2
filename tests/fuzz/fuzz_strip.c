/* Any bytes as a recording: the output of strip is a recording that strip does not
   change. */
#include "recording/strip/strip.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IDS_MAX 64 /* lines of further rollouts are omitted */

/* The ids of rollouts in order of occurrence. */
struct ids {
	struct buf id[IDS_MAX];
	size_t count;
};

static void note_id(struct ids *ids, struct str id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (str_eq(buf_view(&ids->id[i]), id))
			return;
	if (ids->count < IDS_MAX) {
		ids->id[ids->count] = BUF(1 << 20);
		buf_str(&ids->id[ids->count++], id);
	}
}

/* The next valid line; false at the end of the text. */
static bool next_line(struct str *text, struct buf *scratch, struct line *l, bool must_work)
{
	struct error err;
	size_t used;

	while (text->n && text->p[0] == '\n')
		*text = str_skip(*text, 1);
	if (!text->n || line_parse(*text, scratch, l, &used, &err)) {
		if (text->n && must_work)
			abort();
		return false;
	}
	*text = str_skip(*text, used);
	return true;
}

/* The lines of one rollout. */
static void strip_rollout(struct strip *s, struct str text, struct str id, bool must_work,
                          struct buf *out)
{
	struct buf scratch = BUF(1 << 20);
	struct error err;
	struct line l;

	while (next_line(&text, &scratch, &l, must_work)) {
		if (str_eq(l.rollout, id) && strip_line(s, &l, out, &err)) {
			if (must_work)
				abort();
			break;
		}
	}
	buf_release(&scratch);
}

/* Rollout by rollout, as strip_line requires. */
static void strip_text(struct str text, bool must_work, struct buf *out)
{
	struct buf scratch = BUF(1 << 20);
	struct ids ids = {.count = 0};
	struct str rest = text;
	struct error err;
	struct strip *s;
	struct line l;

	if (strip_new(NULL, 0, &s, &err) != 0)
		abort();
	while (next_line(&rest, &scratch, &l, must_work))
		note_id(&ids, l.rollout);
	for (size_t i = 0; i < ids.count; i++) {
		strip_rollout(s, text, buf_view(&ids.id[i]), must_work, out);
		buf_release(&ids.id[i]);
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
		if (!str_eq(buf_view(&once), buf_view(&twice)))
			abort();
	}
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
