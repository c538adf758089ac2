/* In a batch the state is read again before some of a rollout's first calls: what differs was
   changed by other rollouts, or by nobody. The first rollout to act is the control: it reads again
   after its first call, while the others wait for it, so that a state that changes by itself is
   known. What the rollouts share is in rereads.h. */
#ifndef ROLLDBG_ROLLOUT_SECOND_READ_H
#define ROLLDBG_ROLLOUT_SECOND_READ_H

#include "rollout/rollout_internal.h"

/* To be called when the state of a turn was read, when a call is about to be sent, and when it was
   answered. */
void second_read_first(struct rollout *r);
void second_read_sent(const struct rollout *r);
void second_read_answered(const struct rollout *r);

/* Before a call: waits a little for the control, if this is the first call. */
MUST_USE int second_read_await(struct rollout *r, struct error *err);

/* Before a call: perhaps reads the state again, and records it. state: as read first. */
MUST_USE int second_read(struct rollout *r, struct str state, struct error *err);

/* After the last turn: the others no longer wait for this rollout. */
void second_read_end(struct rollout *r);

#endif
