/* A place in one rollout of a recording: forwards, backwards, and to any step. The file is read once,
   as far as one moves; an index of bounded size (every 2^n-th step, and two bits of each step's
   effect) makes every step behind that point reachable at once. */
#ifndef ROLLDBG_DEBUG_CURSOR_H
#define ROLLDBG_DEBUG_CURSOR_H

#include "debug/effects.h"
#include "debug/moment.h"

struct cursor_conf {
	const char *path;    /* of a regular file; borrowed */
	const char *rollout; /* NULL: the first one; "ID#2" is the second one of that id */
	/* Effects that someone else derives while the file is written; borrowed. NULL: the cursor
	   derives them from the lines it reads. */
	const struct effects *effects;
	/* Asked while much is read: true ends that with FAIL_INTERRUPTED. NULL: never. */
	bool (*interrupted)(void *ctx);
	void *ctx;
};

struct cursor;

/* Reads no more than it needs to stand before the first step. FAIL_INPUT; FAIL_USAGE: there is no
   such rollout, with the names that there are. */
MUST_USE int cursor_open(const struct cursor_conf *conf, struct cursor **out, struct error *err);
void cursor_close(struct cursor *c); /* NULL is fine */

/* Where it stands; valid until it moves. */
const struct moment *cursor_now(const struct cursor *c);

/* 1: it stands there; 0: there is no such position, and it stays. */
MUST_USE int cursor_go(struct cursor *c, int64_t position, struct error *err);
/* The first position whose line has that number as step (or turn). 0: there is none. */
MUST_USE int cursor_find(struct cursor *c, bool turn, int64_t number, struct error *err);

/* Is it one to stop at? Called with moments of the rollout in the order of the file, whatever the
   direction. -1 with err set. */
typedef int cursor_test_fn(void *ctx, const struct moment *m, struct error *err);
/* To the next (or, backwards, the previous) position that passes: 1. 0: none does: it stands on the
   last step, or before the first. */
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
