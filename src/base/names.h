/* The end of a message about an unknown name: the nearest known name, or all of them. */
#pragma once

#include "base/error.h"
#include "base/mem.h"

/* Appends "; did you mean 'X'?" or, if none is near, "; available: A, B, C" to an error that is
   already set. Returns -1. names[i] may be NULL and is then skipped. Names are escaped. */
int names_suggest(struct error *err, struct str typed, const char *const *names, size_t count);

/* A list of names that is built at run time. */
#define NAMES_MAX 128 /* further names are ignored */

struct names {
	struct arena arena;
	const char *text[NAMES_MAX];
	size_t count;
};

void names_add(struct names *n, struct str name); /* copies the name */
/* Is it in the list, or the list full? */
bool names_know(const struct names *n, struct str name);
bool names_note(struct names *n, struct str name); /* adds it unless it is known; was it added? */
void names_release(struct names *n);               /* leaves it empty */
/* A local one, released where its scope ends. */
#define AUTO_NAMES __attribute__((cleanup(names_release))) struct names
