/* The lines of recordings rollout by rollout: rollouts in the order of their ids (by bytes), the
   lines of each in recorded order, even if rollouts were interleaved. A second header of an id
   begins another rollout, which comes behind the first.
   Everything is read twice: once to locate the lines, once to deliver them. Input that cannot be
   read twice (a pipe) is copied to a temporary file first. Memory: about 100 bytes per rollout,
   and 48 for each stretch of lines between lines of other rollouts. */
#ifndef ROLLDBG_TRAJECTORY_BY_ROLLOUT_H
#define ROLLDBG_TRAJECTORY_BY_ROLLOUT_H

#include "trajectory/reader.h"

struct by_rollout;

/* Finds the lines of all these files ("-" is standard input); paths are borrowed. torn is given
   a truncated last line of a file. */
MUST_USE int by_rollout_open(char *const *paths, size_t count, reader_line_fn *torn, void *ctx,
                             struct by_rollout **out, struct error *err);
/* The same for files in that format (trajectory/foreign.h), whatever they look like. */
MUST_USE int by_rollout_open_as(const struct format *format, char *const *paths, size_t count,
                                reader_line_fn *torn, void *ctx, struct by_rollout **out,
                                struct error *err);
/* The id of the next rollout, empty for lines of unknown type that name none; absent when all
   have been read. */
struct str by_rollout_id(const struct by_rollout *b);
/* Hands over each line of the next rollout, of which there must be one. A FAIL_INPUT of take is
   given the file and the line in front. */
MUST_USE int by_rollout_next(struct by_rollout *b, reader_line_fn *take, void *ctx,
                             struct error *err);
/* Passes over the next rollouts of both if their lines are the same but for `meta`, byte by byte:
   1, and *steps is how many steps they have. Else nothing is passed over: 0; -1: a failure to
   read. */
MUST_USE int by_rollout_skip_same(struct by_rollout *a, struct by_rollout *b, size_t *steps,
                                  struct error *err);
void by_rollout_close(struct by_rollout *b); /* NULL is fine */

/* ---- for several threads ---- */

/* The number of places: rollouts are at some of them. */
size_t by_rollout_count(const struct by_rollout *b);
/* The place of the next rollout. */
size_t by_rollout_place(const struct by_rollout *b);
/* Passes over the next rollout without reading it; returns the bytes of its lines. */
uint64_t by_rollout_pass(struct by_rollout *b);
/* The rollouts from one place on and up to another. Views of one may be read in several threads at
   once; close them before it. */
struct by_rollout *by_rollout_view(const struct by_rollout *b, size_t first, size_t behind);

/* All of the above: hands over truncated lines, then each rollout's. */
MUST_USE int by_rollout_each(char *const *paths, size_t count, reader_line_fn *take, void *ctx,
                             struct error *err);

#endif
