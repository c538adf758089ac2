/* The form of a golden: volatile facts out, canonical bytes (design: stripping twice
   changes nothing, a stripped recording is a valid recording). */
#ifndef ROLLDBG_TRAJECTORY_STRIP_H
#define ROLLDBG_TRAJECTORY_STRIP_H

#include "trajectory/line.h"
#include "json/canon.h"

struct strip;

/* `masks`: pointers into the line, wild; on top of the masks and ignored state pointers
   that each rollout's header names. May be NULL. */
struct strip *strip_new(const struct json_paths *masks);
void strip_free(struct strip *s);

/* Appends the stripped line with its line feed, or nothing when the line is volatile
   (retry, reconnected, noise events, unknown types). Lines of several rollouts may be
   interleaved. FAIL_INPUT: a header's mask is not a pointer. */
MUST_USE int strip_line(struct strip *s, const struct line *l, struct buf *out,
                        struct error *err);

#endif
