/* Makes moments from lines: see walk.h. */
#include "debug/walk.h"

#define EVENTS_MAX ((size_t)1 << 20) /* maximum bytes kept of a step's events */

int walk_open(struct rollout_walk *w, const char *path, struct str rollout, uint64_t offset,
              uint64_t number, struct error *err)
{
	*w = (struct rollout_walk){.rollout = rollout,
	                           .offset = offset,
	                           .number = number,
	                           .header = BUF(BUF_MAX_MESSAGE + 1),
	                           .end = BUF(BUF_MAX_MESSAGE + 1),
	                           .events = BUF(EVENTS_MAX)};
	for (int i = 0; i < 2; i++) {
		line_copy_init(&w->slot[i].copy);
	}
	if (reader_open(path, &w->reader, err)) {
		return -1;
	}
	reader_seek(w->reader, offset, UINT64_MAX, number);
	return 0;
}

void walk_close(struct rollout_walk *w)
{
	reader_close(w->reader);
	for (int i = 0; i < 2; i++) {
		line_copy_release(&w->slot[i].copy);
	}
	buf_release(&w->header);
	buf_release(&w->end);
	buf_release(&w->events);
	*w = (struct rollout_walk){.reader = NULL};
}

void walk_seek(struct rollout_walk *w, uint64_t offset, uint64_t number, int64_t position)
{
	reader_seek(w->reader, offset, UINT64_MAX, number);
	w->offset = offset;
	w->number = number;
	w->pending = w->over = w->given = w->at_end = false;
	w->begun = position > 0;
	w->position = position - 1; /* the next line read gets `position` */
	buf_clear(&w->events);
}

static int fill(struct walk_slot *s, const struct line *l, const struct reader_note *note,
                struct error *err)
{
	s->offset = note->offset;
	s->number = note->line;
	return line_copy_set(&s->copy, l, err);
}

static void complete(const struct rollout_walk *w, const struct line *next, struct moment *out)
{
	const struct walk_slot *s = &w->slot[w->current];

	*out = (struct moment){.position = w->position,
	                       .line = &s->copy.line,
	                       .events = buf_view(&w->events),
	                       .is_last = !next || next->type != LINE_STEP,
	                       .number = s->number,
	                       .end = s->offset + s->copy.text.n};
	if (next) {
		out->after = next->value[KEY_STATE];
		out->after_hash = next->value[KEY_STATE_HASH];
	}
}

/* Takes a line with a position of its own, which completes the previous moment. Returns 1 if *out
   is set to that moment. */
static int take_place(struct rollout_walk *w, const struct line *l, const struct reader_note *note,
                      struct moment *out, struct error *err)
{
	int other = !w->current, had = w->pending;

	if (fill(&w->slot[other], l, note, err)) {
		return -1;
	}
	if (had) {
		complete(w, &w->slot[other].copy.line, out);
	}
	w->pending = l->type != LINE_END;
	w->over = l->type == LINE_END;
	w->position += l->type == LINE_STEP;
	w->current = other;
	return had;
}

/* Header and reset share one position, the start. */
static int take_start(struct rollout_walk *w, const struct line *l, const struct reader_note *note,
                      struct error *err)
{
	bool header = l->type == LINE_HEADER;

	if (header && w->begun) { /* another rollout with the same id */
		w->over = true;
		return 0;
	}
	if (header) {
		buf_set(&w->header, l->text);
	}
	w->begun = true;
	if (w->position > 0) {
		return 0; /* a later reset has no position */
	}
	w->pending = true;
	w->position = 0;
	return fill(&w->slot[w->current], l, note, err);
}

static int walk_line(struct rollout_walk *w, const struct line *l, const struct reader_note *note,
                     struct moment *out, struct error *err)
{
	switch (l->type) {
	case LINE_HEADER:
	case LINE_RESET:
		return take_start(w, l, note, err);
	case LINE_EVENT:
		buf_str(&w->events, l->text);
		buf_text(&w->events, "\n");
		return 0;
	case LINE_END:
		buf_set(&w->end, l->text);
		break;
	case LINE_STEP:
		break;
	case LINE_TYPES:
	case LINE_UNKNOWN:
		return 0;
	}
	return take_place(w, l, note, out, err);
}

static int read_on(struct rollout_walk *w, struct moment *out, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more = 0, got = 0;

	while (!w->over && !got && (more = reader_next(w->reader, &l, &note, err)) > 0) {
		if (note.torn) {
			w->torn = true;
			break;
		}
		w->offset = note.offset + l.text.n;
		w->number = note.line;
		if (w->each && w->each(w->ctx, &l, &note, err)) {
			return -1;
		}
		got = str_eq(l.rollout, w->rollout) ? walk_line(w, &l, &note, out, err) : 0;
	}
	return more < 0 ? -1 : got;
}

/* Returns the last moment although no line follows; it is returned again once one does. */
static int give_last(struct rollout_walk *w, struct moment *out)
{
	if (!w->pending || (w->given && w->given_position == w->position)) {
		return 0;
	}
	complete(w, NULL, out);
	w->given = true;
	w->given_position = w->position;
	w->pending = !w->over;
	return 1;
}

int walk_next(struct rollout_walk *w, struct moment *out, struct error *err)
{
	if (w->clear_events) {
		buf_clear(&w->events);
		w->clear_events = false;
	}
	if (w->at_end && !w->over) { /* the file may have grown */
		reader_seek(w->reader, w->offset, UINT64_MAX, w->number);
	}
	int got = read_on(w, out, err);
	w->at_end = got == 0;
	w->clear_events = got > 0;
	return got ? got : give_last(w, out);
}
