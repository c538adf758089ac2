/* Which finding of a rollout explains which, as the rules say (struct check.explains). */
#ifndef ROLLDBG_CHECK_CAUSES_H
#define ROLLDBG_CHECK_CAUSES_H

#include "check/check.h"

/* Fills in cause, urgency and depth of each. */
void causes_find(struct finding *list, size_t count);

/* The cause at the top of what led to f, a member of the list: f itself where nothing
   explains it. */
const struct finding *causes_root(const struct finding *list, size_t count,
                                  const struct finding *f);

#endif
