/* A clock that counts whole or tenths of seconds since some start: it rarely changes between two
   readings in quick succession, and a change at the time of a call may come from the clock or from the
   call. */
#ifndef ROLLDBG_FACTS_COARSE_CLOCK_H
#define ROLLDBG_FACTS_COARSE_CLOCK_H

#include "base/mem.h"

/* Compares a state with the one of elapsed_ms ago. Returns the resolution in ms of the coarsest
   number that grew as such a clock would have, including one within a text; 0 if there is none, or
   if the time is too short for a clock of that resolution. `ignored`: a raw JSON array of pointers. */
int64_t coarse_clock_find(struct arena *arena, struct str before, struct str after,
                          struct str ignored, int64_t elapsed_ms);

#endif
