/* Outcomes of failed calls: by the class of the error that was replied, and of calls without a
   reply (failed locally, lost, or interrupted). No adapter classifies the latter, except that
   OpenEnv's reads the end of its WebSocket (openenv/reply.c); all code that records or reports
   such a call uses these functions. */
#ifndef ROLLDBG_ENV_FAILURE_H
#define ROLLDBG_ENV_FAILURE_H

#include "env/env.h"

/* The outcome of a class: capacity, session-lost; else `otherwise`. A message "timed out" is not
   the outcome timeout, which means that there was no reply. */
enum outcome error_class_outcome(enum error_class c, enum outcome otherwise);

/* Sets the outcome for a failed call. Borrows the error's text. */
void env_reply_from_error(const struct error *e, struct env_reply *out);

/* Was there a reply? True for a proxy or tool that replies "timed out". */
bool env_reply_received(const struct env_reply *reply);

/* Sets the outcome of a call whose step() failed. If its reply arrived, but a later control
   plane request was interrupted, the reply counts and its control facts are unknown. If the
   interrupt came first, the call was sent and its result is unknown. False: nothing to record. */
bool env_reply_of_failed_step(const struct error *err, struct env_reply *reply);

#endif
