/* Where the state comes from: --state, parsed and read. The source is asked on the
   session that acts, and must be free of side effects: whoever names a tool or a resource
   promises that. */
#ifndef ROLLDBG_ENV_STATE_SOURCE_H
#define ROLLDBG_ENV_STATE_SOURCE_H

#include "env/control_plane.h"
#include "env/mcp_reply.h"

enum state_kind {
	STATE_AUTO,
	STATE_CONTROL_PLANE,
	STATE_OPENENV,
	STATE_RESOURCE,
	STATE_TOOL,
	STATE_OBSERVATION,
	STATE_NONE,
};

struct state_source {
	enum state_kind kind;
	struct str target;    /* URI, tool name or pointer; borrowed from --state */
	struct str arguments; /* raw JSON of a tool's arguments */
	struct buf value, scratch;
	struct buf why; /* what came instead of a state, after a read */
};

const char *state_kind_name(enum state_kind k);

/* "auto", "control-plane", "resource:URI", "tool:NAME[:JSON]", "observation[:POINTER]",
   "none". FAIL_USAGE with the nearest name. */
MUST_USE int state_source_parse(struct str spec, struct state_source *out,
                                struct error *err);
void state_source_release(struct state_source *s);

/* The state now, absent when it could not be read (s->why says what came instead). `last`
   is the last observation, for STATE_OBSERVATION: absent after a failed step. */
MUST_USE int state_source_read(struct state_source *s, struct mcp_session *session,
                               struct control_plane *control, struct mcp_reading *reading,
                               struct str last, struct str *out, struct error *err);

#endif
