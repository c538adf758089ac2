/* Replies as a rollout needs them beyond what the environment gives: made from a failure,
   told from silence, kept beyond the next call. */
#ifndef ROLLDBG_ROLLOUT_REPLIES_H
#define ROLLDBG_ROLLOUT_REPLIES_H

#include "base/error.h"
#include "base/mem.h"
#include "env/env.h"

/* The reply that a failed call stands for. Borrows the error's text. */
void reply_blame(const struct error *e, struct env_reply *out);

/* Did anybody answer? A proxy or a tool that says "timed out" is an answer all the same.
 */
bool reply_came(const struct env_reply *reply);

/* What is known of a call although its step() failed. An answer that came is one, even
   when what is asked for afterwards was interrupted: its control facts are unknown. An
   interrupt before it: the call was sent, and nobody knows what became of it. False:
   nothing is known that could be recorded. */
bool reply_salvage(const struct error *err, struct env_reply *reply);

/* Copies what the slices point to. */
void reply_keep(struct env_reply *reply, struct arena *a);

#endif
