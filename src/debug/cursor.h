/* A position in one rollout of a recording, which can move forwards, backwards and to any step. The
   file is read only as far as needed. The index has the place of each step read
   so far. */
#pragma once

#include "debug/moment.h"
#include "evidence/effects.h"
#include "recording/reader.h"

struct cursor_conf {
	const char *path;    /* a regular file; borrowed */
	const char *rollout; /* NULL: the first one; "ID#2" is the second one with that id */
	/* The effects of the steps, if they are derived elsewhere; borrowed. NULL: the cursor reads
	   the file once for them. */
	const struct effect_list *effects;
	/* Polled during long reads: true aborts them with FAIL_INTERRUPTED. May be NULL. */
	bool (*interrupted)(void *ctx);
	void *ctx;
};

struct cursor;

/* Reads up to the first step. FAIL_INPUT; FAIL_USAGE if there is no such rollout (the message lists
   the available ones). */
MUST_USE int cursor_open(const struct cursor_conf *conf, struct cursor **out, struct error *err);
void cursor_close(struct cursor *c); /* NULL is fine */

/* The current moment; valid until the cursor moves. */
const struct moment *cursor_now(const struct cursor *c);

/* Moves to a position: 1; 0: there is none, and the cursor has not moved. */
MUST_USE int cursor_go(struct cursor *c, int64_t position, struct error *err);
/* Moves to the first position whose line has that step (or turn) number: 1; 0: there is none. */
MUST_USE int cursor_find(struct cursor *c, bool turn, int64_t number, struct error *err);

/* Returns 1 to stop here, 0 to continue, or -1 with err set. Called in file order for both
   directions. */
typedef int cursor_test_fn(void *ctx, const struct moment *m, struct error *err);
/* Moves to the next (or, if `back`, the previous) position that passes the test: 1. 0: there is
   none; moves to the last step, or before the first one. */
MUST_USE int cursor_search(struct cursor *c, bool back, cursor_test_fn *test, void *ctx,
                           struct error *err);

/* Reads the rest of the rollout into the index. */
MUST_USE int cursor_read_all(struct cursor *c, struct error *err);

/* Facts about the rollout, as far as it was read. */
struct cursor_facts {
	const char *path;
	struct str rollout; /* id */
	const char *name;   /* id, with "#2" for the second rollout with that id */
	struct line header; /* no text if there is none */
	struct line end;    /* no text if not read yet */
	int64_t steps;      /* positions read so far */
	bool whole;         /* read to its end */
	bool torn;          /* the file ends in the middle of a line */
	bool others;        /* the file contains other rollouts, as far as it was read */
	uint64_t begin;     /* offset of its first line */
};
const struct cursor_facts *cursor_facts(const struct cursor *c);

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
