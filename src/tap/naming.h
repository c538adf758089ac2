/* Names of rollouts, tasks and groups, from what a wire offers. */
#pragma once

#include "base/buf.h"
#include "base/map.h"

#define NAMING_MAX 127 /* bytes of a name from the wire */

struct naming {
	struct map ids;    /* that were used */
	struct map groups; /* by their data */
};

void naming_release(struct naming *n);

/* Appends the name without white space and control characters, cut to NAMING_MAX bytes. */
void naming_clean(struct str name, struct buf *out);
/* Is it a UUID or the like, another one in each run? */
bool naming_is_random(struct str name);
/* Appends "-" and a few digits that stand for the data with this hash. */
void naming_put_digest(uint64_t hash, struct buf *out);
/* Makes an id unique: one that was used before gets ".2", ".3" .. */
void naming_claim(struct naming *n, struct buf *id);

/* The samples of one task. */
struct naming_group {
	struct map_item item; /* must be first */
	uint64_t bursts;      /* resets with this data so far, bursts of them */
	int64_t members;      /* of the present burst */
	uint64_t last_ns;
	bool open; /* the burst: none of its members has gone on to its next episode */
};

/* Joins the group of resets with this data, or begins a new burst of it. */
struct naming_group *naming_join(struct naming *n, struct str data, uint64_t now_ns);
