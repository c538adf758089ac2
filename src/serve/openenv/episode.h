/* One episode of a world as an OpenEnv environment shows it: its action, observation,
   state and schemas. No sessions, no messages. */
#ifndef ROLLDBG_SERVE_OPENENV_EPISODE_H
#define ROLLDBG_SERVE_OPENENV_EPISODE_H

#include "serve/serve.h"
#include "serve/world/world.h"

/* Zeroed is none yet: begin one first. */
struct openenv_episode {
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

/* Replaces the episode by that of a new environment before its first reset. id: a JSON string,
   null or absent. */
void episode_begin(struct openenv_episode *e, const struct serve_conf *c, uint64_t seed,
                   struct str id);
/* One step: calls the world's only tool with the action, or the tool that it names. Appends the
   observation. False: the world refused, *why says why, and no step is counted. */
bool episode_act(struct openenv_episode *e, struct str action, enum metadata_place metadata,
                 struct buf *out, struct buf *why);
void episode_release(struct openenv_episode *e); /* zeroed is fine */

/* A world of several tools is an environment of tools: a step calls one of them, and so
   may MCP. */
bool episode_has_tools(const struct world *w);
/* Appends the tool's result; false: appends why not to *why, raw text. No step is
   counted. */
bool episode_call(struct openenv_episode *e, struct str tool, struct str arguments,
                  struct buf *result, struct buf *why);
/* A step in such a world, whether it calls a tool or asks which there are. */
void episode_tool_step(struct openenv_episode *e, struct str action, struct buf *out);
/* Does it only ask? */
bool episode_lists_tools(struct str action);

/* Appends {"observation":..,"reward":..,"done":..}; stepped: what a step shows, not a
   reset. */
void episode_observe(const struct openenv_episode *e, bool stepped, enum metadata_place metadata,
                     struct buf *out);
void episode_state(const struct openenv_episode *e, struct buf *out);

/* Appends the body of /schema. */
void episode_schema(const struct world *w, struct buf *out);
/* The same of an environment whose action has that schema; absent: it calls tools. */
void episode_schema_of(struct str action, struct buf *out);

#endif
