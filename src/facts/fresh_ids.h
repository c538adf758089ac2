/* Texts that differ only in what is generated for each answer: ids, tokens, points in time. */
#ifndef ROLLDBG_FACTS_FRESH_IDS_H
#define ROLLDBG_FACTS_FRESH_IDS_H

#include "base/base.h"

#define FRESH_IDS_RECENT 4

/* The values that came last, by their hashes: an id that comes again names something. Zeroed is
   empty. */
struct fresh_ids {
	uint64_t recent[FRESH_IDS_RECENT];
	size_t next;
};

/* Is `after` none of the recent values, `before` included? Adds both. */
bool fresh_ids_take(struct fresh_ids *f, struct str before, struct str after);

/* Do two JSON strings differ in nothing but points in time (see clocks_mask()) and words that look
   random in both, of the same length: 8 or more hex digits, or 12 or more letters and digits in
   which their kinds alternate? What such words have in common at their beginning and end does not
   count. False for other values. */
bool fresh_ids_differ_only(struct str before, struct str after);

#endif
