/* Is a state about what calls act on? Then it shows their effects. */
#ifndef ROLLDBG_FACTS_STATE_SUBJECT_H
#define ROLLDBG_FACTS_STATE_SUBJECT_H

#include "facts/member_changes.h"

/* True if the state consists of digests, apart from ignored members, or has a member named by an
   argument of the newest call. */
bool state_subject_is_calls(const struct member_changes *states, struct str state,
                            struct str arguments);

#endif
