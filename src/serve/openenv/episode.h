/* One episode of a world as an OpenEnv environment: its action, observation, state and schemas.
   Independent of sessions and messages. */
#pragma once

#include "serve/serve.h"
#include "serve/world/world.h"

/* Zeroed: no episode yet; call episode_begin first. */
struct openenv_episode {
	const struct world *world;
	void *instance; /* the world's state */
	struct buf id;  /* raw JSON; empty: null */
	uint64_t step_count;
	int reward;
	bool terminated;
};

/* Starts an episode in a new environment that was not reset yet. id: a JSON string, null or
   absent. */
void episode_begin(struct openenv_episode *e, const struct serve_conf *c, uint64_t seed,
                   struct str id);
/* Executes one step: the action is the arguments of the world's only tool, or names the tool.
   Appends the observation. False: refused, *why has the reason, and no step is counted. */
bool episode_act(struct openenv_episode *e, struct str action, bool metadata, struct buf *out,
                 struct buf *why);
void episode_release(struct openenv_episode *e); /* zeroed is fine */

/* True if the world has several tools: then steps call tools, and MCP can call them too. */
bool episode_has_tools(const struct world *w);
/* Does the action ask for the list of tools? */
bool episode_lists_tools(struct str action);

/* Appends {"observation":..,"reward":..,"done":..}. stepped: after a step, not after a reset.
   metadata: in the observation, and next to it if not empty; core 0.3 and older have none. */
void episode_observe(const struct openenv_episode *e, bool stepped, bool metadata, struct buf *out);
void episode_state(const struct openenv_episode *e, struct buf *out);

/* Appends the schema of an action, which asks for the list of tools or acts. */
void episode_action_schema(const struct world *w, struct str action, struct buf *out);
/* Appends the response body of /schema. */
void episode_schema(const struct world *w, struct buf *out);
/* The same for the given action schema; absent: actions are tool calls. */
void episode_schema_of(struct str action, struct buf *out);
