/* Makes moments from lines: see walk.h. */
#include "debug/walk.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

#define EVENTS_MAX      ((size_t)1 << 20) /* maximum bytes kept of a step's events */
#define INTERRUPT_LINES 4096              /* lines between two polls of the signal */

int walk_open(struct rollout_walk *w, const char *path, struct str rollout, uint64_t offset,
              uint64_t number, struct error *err)
{
	*w = (struct rollout_walk){.rollout = rollout,
	                           .offset = offset,
	                           .number = number,
	                           .header = BUF(BUF_MAX_MESSAGE + 1),
	                           .end = BUF(BUF_MAX_MESSAGE + 1),
	                           .events = BUF(EVENTS_MAX)};
	for (int i = 0; i < 2; i++)
		line_copy_init(&w->slot[i].copy);
	if (reader_open(path, &w->reader, err))
		return -1;
	reader_seek(w->reader, offset, UINT64_MAX, number);
	return 0;
}

void walk_close(struct rollout_walk *w)
{
	reader_close(w->reader);
	for (int i = 0; i < 2; i++)
		line_copy_release(&w->slot[i].copy);
	BUFS_RELEASE(&w->header, &w->end, &w->events);
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

	if (fill(&w->slot[other], l, note, err))
		return -1;
	if (had)
		complete(w, &w->slot[other].copy.line, out);
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
	if (header)
		buf_set(&w->header, l->text);
	w->begun = true;
	if (w->position > 0)
		return 0; /* a later reset has no position */
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
		if (w->each && w->each(w->ctx, &l, &note, err))
			return -1;
		got = str_eq(l.rollout, w->rollout) ? walk_line(w, &l, &note, out, err) : 0;
	}
	return more < 0 ? -1 : got;
}

/* Returns the last moment although no line follows; it is returned again once one does. */
static int give_last(struct rollout_walk *w, struct moment *out)
{
	if (!w->pending || (w->given && w->given_position == w->position))
		return 0;
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
	if (w->at_end && !w->over) /* the file may have grown */
		reader_seek(w->reader, w->offset, UINT64_MAX, w->number);
	int got = read_on(w, out, err);
	w->at_end = got == 0;
	w->clear_events = got > 0;
	return got ? got : give_last(w, out);
}

/* ---- copies of lines ---- */

void line_copy_init(struct line_copy *c)
{
	*c = (struct line_copy){.text = BUF(BUF_MAX_MESSAGE + 1), .id = BUF(BUF_MAX_MESSAGE + 1)};
}

void line_copy_release(struct line_copy *c)
{
	BUFS_RELEASE(&c->text, &c->id);
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
		if (value->p && !is_within(*value, l->text))
			return line_parse(c->line.text, &c->id, &c->line, &used, err);
		if (value->p)
			value->p = c->text.p + (value->p - l->text.p);
	}
	return 0;
}

/* ---- where rollouts begin ---- */

/* An id seen before, 40 bytes. */
struct seen_id {
	struct map_item item;
	int64_t instances;
};

struct rollout_listing {
	struct map ids; /* key: only the hash of the id */
	rollout_place_fn *take;
	void *ctx;
};

/* A rollout begins with a header, or with any line of a rollout that is not open. */
static int take_line(struct rollout_listing *l, const struct line *line,
                     const struct reader_note *note, struct error *err)
{
	uint64_t hash = map_hash(line->rollout);
	struct seen_id *seen = map_find(&l->ids, hash, STR_NONE);
	bool begins = line->type == LINE_HEADER || !seen;

	if (!seen) {
		seen = mem_new(sizeof(*seen));
		map_add(&l->ids, &seen->item, hash);
	}
	if (!begins)
		return 0;
	seen->instances++;
	return l->take(
		l->ctx,
		&(struct rollout_place){line->rollout, seen->instances, note->offset, note->line},
		err);
}

static void release(struct rollout_listing *l)
{
	struct seen_id **all = map_list(&l->ids);

	for (size_t i = 0; i < l->ids.count; i++)
		free(all[i]);
	free(all);
}

int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                  rollout_place_fn *take, void *ctx, struct error *err)
{
	struct rollout_listing l = {.take = take, .ctx = ctx};
	struct reader_note note;
	struct reader *r;
	struct line line;
	int more, stop = 0;

	if (reader_open(path, &r, err))
		return -1;
	for (uint64_t n = 1; !stop && (more = reader_skim(r, &line, &note, err)) > 0; n++) {
		if (note.torn)
			break;
		stop = line.type == LINE_UNKNOWN ? 0 : take_line(&l, &line, &note, err);
		if (!stop && n % INTERRUPT_LINES == 0 && interrupt->interrupted &&
		    interrupt->interrupted(interrupt->ctx)) {
			stop = error_set(err, FAIL_INTERRUPTED, "interrupted");
		}
	}
	reader_close(r);
	release(&l);
	return stop < 0 || (!stop && more < 0) ? -1 : 0;
}
