/* The unit that a terminal draws in one place: a grapheme cluster (UAX #29), such as a letter
   with its accents, a flag, or several emoji joined into one. Private to src/base/. */
#ifndef ROLLDBG_BASE_CLUSTER_H
#define ROLLDBG_BASE_CLUSTER_H

#include "base/base.h"

struct cluster {
	size_t bytes;
	size_t cells; /* terminal columns */
	/* Must be escaped before it reaches a terminal: a control, invisible or bidirectional
	   character, or a byte that is not UTF-8. `cells` is then the width of the escape. */
	bool unsafe;
	uint32_t code;   /* the first code point, or the invalid byte */
	char escape[12]; /* replacement text if unsafe: \n, \x1b, \u{202e} */
};

/* The first cluster of s, which must not be empty. */
struct cluster cluster_first(struct str s);

/* A character of so many bytes that is to be escaped. */
struct cluster cluster_escaped(uint32_t code, size_t bytes);

/* C0, DEL and C1 controls; bidirectional marks; invisible characters; line separators. */
bool cluster_is_unsafe(uint32_t code);

#endif
