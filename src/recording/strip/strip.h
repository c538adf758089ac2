/* The format of a golden: canonical, without volatile facts. Stripping is idempotent, and a
   stripped recording is a valid recording. */
#pragma once

#include "recording/line.h"

struct strip;

/* `masks`: patterns of pointers into the line (json/paths.h), applied in addition to the masks
   in each rollout's header, and added to the header. FAIL_USAGE if one is not a pointer. */
MUST_USE int strip_new(const struct str *masks, size_t count, struct strip **out,
                       struct error *err);
void strip_free(struct strip *s); /* NULL is fine */

/* Appends the stripped line with its line feed, or nothing if the line is volatile (retry,
   reconnected, noise and state-reread events, unknown types). All lines of one rollout must
   precede those of the next (recording/by_rollout.h). FAIL_INPUT: a header's mask is not a
   pointer.

   A masked value becomes "<masked>", or null where the table allows no string (a reward). Masks
   do not apply to values that a reader needs to interpret the line: type, rollout, turn, step,
   outcome, hashes, the counts of `end`, the masks themselves. Ids in `meta` (session,
   env_session, reply_session, episode) become <session> and <episode> inside all strings, ids
   shorter than 8 bytes only where they are the whole string. `lines` is reduced by the lines
   left out, so that a line that was missing before still is. */
MUST_USE int strip_line(struct strip *s, const struct line *l, struct buf *out, struct error *err);
