/* The members of the state that change without a call: found by reading it twice before the first
   call of the first rollout, while no other rollout acts, and shared by all rollouts of a run. If a
   member changed, it is read again: once; up to three times if it is a word of a text, as other words
   may have been equal by chance. Thread-safe. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/canon.h"
#include "net/io.h"

struct volatile_members;

struct volatile_members *volatile_members_new(void);
void volatile_members_free(struct volatile_members *v); /* NULL is fine */

/* Call before a rollout's reset: waits while another rollout reads. *ours: this rollout reads,
   and must call volatile_members_finish() or volatile_members_skip(). */
MUST_USE int volatile_members_wait(struct volatile_members *v, struct io *io, bool *ours,
                                   struct error *err);
/* Appends the pointers of the members that are numbers, as a JSON array: what a call does to them
   cannot be told from what they do by themselves. Nothing if there are none. */
void volatile_members_put_numbers(const struct volatile_members *v, struct buf *json);
/* Two states read without a call in between. */
struct reading_pair {
	struct str first, second;
};

/* Compares two states. `ignored`: a raw JSON array of pointers that are ignored anyway. Returns how
   often the state should be read in all. */
int volatile_members_compare(struct volatile_members *v, const struct reading_pair *pair,
                             struct str ignored);
/* Logs the members that were found. */
void volatile_members_finish(struct volatile_members *v);
/* The rollout could not read the state. If the server replied, the next rollout tries; if not, no
   rollout reads, and all continue at once. */
void volatile_members_skip(struct volatile_members *v, bool answered);

/* Appends the pointers of `ignored` and of the members to json, as a JSON array, and returns
   them as paths, which the caller frees. -1: an invalid pointer (FAIL_INPUT). */
MUST_USE int volatile_members_add(struct volatile_members *v, struct str ignored, struct buf *json,
                                  struct json_paths **paths, struct error *err);
