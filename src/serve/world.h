/* What the built-in server serves: a world has tools and a state, and knows neither
   sessions nor sockets nor protocols. One is a file that defines it and a row of
   worlds.def. */
#ifndef ROLLDBG_SERVE_WORLD_H
#define ROLLDBG_SERVE_WORLD_H

#include "base/buf.h"

struct serve_conf;

/* One tool call in a world. The caller sets what is asked and empty buffers with their
   caps; the world answers. */
struct act {
	struct str tool, arguments; /* raw JSON: a string; an object, null or absent */
	struct buf text;            /* what the tool says, in errors too */
	struct buf structured; /* the same as raw JSON; empty: text is all there is */
	bool is_error;         /* refused: nothing happened, and it is no step */
	int reward;            /* of this call */
	bool terminated;       /* the episode is over, by this call or before it */
};

struct world {
	const char *name, *help;
	const char *server; /* how its MCP server calls itself */
	struct str tools;   /* raw JSON array, as tools/list has it */
	size_t size;        /* of one episode's memory, which comes zeroed */
	/* The same conf and seed: the same episode. */
	void (*init)(void *place, const struct serve_conf *conf, uint64_t seed);
	/* What tools refuse, an unknown name too, is worded as FastMCP words it. */
	void (*call)(void *place, struct act *a);
	/* Appends the state as a JSON object: what the control plane shows, and what an
	   episode begins with. */
	void (*state)(const void *place, struct buf *out);
	/* Appends what there is to tell about the last step, as a JSON object. */
	void (*info)(const void *place, struct buf *out);
	void (*release)(void *place); /* what init and call made; NULL: nothing */
};

extern const struct world *const worlds[];
extern const size_t worlds_count;

#define WORLD(ident) extern const struct world world_##ident;
#include "serve/worlds.def"
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
bool act_arguments(struct act *a, const struct parameter *list, size_t count,
                   struct str *values);

#endif
