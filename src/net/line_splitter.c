/* Splits a stream into lines: see line_splitter.h. */
#include "net/line_splitter.h"

void lines_init(struct lines *l, size_t max_line, size_t ahead)
{
	/* room for the CR of a line exactly as long as the cap */
	*l = (struct lines){.bytes = BUF(max_line + 1 + ahead), .max_line = max_line};
}

void lines_release(struct lines *l)
{
	buf_release(&l->bytes);
	l->taken = l->searched = 0;
}

char *lines_room(struct lines *l, size_t n)
{
	bool scarce = l->bytes.max - l->bytes.n < n;

	/* moved to the front if that is cheap, or needed */
	if (l->taken && (scarce || l->taken >= l->bytes.n - l->taken)) {
		buf_drop(&l->bytes, l->taken);
		l->searched -= l->taken;
		l->taken = 0;
	}
	return l->bytes.max - l->bytes.n < n ? NULL : buf_room(&l->bytes, n);
}

void lines_added(struct lines *l, size_t n)
{
	l->bytes.n += n;
}

/* Marks everything before `end` as taken, and the LF after it. */
static struct str cut(struct lines *l, size_t end)
{
	struct str line = {l->bytes.p + l->taken, end - l->taken};

	l->taken = l->searched = end < l->bytes.n ? end + 1 : end;
	return line;
}

static struct str without_cr(struct str line)
{
	line.n -= line.n && line.p[line.n - 1] == '\r';
	return line;
}

enum lines_got lines_next(struct lines *l, bool ended, struct str *line)
{
	for (;;) {
		struct str rest = str_skip(buf_view(&l->bytes), l->searched);
		const char *lf = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
		size_t end = lf ? (size_t)(lf - l->bytes.p) : l->bytes.n;
		bool skipping = l->skipping, whole = lf || (ended && end > l->taken);

		*line = STR("");
		l->searched = end;
		if (skipping || end - l->taken > l->max_line + 1) {
			cut(l, end);
			l->skipping = !lf;
			if (!skipping)
				return LINES_TOO_LONG;
			if (!lf)
				return LINES_NONE;
			continue;
		}
		if (!whole)
			return LINES_NONE;
		*line = without_cr(cut(l, end));
		return line->n > l->max_line ? LINES_TOO_LONG : LINES_ONE;
	}
}
