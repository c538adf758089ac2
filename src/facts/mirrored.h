/* States that merely repeat the last observation. */
#ifndef ROLLDBG_FACTS_MIRRORED_H
#define ROLLDBG_FACTS_MIRRORED_H

#include "facts/member_changes.h"

/* Is the state the newest observation? Or does it contain it, or a text of it, in the only member
   that ever changed? */
bool mirrored_is(const struct member_changes *states, struct str observation, struct str state);

#endif
