/* What does not count as a change of state: --ignore, or what is known to be bookkeeping.
 */
#ifndef ROLLDBG_ENV_IGNORED_H
#define ROLLDBG_ENV_IGNORED_H

#include "base/options.h"
#include "json/canon.h"
#include "json/scan.h"

struct ignored {
	struct json_paths *paths;
	struct buf json; /* the same as a JSON array, for the header; give it a cap */
	bool open;       /* by default, and no state was there to decide by */
};

/* The pointers given, or else those of bookkeeping that the first state holds. Without a
   first state all that may be bookkeeping is left out: the header is written before one
   is read, and what hits nothing does no harm. FAIL_USAGE. */
MUST_USE int ignored_settle(struct ignored *e, const struct opt_list *given,
                            struct str state, struct error *err);
/* For the first state that could be read, when `open`: a drawing in it that has no fact
   beside it is the state itself, and counts from here on (no state was hashed before).
   True: so it is, and json is no longer what the header said. */
bool ignored_settle_late(struct ignored *e, struct str state);
void ignored_release(struct ignored *e);

#endif
