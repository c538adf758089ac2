/* What is answered when a server asks the user something (MCP elicitation): there is no
   user, so the defaults of its form are taken (SEP-1034), where it has one for every
   field that must be filled in. Pure: JSON in, JSON out. */
#ifndef ROLLDBG_ENV_ELICIT_H
#define ROLLDBG_ENV_ELICIT_H

#include "base/buf.h"

/* The capability under which the above holds. */
#define ELICIT_CAPABILITY "\"elicitation\":{}"

/* Appends the result of `elicitation/create`: {"action":"accept","content":{..}}, or
   {"action":"decline"} with a sentence in `why`. params: the request's, valid JSON. True
   when it accepts. A default that does not fit its own field counts as none. */
bool elicit_answer(struct str params, struct buf *result, struct buf *why);

#endif
