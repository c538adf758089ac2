/* Shared by strip.c and strip_straight.c. */
#ifndef ROLLDBG_TRAJECTORY_STRIP_INTERNAL_H
#define ROLLDBG_TRAJECTORY_STRIP_INTERNAL_H

#include "base/hash.h"
#include "json/canon.h"
#include "trajectory/replacer.h"
#include "trajectory/strip.h"

/* State of the current rollout. */
struct stripped_rollout {
	struct str id;
	struct json_paths *masks, *ignore; /* NULL: none */
	struct replacer ids;
	int64_t written, dropped; /* lines */
};

struct strip {
	char **masks;
	size_t mask_count;
	struct stripped_rollout rollout;
	bool open; /* `rollout` is valid */
	struct buf id, decoded_id;
	struct hasher *hasher;
	/* the first row of each object with members in the table */
	const struct line_key *parts[KEY_COUNT];
	/* For the current line. The first three hold whole lines: with ids replaced, canonical,
	   and canonical with masks applied. */
	struct buf text, plain, masked, values, state, scratch;
	struct str run;          /* members of a canonical line that are output as they are, next */
	char hash[HASH_HEX + 3]; /* with quotes */
	char lines[24];
};

/* Sets s->hash for a canonical state of which nothing is ignored. */
void strip_hash(struct strip *s, struct str state);
/* The state is already canonical; masks its ignored members and recomputes its hash. */
void strip_state(struct strip *s, const struct stripped_rollout *r, struct line *l);
/* Reduces the line count of `end` by the lines dropped, so that a line that was missing before
   is still counted as missing. */
void strip_lines(struct strip *s, const struct stripped_rollout *r, struct line *l);
/* Writes an object of our format: the members of the table in its order, then all others. */
void strip_parts(enum key k, struct str object, struct buf *out);

/* Writes a line of a rollout without masks. False, with nothing written, if an id may occur. */
bool strip_straight(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                    struct buf *out);

#endif
