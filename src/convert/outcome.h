/* Interprets a recorded reply: its text as a value, and whether it reports a failure. Based on
   structure, as for live replies (env/hidden_error.h), never on substrings. */
#ifndef ROLLDBG_CONVERT_OUTCOME_H
#define ROLLDBG_CONVERT_OUTCOME_H

#include "convert/import.h"

/* Facts about the call that the source records outside the answer's text. */
struct outcome_hint {
	int8_t failed; /* 1, 0, or -1: not recorded */
	/* raw JSON: a message, or an object with type, code, message; or absent */
	struct str error;
};

/* The observation in a message's content (raw JSON). Text that is JSON, or a Python dict or list,
   becomes that value; so does a list with a single text part. In the arena or in the content. */
struct str outcome_observation(struct import *m, struct str content);

/* Sets outcome, class, layer, code and message from the hint and from reply->observation, which
   must be set. `last` is the observation of the last successful step; may be absent. */
void outcome_set(struct import *m, struct outcome_hint hint, struct str last,
                 struct import_reply *reply);

#endif
