/* Conditions on one step: `state./position == 5`, `error.class == capacity && tool ~ lake_*`,
   `changed ./inventory`. Parsed once; evaluation does not allocate, unless a pointer goes through
   JSON inside a string.

   expression  := A if B, A || B, A && B, !A, (A), test; from lowest to highest precedence
   test        := path | path OPERATOR value | path value (means ==) | changed [pointer] | NUMBER
                  (means step == NUMBER)
   OPERATOR    := == != < <= > >= ~   (~: a pattern in which * matches anything)
   path        := NAME, NAME./pointer or NAME.member.member; NAME: see facts.def
   value       := a number, "text", true, false, null, a word, or a path with a dot or slash in it

   An unknown value equals null; every other comparison with it is false. Numbers are compared by
   value. A path alone is true unless it is null, false, 0 or "". */
#pragma once

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

/* The facts an expression is evaluated on. */
struct known {
	const struct moment *moment;
	/* True if a finding of that rule begins at this moment. NULL: never. */
	bool (*begins)(void *ctx, struct str rule, const struct moment *m);
	void *ctx;
};

/* A fact, or a value inside a fact. */
struct path {
	enum named_fact fact;
	struct str pointer; /* "": the whole fact */
};

/* Parses a path, as in print and watch; a pointer alone ("./x" or "/x") refers to the state. Slices
   point into `text` or `arena`. FAIL_USAGE, with the nearest name, and the column in *at. */
MUST_USE int path_parse(struct str text, struct arena *arena, struct path *out, size_t *at,
                        struct error *err);
/* The path's value as raw JSON, possibly in `scratch`; absent: unknown, or no such member. */
struct str path_value(const struct path *p, const struct known *k, struct buf *scratch);
/* The whole fact. */
struct str fact_value(enum named_fact fact, const struct known *k);

struct expression;

/* FAIL_USAGE, with the column in the text, from 0, in *at. */
MUST_USE int expression_parse(struct str text, struct expression **out, size_t *at,
                              struct error *err);
void expression_free(struct expression *e); /* NULL is fine */
struct str expression_text(const struct expression *e);
bool expression_holds(struct expression *e, const struct known *k);

/* True if it only uses facts that are known before the call is sent. */
bool expression_is_before(const struct expression *e);
/* True if it needs findings. */
bool expression_asks_rules(const struct expression *e);
/* Calls back for each path with a pointer. */
void expression_each_path(const struct expression *e, void (*take)(void *ctx, const struct path *p),
                          void *ctx);

/* Sets FAIL_USAGE: "state has no member /posit here; did you mean '/position'?". Returns -1. */
int nearest_pointer(const struct path *p, const struct known *k, struct error *err);
