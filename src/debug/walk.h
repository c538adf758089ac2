/* Reads one rollout of a recording as moments, forwards from any of its lines. */
#ifndef ROLLDBG_DEBUG_WALK_H
#define ROLLDBG_DEBUG_WALK_H

#include "debug/moment.h"
#include "trajectory/reader.h"

/* Called for each line that is read, of any rollout. */
typedef int walk_line_fn(void *ctx, const struct line *l, const struct reader_note *note,
                         struct error *err);

/* A line whose moment is complete when the next one is known. */
struct walk_slot {
	struct buf text, id;
	struct line line;
	uint64_t offset, number; /* of its object in the file */
};

struct rollout_walk {
	struct reader *reader;
	struct str rollout; /* decoded id; borrowed */
	walk_line_fn *each; /* NULL: none */
	void *ctx;
	struct walk_slot slot[2];
	int current;      /* the slot of the line whose moment is not complete yet */
	bool pending;     /* there is one */
	bool begun, over; /* its header was read; its end was */
	bool torn;        /* the file ends in the middle of a line */
	bool at_end;      /* of the file, as far as it was written then */
	bool given;       /* the newest line was given without one behind it: */
	int64_t given_position;
	bool clear_events;       /* they belong to the moment that was given last */
	int64_t position;        /* of the current line */
	uint64_t offset, number; /* behind the last line that was read: where to read on */
	struct buf header, end, events;
};

/* Begins at the rollout's first line, at that offset; `rollout` is borrowed. FAIL_INPUT. */
MUST_USE int walk_open(struct rollout_walk *w, const char *path, struct str rollout,
                       uint64_t offset, uint64_t number, struct error *err);
void walk_close(struct rollout_walk *w); /* zeroed is fine */

/* Goes on at a step line of that position. */
void walk_seek(struct rollout_walk *w, uint64_t offset, uint64_t number, int64_t position);

/* The next moment, valid until the next call: 1; 0: there is none. A moment without a line behind
   it is the last so far: if the file has grown by the next call, that gives it again, whole. */
MUST_USE int walk_next(struct rollout_walk *w, struct moment *out, struct error *err);

#endif
