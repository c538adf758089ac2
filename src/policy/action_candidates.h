/* Words in a server's own texts that may be valid actions: from the description of a tool whose
   argument accepts any string, or from the error returned for an invalid value. */
#ifndef ROLLDBG_POLICY_ACTION_CANDIDATES_H
#define ROLLDBG_POLICY_ACTION_CANDIDATES_H

#include "base/mem.h"

#define ACTION_CANDIDATES_MAX 12

struct action_candidates {
	struct str item[ACTION_CANDIDATES_MAX]; /* in arena */
	size_t count;
	struct arena arena;
};

/* Adds each quoted word and each word in capitals (at least two letters) once, up to
   ACTION_CANDIDATES_MAX. */
void action_candidates_add(struct action_candidates *w, struct str text);
void action_candidates_add_word(struct action_candidates *w, struct str word);
void action_candidates_release(struct action_candidates *w);

#endif
