/* Which findings of a rollout explain others, by struct check.explains. */
#ifndef ROLLDBG_CHECK_CAUSES_H
#define ROLLDBG_CHECK_CAUSES_H

#include "check/check.h"

/* Sets cause, urgency and depth of each finding. */
void causes_find(struct finding *list, size_t count);

/* The first cause in the chain above f, a member of the list; f itself if nothing explains it. */
const struct finding *causes_root(const struct finding *list, size_t count,
                                  const struct finding *f);

#endif
