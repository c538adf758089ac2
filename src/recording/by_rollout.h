/* The lines of recordings, rollout by rollout: rollouts in the order of their ids (by bytes),
   the lines of each in recorded order, even if rollouts were interleaved. A second header with
   the same id begins another rollout, which is ordered after the first. Everything is read
   twice: once to locate the lines, once to deliver them. Input that cannot be read twice (a
   pipe) is copied to a temporary file first. Memory: about 100 bytes per rollout, and 48 per
   stretch (consecutive lines of one rollout). */
#pragma once

#include "recording/reader.h"

struct by_rollout;

/* Locates the lines of all these files ("-" is standard input), read in that format
   (recording/foreign.h); NULL: in the one that their content shows. The paths are borrowed. `torn`
   receives the truncated last line of a file. */
MUST_USE int by_rollout_open(const struct format *format, char *const *paths, size_t count,
                             reader_line_fn *torn, void *ctx, struct by_rollout **out,
                             struct error *err);
/* The id of the next rollout; empty for lines of unknown type without an id; absent when all
   rollouts have been read. */
struct str by_rollout_id(const struct by_rollout *b);
/* Passes each line of the next rollout, which must exist, to `take`. A FAIL_INPUT of `take` gets
   the file and line prepended. */
MUST_USE int by_rollout_next(struct by_rollout *b, reader_line_fn *take, void *ctx,
                             struct error *err);
/* The next line of the next rollout, which must exist: returns 1, 0 if all its lines were read
   (the one after it is then the next), or -1. */
MUST_USE int by_rollout_line(struct by_rollout *b, struct line *l, struct reader_note *note,
                             struct error *err);
/* Skips the next rollout of both if their lines are equal byte by byte except for `meta`:
   returns 1 and sets *steps to their number of steps. Otherwise skips nothing and returns 0; -1
   if reading failed. */
MUST_USE int by_rollout_skip_same(struct by_rollout *a, struct by_rollout *b, size_t *steps,
                                  struct error *err);
/* Are two lines equal except for the object under their last key, `meta`? False also if the
   bytes do not decide it. */
bool line_same_but_meta(struct str a, struct str b);
void by_rollout_close(struct by_rollout *b); /* NULL is fine */
