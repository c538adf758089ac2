/* The worlds of the built-in server: a world has tools and a state, and is independent of
   sessions, sockets and protocols. Each is a file and a row of worlds.def. */
#ifndef ROLLDBG_SERVE_WORLD_WORLD_H
#define ROLLDBG_SERVE_WORLD_WORLD_H

#include "base/buf.h"
#include "serve/world/lake.h"

/* What the worlds can be set to. */
struct world_conf {
	enum lake_map map; /* of frozen_lake, like slippery */
	bool slippery;
};

/* One tool call in a world. The caller sets what is asked and empty buffers with their
   caps; the world answers. */
struct act {
	struct str tool, arguments; /* raw JSON: a string; an object, null or absent */
	struct buf text;            /* what the tool says, in errors too */
	struct buf structured;      /* the same as raw JSON; empty: text is all there is */
	bool is_error;              /* refused: nothing happened, and no step is counted */
	int reward;                 /* of this call */
	bool terminated;            /* the episode is over, by this call or before it */
};

struct world {
	const char *name, *help;
	const char *server; /* how its MCP server calls itself */
	struct str tools;   /* raw JSON array, as tools/list has it */
	size_t size;        /* of one episode's memory, which comes zeroed */
	/* The same conf and seed: the same episode. It begins at now_ms, Unix time. */
	void (*init)(void *place, const struct world_conf *conf, uint64_t seed, uint64_t now_ms);
	/* What tools refuse, an unknown name too, is worded as FastMCP words it. */
	void (*call)(void *place, struct act *a);
	/* Appends the state as a JSON object: what the control plane shows, and what an
	   episode begins with. */
	void (*state)(const void *place, struct buf *out);
	/* Appends metadata of the last step, as a JSON object. */
	void (*info)(const void *place, struct buf *out);
	void (*release)(void *place); /* what init and call made; NULL: nothing */
};

extern const struct world *const worlds[];
extern const size_t worlds_count;

#define WORLD(ident) extern const struct world world_##ident;
#include "serve/world/worlds.def"
#undef WORLD

/* ---- what every world's tools answer alike ---- */

void act_unknown_tool(struct act *a);
/* "Error executing tool NAME: ", an error from now on: the reason is appended to a->text.
 */
void act_fail(struct act *a);

struct parameter {
	const char *name;
	bool text;     /* a string; else any value */
	bool optional; /* may be absent or null */
};
/* The raw values of those arguments, absent where there is none. False: one is missing or
   of another type, and the act failed. */
bool act_arguments(struct act *a, const struct parameter *list, size_t count, struct str *values);

#endif
