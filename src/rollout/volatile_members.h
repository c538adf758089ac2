/* The members of the state that change without a call: found by reading it twice before the
   first call of the first rollout, while no other rollout acts, and shared by all rollouts
   of a run. Safe to use from many threads. */
#ifndef ROLLDBG_ROLLOUT_VOLATILE_MEMBERS_H
#define ROLLDBG_ROLLOUT_VOLATILE_MEMBERS_H

#include "base/error.h"
#include "base/mem.h"
#include "json/canon.h"
#include "net/io.h"

struct volatile_members;

struct volatile_members *volatile_members_new(void);
void volatile_members_free(struct volatile_members *v); /* NULL is fine */

/* Before a rollout's reset: waits while another one reads. *ours: this one reads, and
   volatile_members_take() or volatile_members_skip() must follow. */
MUST_USE int volatile_members_wait(struct volatile_members *v, struct io *io, bool *ours,
                                   struct error *err);
/* Two readings with no call in between. `ignored`: raw JSON array of pointers that are
   ignored anyway. What differs is logged, once. */
void volatile_members_take(struct volatile_members *v, struct str first, struct str second,
                           struct str ignored);
/* It could not read. A server that answered is asked by the next rollout; one that did not is
   not waited for again: nobody reads, and all go on at once. */
void volatile_members_skip(struct volatile_members *v, bool answered);

/* The pointers of `ignored` and those of the members, as a JSON array appended to json and
   as paths, which the caller frees. -1: a pointer that is none (FAIL_INPUT). */
MUST_USE int volatile_members_add(struct volatile_members *v, struct str ignored, struct buf *json,
                                  struct json_paths **paths, struct error *err);

#endif
