/* A position in one rollout of a recording, which moves forwards, backwards and to any step. The file
   is read only as far as needed; an index of bounded size (every 2^n-th step, and two bits for the
   effect of each) makes every step read so far reachable without reading all of it again. */
#ifndef ROLLDBG_DEBUG_CURSOR_H
#define ROLLDBG_DEBUG_CURSOR_H

#include "debug/effects.h"
#include "debug/moment.h"

struct cursor_conf {
	const char *path;    /* of a regular file; borrowed */
	const char *rollout; /* NULL: the first one; "ID#2" is the second one of that id */
	/* The effects of the steps, if something else derives them; borrowed. NULL: the cursor
	   derives them from the lines it reads. */
	const struct effects *effects;
	/* Called during long reads: true ends them with FAIL_INTERRUPTED. NULL: never. */
	bool (*interrupted)(void *ctx);
	void *ctx;
};

struct cursor;

/* Reads no further than the first step. FAIL_INPUT; FAIL_USAGE: there is no such rollout (the message
   lists those there are). */
MUST_USE int cursor_open(const struct cursor_conf *conf, struct cursor **out, struct error *err);
void cursor_close(struct cursor *c); /* NULL is fine */

/* The current moment; valid until the cursor moves. */
const struct moment *cursor_now(const struct cursor *c);

/* 1: moved; 0: there is no such position, and it has not moved. */
MUST_USE int cursor_go(struct cursor *c, int64_t position, struct error *err);
/* The first position whose line has that number as step (or turn). 0: there is none. */
MUST_USE int cursor_find(struct cursor *c, bool turn, int64_t number, struct error *err);

/* 1: stop here; 0: do not. Called in the order of the file, whatever the direction. -1 with err set. */
typedef int cursor_test_fn(void *ctx, const struct moment *m, struct error *err);
/* Moves to the next (or, backwards, the previous) position that passes: 1. 0: none does, and it moved
   to the last step, or before the first. */
MUST_USE int cursor_search(struct cursor *c, bool back, cursor_test_fn *test, void *ctx,
                           struct error *err);

/* Reads the rest of the rollout into the index. */
MUST_USE int cursor_read_all(struct cursor *c, struct error *err);

/* What is known of the rollout so far. */
struct cursor_facts {
	const char *path;
	struct str rollout; /* id */
	const char *name;   /* id, with "#2" for the second one of that id */
	struct line header; /* without text if there is none */
	struct line end;    /* without text if there is none so far */
	int64_t steps;      /* positions that were seen */
	bool whole;         /* to its end */
	bool torn;          /* the file ends in the middle of a line */
	bool others;        /* other rollouts were seen in the file */
	uint64_t begin;     /* offset of its first line */
};
const struct cursor_facts *cursor_facts(const struct cursor *c);

#endif
