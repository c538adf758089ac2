/* Names that are known, to tell the nearest when another one is asked for. */
#ifndef ROLLDBG_BASE_NAMES_H
#define ROLLDBG_BASE_NAMES_H

#include "base/error.h"
#include "base/mem.h"

#define NAMES_MAX 128 /* more are not compared */

struct names {
	struct arena arena;
	const char *text[NAMES_MAX];
	size_t count;
};

void names_add(struct names *n, struct str name); /* copies */
void names_release(struct names *n);

/* FAIL_USAGE "WHAT 'NAME'", with the nearest that is known. */
int names_missing(const struct names *known, const char *what, struct str name,
                  struct error *err);

#endif
