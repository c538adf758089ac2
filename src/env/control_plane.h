/* MCP-Gym's control plane, beside the tools: reward, termination, the environment's own
   step counter and the observation as it stands now. Four generations of servers are in
   use; they differ in where it is and in which id names an environment there.

   - HTTP with reset_session: GET /control/NAME, under our own id, the one that
     clientInfo._extra.session_id said
   - HTTP without reset_session: the same, but environments go by a hash that the server
     derives from what we said at initialize
   - MCP resources game://initial_state and control://NAME, one environment for everybody
   - none: plain MCP */
#ifndef ROLLDBG_ENV_CONTROL_PLANE_H
#define ROLLDBG_ENV_CONTROL_PLANE_H

#include "env/mcp_session.h"

enum control_kind { CONTROL_NONE, CONTROL_HTTP, CONTROL_HTTP_HASHED, CONTROL_RESOURCES };

enum control_what { CONTROL_STATE, CONTROL_REWARD, CONTROL_STATUS };

struct control_plane {
	enum control_kind kind;
	struct io *io;
	struct mcp_session *session; /* for resources; borrowed */
	struct event_queue *events;  /* borrowed */
	const char *const *user_headers;
	size_t user_header_count;
	uint64_t timeout_ms;
	int unanswered; /* requests in a row without an answer in time */
	struct buf base, query, id, id_header, url, body, why;
	struct buf silence; /* nobody answered when it was looked for: the sentence */
	const char **headers;
};

/* Borrows everything. `id` is the environment session we named in clientInfo._extra. */
void control_init(struct control_plane *c, struct io *io, struct mcp_session *session,
                  struct event_queue *events, const struct env_conf *conf);
void control_release(struct control_plane *c);

/* Which generation is it? Sends no step and creates no environment. Where nobody answers
   the question, `silence` says so: that is not the same as having no control plane. */
MUST_USE int control_detect(struct control_plane *c, struct error *err);

/* The id a hashing server derives from what we said at initialize. */
void control_use_hash(struct control_plane *c, struct hasher *h, const char *name,
                      const char *version, bool has_seed, int64_t seed);

/* Reads one fact: a validated JSON object until the next read; absent when it could not
   be had, with the sentence in c->why. -1 only when interrupted or ours. */
MUST_USE int control_read(struct control_plane *c, enum control_what what,
                          struct str *out, struct error *err);

/* POST /control/reset_session {"seed":N}. *status other than 200: the server declined, 0:
   it did not answer; with c->why. */
MUST_USE int control_reset(struct control_plane *c, int64_t seed, int *status,
                           struct error *err);

#endif
