/* Texts that differ only in parts generated for each reply: ids, tokens, points in time. */
#ifndef ROLLDBG_FACTS_FRESH_IDS_H
#define ROLLDBG_FACTS_FRESH_IDS_H

#include "base/base.h"

#define FRESH_IDS_RECENT 4

/* Hashes of the most recent values: an id that recurs identifies something and is not fresh.
   Empty if zeroed. */
struct fresh_ids {
	uint64_t recent[FRESH_IDS_RECENT];
	size_t next;
};

/* Does `after` differ from all recent values, including `before`? Adds both. */
bool fresh_ids_take(struct fresh_ids *f, struct str before, struct str after);

/* Do two JSON strings differ only in points in time (see clocks_mask()) and in words of equal
   length that look random in both: 8 or more hex digits, or 12 or more mixed letters and digits?
   Common prefixes and suffixes of such words are ignored. False for other values. */
bool fresh_ids_differ_only(struct str before, struct str after);

/* Is the word a UUID, or does it look random? */
bool fresh_ids_is_id(struct str word);

#endif
