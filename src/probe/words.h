/* Words that a server itself gives for what an action may be: in the description of a
   tool that takes any string, or in the error that a wrong one brings. */
#ifndef ROLLDBG_PROBE_WORDS_H
#define ROLLDBG_PROBE_WORDS_H

#include "base/mem.h"

#define WORDS_MAX 12

struct words {
	struct str item[WORDS_MAX]; /* in arena */
	size_t count;
	struct arena arena;
};

/* Adds what stands between quotes as one word, and words in capitals (two letters at
   least), each once, until there is no more room. */
void words_add(struct words *w, struct str text);
void words_release(struct words *w);

#endif
