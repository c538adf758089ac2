/* Outcomes of calls that failed here, on the way or by interruption: no reply came, so no adapter
   could classify one. Whoever records or reports such a call takes its reply from here. */
#ifndef ROLLDBG_ENV_FAILURE_H
#define ROLLDBG_ENV_FAILURE_H

#include "env/env.h"

/* The reply that represents a failed call. Borrows the error's text. */
void env_reply_from_error(const struct error *e, struct env_reply *out);

/* Did anybody reply? A proxy or a tool that says "timed out" replies all the same. */
bool env_reply_came(const struct env_reply *reply);

/* What is known of a call whose step() failed. If its reply came, but a later control plane
   request was interrupted, the reply counts and its control facts are unknown. If the interrupt
   came first, the call was sent and its result is unknown. False: nothing to record. */
bool env_reply_of_failed_step(const struct error *err, struct env_reply *reply);

#endif
