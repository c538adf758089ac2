/* The directory serve/world/: the built-in environments, without sessions and protocols, which are
   in gym/ and openenv/. */

/* The worlds of the built-in servers. A world has tools and a state; it is independent of
   sessions, sockets and protocols. Each is one file and a row of worlds.def. */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "serve/world/lake.h"

/* The settings of worlds. */
struct world_conf {
	enum lake_map map; /* of frozen_lake, like slippery */
	bool slippery;
};

/* One tool call in a world. The caller sets tool and arguments, and empty buffers with their
   caps; the world sets the rest. */
struct world_call {
	struct str tool, arguments; /* raw JSON: a string; an object, null or absent */
	struct buf text;            /* the result, or the error */
	struct buf structured;      /* the result as raw JSON; empty: text only */
	bool is_error;              /* refused: no effect, and no step is counted */
	int reward;                 /* of this call */
	bool terminated;            /* the episode is over, now or earlier */
};

struct world {
	const char *name, *help;
	const char *server;      /* name of its MCP server */
	const struct str *tools; /* raw JSON array for tools/list */
	size_t size;             /* bytes of one episode's state; zeroed before init */
	/* Starts an episode, determined by conf and seed. now_ms: Unix time. */
	void (*init)(void *instance, const struct world_conf *conf, uint64_t seed, uint64_t now_ms);
	/* Executes a call. Errors, also of an unknown tool, are worded like FastMCP's. */
	void (*call)(void *instance, struct world_call *a);
	/* Appends the state as a JSON object: shown by the control plane, and as the first
	   observation. */
	void (*state)(const void *instance, struct buf *out);
	/* Appends metadata of the last step, as a JSON object. */
	void (*info)(const void *instance, struct buf *out);
	void (*release)(void *instance); /* frees memory of init and call; NULL: nothing to free */
};

extern const struct world *const worlds[];
extern const size_t worlds_count;

#define WORLD(ident) extern const struct world world_##ident;
#include "serve/world/worlds.def"
#undef WORLD

/* Starts an episode. */
void *world_begin(const struct world *w, const struct world_conf *conf, uint64_t seed,
                  struct clock clock);
void world_end(const struct world *w, void *instance); /* NULL is fine */

/* ---- errors common to all worlds ---- */

void world_call_unknown_tool(struct world_call *a);
/* Marks an error and starts its text with "Error executing tool NAME: "; the caller appends the
   reason. */
void world_call_fail(struct world_call *a);

struct parameter {
	const char *name;
	bool text; /* a string; else any value */
};
/* Reads the raw values of the listed arguments; absent if not given. False: one is missing or of
   the wrong type, and the call failed. */
bool world_call_arguments(struct world_call *a, const struct parameter *list, size_t count,
                          struct str *values);
