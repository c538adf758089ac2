/* The event stream parser: see sse.h. A line within one piece is read in place; only a line
   split over pieces is assembled in `line`. */
#include "protocol/sse.h"

#include "base/text.h"

/* state: bytes of the BOM seen so far (0..2), or: */
enum { BOM_SEEN_2 = 2, IN_STREAM = 3, AFTER_CR = 4 };

static const char bom[] = "\xef\xbb\xbf";

void sse_init(struct sse *s, size_t max_event)
{
	*s = (struct sse){
		.line = BUF(max_event),
		.data = BUF(max_event),
		.type = BUF(BUF_MAX_SMALL),
		.id = BUF(BUF_MAX_SMALL),
		.next_id = BUF(BUF_MAX_SMALL),
	};
}

void sse_restart(struct sse *s)
{
	struct buf *all[] = {&s->line, &s->data, &s->type, &s->id, &s->next_id};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_clear(all[i]);
	*s = (struct sse){.line = s->line,
	                  .data = s->data,
	                  .type = s->type,
	                  .id = s->id,
	                  .next_id = s->next_id};
}

void sse_release(struct sse *s)
{
	BUFS_RELEASE(&s->line, &s->data, &s->type, &s->id, &s->next_id);
}

void sse_feed(struct sse *s, struct str piece)
{
	s->rest = piece;
	s->lf = s->cr = NULL;
}

/* Appends as much as fits: of a line over the cap, the start must be known to recognize
   comments. */
static void line_add(struct sse *s, struct str part)
{
	size_t room = s->line.max - s->line.n;
	bool fits = part.n <= room;

	if (!s->line.full)
		buf_add(&s->line, part.p, fits ? part.n : room);
	s->line.full = s->line.full || !fits;
}

static void skip_bom(struct sse *s)
{
	while (s->state < IN_STREAM && s->rest.n) {
		if (s->rest.p[0] != bom[s->state]) {
			line_add(s, (struct str){bom, s->state});
			s->state = IN_STREAM;
			return;
		}
		s->rest = str_skip(s->rest, 1);
		s->state++;
	}
}

/* The position of c at or after rest, or the end; each piece is searched only once. */
static const char *find(struct str rest, const char *known, char c)
{
	if (known && known >= rest.p)
		return known;
	const char *at = memchr(rest.p, c, rest.n);
	return at ? at : rest.p + rest.n;
}

/* Reads the next complete line, without its line end. False: rest is used up. *too_long: the
   line exceeds the cap. */
static bool next_line(struct sse *s, struct str *line, bool *too_long)
{
	skip_bom(s);
	if (s->state == AFTER_CR && s->rest.n) {
		if (s->rest.p[0] == '\n')
			s->rest = str_skip(s->rest, 1);
		s->state = IN_STREAM;
	}
	if (s->rest.n == 0)
		return false;
	s->lf = find(s->rest, s->lf, '\n');
	s->cr = find(s->rest, s->cr, '\r');
	const char *end = s->lf < s->cr ? s->lf : s->cr;
	*line = (struct str){s->rest.p, (size_t)(end - s->rest.p)};
	if (line->n == s->rest.n) {
		line_add(s, s->rest);
		s->rest = STR_NONE;
		return false;
	}
	if (*end == '\r')
		s->state = AFTER_CR;
	s->rest = str_skip(s->rest, line->n + 1);
	*too_long = line->n > s->line.max;
	if (s->line.n || s->line.full) {
		line_add(s, *line);
		*line = buf_view(&s->line);
		*too_long = s->line.full;
	}
	return true;
}

/* An event whose type or id exceeds the cap is treated as too large: without them its meaning
   would change. */
static void set_small(struct sse *s, struct buf *b, struct str value)
{
	if (value.n > b->max)
		s->data.full = true;
	else
		buf_set(b, value);
}

static void field(struct sse *s, struct str name, struct str value)
{
	uint64_t ms;

	if (str_eq(name, STR("data"))) {
		if (s->has_data)
			buf_char(&s->data, '\n');
		buf_str(&s->data, value);
		s->has_data = true;
	} else if (str_eq(name, STR("event"))) {
		set_small(s, &s->type, value);
	} else if (str_eq(name, STR("id"))) {
		if (!value.n || !memchr(value.p, '\0', value.n))
			set_small(s, &s->next_id, value);
	} else if (str_eq(name, STR("retry"))) {
		if (text_u64(value, &ms))
			s->retry_ms = ms;
	}
}

static void read_line(struct sse *s, struct str line, bool too_long)
{
	if (line.n && line.p[0] == ':') {
		s->comments++;
		return;
	}
	if (too_long) {
		s->data.full = true;
		return;
	}
	struct str value = line, name = str_cut(&value, ':');
	if (value.n && value.p[0] == ' ')
		value = str_skip(value, 1);
	field(s, name, value);
}

/* Handles an empty line. True: there is an event to return. */
static bool dispatch(struct sse *s)
{
	bool whole = !s->data.full;

	s->too_large = s->too_large || !whole;
	buf_set(&s->id, buf_view(&s->next_id));
	s->delivered = true;
	return s->has_data && whole;
}

bool sse_next(struct sse *s, struct sse_event *out)
{
	struct str line;
	bool too_long;

	for (;;) {
		if (s->delivered) {
			buf_clear(&s->data);
			buf_clear(&s->type);
			s->has_data = s->delivered = false;
		}
		if (!next_line(s, &line, &too_long))
			return false;
		bool empty = line.n == 0 && !too_long;
		if (!empty)
			read_line(s, line, too_long);
		buf_clear(&s->line);
		if (empty && dispatch(s))
			break;
	}
	out->type = s->type.n ? buf_view(&s->type) : STR("message");
	out->data = buf_view(&s->data);
	out->id = buf_view(&s->id);
	return true;
}
