/* Reads one rollout of a recording as moments, forwards from any of its lines. */
#ifndef ROLLDBG_DEBUG_WALK_H
#define ROLLDBG_DEBUG_WALK_H

#include "debug/moment.h"
#include "recording/reader.h"

/* A copy of a line, with its own text and slices into it. */
struct line_copy {
	struct buf text, id;
	struct line line;
};

void line_copy_init(struct line_copy *c);
void line_copy_release(struct line_copy *c); /* zeroed is fine */

/* Replaces the previous line. FAIL_INPUT: the line is too long. */
MUST_USE int line_copy_set(struct line_copy *c, const struct line *l, struct error *err);

/* Called for each line read, of any rollout. */
typedef int walk_line_fn(void *ctx, const struct line *l, const struct reader_note *note,
                         struct error *err);

/* A line whose moment is complete once the next line is read. */
struct walk_slot {
	struct line_copy copy;
	uint64_t offset, number; /* offset and line number in the file */
};

struct rollout_walk {
	struct reader *reader;
	struct str rollout; /* decoded id; borrowed */
	walk_line_fn *each; /* may be NULL */
	void *ctx;
	struct walk_slot slot[2];
	int current;      /* slot of the line whose moment is incomplete */
	bool pending;     /* there is such a line */
	bool begun, over; /* header read; end read */
	bool torn;        /* the file ends in the middle of a line */
	bool at_end;      /* end of the file as last read; it may grow */
	bool given;       /* the last moment was returned without a following line: */
	int64_t given_position;
	bool clear_events;       /* the events belong to the moment returned last */
	int64_t position;        /* of the current line */
	uint64_t offset, number; /* after the last line read: where to continue */
	struct buf header, end, events;
};

/* Starts at the rollout's first line, at that offset; borrows `rollout`. FAIL_INPUT. */
MUST_USE int walk_open(struct rollout_walk *w, const char *path, struct str rollout,
                       uint64_t offset, uint64_t number, struct error *err);
void walk_close(struct rollout_walk *w); /* zeroed is fine */

/* Continues at the step line with that position. */
void walk_seek(struct rollout_walk *w, uint64_t offset, uint64_t number, int64_t position);

/* Returns 1 with the next moment, valid until the next call; 0: none. A moment with no line after
   it is the last one so far; if the file has grown by the next call, the complete moment is
   returned again. */
MUST_USE int walk_next(struct rollout_walk *w, struct moment *out, struct error *err);

/* ---- the rollouts of a recording, found by their first lines ---- */

struct rollout_place {
	struct str id;
	int64_t instance; /* from 1: counts rollouts with the same id */
	uint64_t offset, line;
};

/* Polled while the file is read: true aborts with FAIL_INTERRUPTED. May be NULL. */
struct rollouts_interrupt {
	bool (*interrupted)(void *ctx);
	void *ctx;
};
/* Returns -1 with err set to abort, 1 to stop successfully, 0 to continue. */
typedef int rollout_place_fn(void *ctx, const struct rollout_place *p, struct error *err);

/* Calls back for every rollout, in order of their first lines. Reads the whole file. */
MUST_USE int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                           rollout_place_fn *take, void *ctx, struct error *err);

#endif
