/* State sources: the parsed option, and reading from the observation, which all adapters
   support. The other sources are read by the adapters (env/mcp/state.c), in the session that
   acts, and must be free of side effects, which the user guarantees by selecting them. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "recording/words.h"

/* Until the adapter has chosen a source. */
#define STATE_AUTO STATE_UNKNOWN

struct state_source {
	enum state_kind kind;
	struct str target;    /* URI, tool name or pointer; borrowed from the specification */
	struct str arguments; /* raw JSON of a tool's arguments */
	struct buf value, scratch;
	struct buf why; /* why the last read returned no state */
};

/* "auto", "control-plane", "resource:URI", "tool:NAME[:JSON]", "observation[:POINTER]",
   "none". FAIL_USAGE with the nearest name. */
MUST_USE int state_source_parse(struct str spec, struct state_source *out, struct error *err);
/* Appends the specification of a recording's `state_source`; nothing if it chose none that can be asked for
   (auto, import). */
void state_source_spell(struct str recorded, struct buf *out);
void state_source_release(struct state_source *s);

/* For STATE_OBSERVATION: the target in the last observation; absent after a failed step, or if
   not found. Valid until the next read. */
struct str state_source_observed(struct state_source *s, struct str last);
