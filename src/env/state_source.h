/* State sources: a specification, parsed; and what every adapter can read, the observation. The other
   sources are read by the adapters (env/mcp/state.h), in the session that acts, and must be free
   of side effects, which the user guarantees by naming them. */
#ifndef ROLLDBG_ENV_STATE_SOURCE_H
#define ROLLDBG_ENV_STATE_SOURCE_H

#include "base/buf.h"
#include "base/error.h"
#include "trajectory/words.h"

/* Before the adapter has found out what there is. */
#define STATE_AUTO STATE_UNKNOWN

struct state_source {
	enum state_kind kind;
	struct str target;    /* URI, tool name or pointer; borrowed from the specification */
	struct str arguments; /* raw JSON of a tool's arguments */
	struct buf value, scratch;
	struct buf why; /* the response instead of a state, after a read */
};

/* "auto", "control-plane", "resource:URI", "tool:NAME[:JSON]", "observation[:POINTER]",
   "none". FAIL_USAGE with the nearest name. */
MUST_USE int state_source_parse(struct str spec, struct state_source *out, struct error *err);
void state_source_release(struct state_source *s);

/* STATE_OBSERVATION: the target in the last observation (absent after a failed step); absent where
   it is not there. Valid until the next read. */
struct str state_source_observed(struct state_source *s, struct str last);

#endif
