/* What a recorded answer says: its text as a value, and whether it reports a failure. Decided by
   structure, as for live answers (env/hidden_error.h), never by substrings. */
#ifndef ROLLDBG_CONVERT_OUTCOME_H
#define ROLLDBG_CONVERT_OUTCOME_H

#include "convert/import.h"

/* What the source says of the call besides the answer's text. */
struct outcome_hint {
	int8_t failed; /* 1, 0, or -1: the source does not say */
	struct str
		error; /* raw JSON: a message, or an object with type, code, message; absent: none */
};

/* The observation in a message's content (raw JSON): of a text that is JSON, or a Python dict or
   list, that value; of a list with one text part the same for that text. In the arena or in the
   content. */
struct str outcome_observation(struct import *m, struct str content);

/* Sets outcome, class, layer, code and message by the hint and by reply->observation, which is
   set. `last` is the observation of the last good step; may be absent. */
void outcome_set(struct import *m, struct outcome_hint hint, struct str last,
                 struct import_reply *reply);

#endif
