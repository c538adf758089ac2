/* What does not count as a change of state: --ignore, or what is known to be bookkeeping.
 */
#ifndef ROLLDBG_ENV_IGNORED_H
#define ROLLDBG_ENV_IGNORED_H

#include "base/options.h"
#include "json/canon.h"
#include "json/scan.h"

struct ignored {
	struct json_paths *paths;
	struct buf json;   /* the same as a JSON array, for the header; give it a cap */
	const char *aside; /* one more pointer that is left out by default; NULL: none */
};

/* The pointers given, or else those of bookkeeping, and of drawings of a fact, that the
   first state holds. While no state is known bookkeeping is left out, and drawings count:
   one of them may be all the state there is. FAIL_USAGE. */
MUST_USE int ignored_settle(struct ignored *e, const struct opt_list *given,
                            struct str state, struct error *err);
void ignored_release(struct ignored *e);

#endif
