/* MCP-Gym's control plane, next to the tools: reward, termination, the environment's own step
   count and the current observation. Four generations of servers are in use; they differ in
   where it is and which id identifies an environment:
   - HTTP with reset_session: GET /control/NAME, with the id sent in clientInfo._extra.session_id
   - HTTP without reset_session: the same, with a hash that the server derives from the
   initialize request
   - MCP resources game://initial_state and control://NAME, one environment for all clients
   - none: plain MCP */
#pragma once

#include "env/http_json.h"
#include "env/mcp/mcp_session.h"

#define CONTROL_RESET "/control/reset_session"

enum control_kind { CONTROL_NONE, CONTROL_HTTP, CONTROL_HTTP_HASHED, CONTROL_RESOURCES };

enum control_fact { CONTROL_STATE, CONTROL_REWARD, CONTROL_STATUS };

struct control_plane {
	enum control_kind kind;
	struct http_json http;       /* of the server that /mcp is on; its session is the id */
	struct mcp_session *session; /* for resources; borrowed */
	int unanswered;              /* consecutive requests without a reply in time */
	struct buf id, path, body, why;
	struct buf undetected_why; /* why the detection got no reply */
};

/* Borrows everything. `id` is the environment session sent in clientInfo._extra. */
void control_init(struct control_plane *c, struct io *io, struct mcp_session *session,
                  struct event_queue *events, const struct env_conf *conf);
void control_release(struct control_plane *c);

/* Detects the generation without a step and without creating an environment. If no reply comes,
   `undetected_why` is the reason: that differs from having no control plane. */
MUST_USE int control_detect(struct control_plane *c, struct error *err);

/* Uses the id that a hashing server derives from the initialize request; config: raw JSON
   object, absent: {}. */
void control_use_hash(struct control_plane *c, struct str config, const char *name,
                      const char *version, bool has_seed, int64_t seed);

/* Is this the path or the URI of a fact? */
bool control_names(struct str place, enum control_fact *fact);
/* Does the reply to a request for a fact hold it: a validated JSON object? Otherwise the reason is in
   why. */
bool control_reply_holds(enum control_fact fact, int status, struct str body, struct buf *why);
/* Why reset_session was refused; with status 0 why has it already. */
void control_explain_reset(int status, struct str body, struct buf *why);

/* Reads one fact: a validated JSON object, valid until the next read; absent on failure, with
   the reason in c->why. -1 only when interrupted, or for a local failure. */
MUST_USE int control_read(struct control_plane *c, enum control_fact fact, struct str *out,
                          struct error *err);

/* POST /control/reset_session {"seed":N}. *status other than 200: the server refused; 0: no
   reply; with c->why. */
MUST_USE int control_reset(struct control_plane *c, int64_t seed, int *status, struct error *err);
