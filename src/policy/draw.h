/* Random arguments that match a tool's schema, from a seed. Where the schema leaves a value open,
   it comes from the server's texts, if those name some. */
#pragma once

#include "base/mem.h"
#include "base/rng.h"
#include "json/scan.h"

/* ---- the values that a server's texts name for its tools' parameters: in a description "one of up,
   down or left", in an error "'j8' is not in list ['a1', 'b2']" ---- */

struct named_parameter {
	struct str key;  /* as spelled in JSON; borrowed from the tool */
	struct str text; /* begins with its values; absent: none are named */
	bool from_error; /* not from the tool's description */
	struct str sent; /* used while a text is read */
	bool listed;
};

/* The parameters of one tool. Zeroed: nothing is known. */
struct named_values {
	struct arena *arena;
	struct named_parameter *item;
	size_t count;
};

/* Reads the tool's description. tool: raw JSON, as advertised. */
void named_values_begin(struct named_values *v, struct arena *arena, struct str tool);
/* Reads the error that answered a call with these arguments (raw JSON). Its lists replace earlier
   ones. A list belongs to the parameter whose name or value the text has last before it, or to
   the only one. */
void named_values_learn(struct named_values *v, struct str arguments, struct str error);

/* ---- drawing ---- */

/* Appends an object with all required arguments and each optional one with probability 1/2;
   arrays and objects in it are not empty unless the schema requires it. named: of the tool. r NULL: an
   example: the required arguments, the first values that the schema gives, TEXT where it gives none.
   Returns whether a text was made up, because neither the schema nor `named` gives one. */
bool draw_arguments(struct rng *r, struct str schema, const struct named_values *named,
                    struct buf *out);
