/* One episode of a world as an OpenEnv environment shows it: its action, observation,
   state and schemas. No sessions, no messages. */
#ifndef ROLLDBG_SERVE_EPISODE_H
#define ROLLDBG_SERVE_EPISODE_H

#include "serve/serve.h"
#include "serve/world.h"

/* Zeroed is none yet: begin one first. */
struct episode {
	const struct world *world;
	void *place;   /* the world's memory */
	struct buf id; /* raw JSON; empty: null */
	uint64_t step_count;
	int reward;
	bool terminated;
};

enum metadata_place {
	METADATA_NOWHERE, /* up to core 0.3 */
	METADATA_TWICE,   /* in the observation, and beside it when there is any */
	METADATA_ALWAYS,  /* the same, with null where there is none: plain HTTP */
};

/* As a new environment has it, which nobody has reset; what was there before is gone. id:
   a JSON string, null or absent. */
void episode_begin(struct episode *e, const struct serve_conf *c, uint64_t seed,
                   struct str id);
/* The world's only tool is called with the action. False: it refuses, *why says why and
   it is no step. */
bool episode_step(struct episode *e, struct str action, struct buf *why);
void episode_release(struct episode *e); /* zeroed is fine */

/* Appends {"observation":..,"reward":..,"done":..}; stepped: what a step shows, not a
   reset. */
void episode_observe(const struct episode *e, bool stepped, enum metadata_place metadata,
                     struct buf *out);
void episode_state(const struct episode *e, struct buf *out);

/* Appends the body of /schema. */
void episode_schema(const struct world *w, struct buf *out);

#endif
