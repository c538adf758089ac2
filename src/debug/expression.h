/* Conditions on one step: `state./position == 5`, `error.class == capacity && tool ~ lake_*`,
   `changed ./inventory`. Parsed once; evaluating one allocates nothing unless a pointer leads through
   JSON held in a string.

   expression  := A if B, A || B, A && B, !A, (A), test; in this order from loose to tight
   test        := path | path OPERATOR value | path value (means ==) | changed [pointer] | NUMBER
                  (means step == NUMBER)
   OPERATOR    := == != < <= > >= ~   (~: a pattern in which * matches anything)
   path        := NAME, NAME./pointer or NAME.member.member; NAME: see facts.def
   value       := a number, "text", true, false, null, a word, or a path with a dot or slash in it

   What is unknown equals null, and no other comparison with it holds. Numbers are compared by value. A
   path alone holds unless it is null, false, 0 or "". */
#ifndef ROLLDBG_DEBUG_EXPRESSION_H
#define ROLLDBG_DEBUG_EXPRESSION_H

#include "base/error.h"
#include "debug/moment.h"
#include "json/paths.h"

enum named_fact {
#define NAMED_FACT(id, name, before, meaning) FACT_##id,
#include "debug/facts.def"
#undef NAMED_FACT
	FACTS_NAMED
};

struct named_fact_row {
	const char *name;
	bool before;
	const char *meaning;
};
extern const struct named_fact_row named_facts[FACTS_NAMED];

/* What an expression is evaluated on. */
struct known {
	const struct moment *moment;
	const struct json_paths *ignored; /* in states; may be NULL */
	/* Does a finding of that rule begin here? NULL: no. */
	bool (*begins)(void *ctx, struct str rule, const struct moment *m);
	void *ctx;
};

/* A fact, or a value inside it. */
struct path {
	enum named_fact fact;
	struct str pointer; /* "": all of it */
};

/* Reads a path, as print and watch take it; a pointer alone ("./x" or "/x") is one into the state.
   Slices go into `text` or `arena`. FAIL_USAGE, with the nearest name, and the column in *at. */
MUST_USE int path_parse(struct str text, struct arena *arena, struct path *out, size_t *at,
                        struct error *err);
/* Its value, raw JSON; absent: unknown, or no such member. `scratch` may hold it. */
struct str path_value(const struct path *p, const struct known *k, struct buf *scratch);
/* The whole fact. */
struct str fact_value(enum named_fact fact, const struct known *k);

struct expression;

/* FAIL_USAGE: *at is the column in the text, from 0. */
MUST_USE int expression_parse(struct str text, struct expression **out, size_t *at,
                              struct error *err);
void expression_free(struct expression *e); /* NULL is fine */
struct str expression_text(const struct expression *e);
bool expression_holds(struct expression *e, const struct known *k);

/* Does it only name facts that are known before the call is sent? */
bool expression_is_before(const struct expression *e);
/* Does it need findings? */
bool expression_asks_rules(const struct expression *e);
/* Does it need the effect of the step? */
bool expression_asks_effect(const struct expression *e);
/* Calls back for each path that has a pointer. */
void expression_each_path(const struct expression *e, void (*take)(void *ctx, const struct path *p),
                          void *ctx);

#endif
