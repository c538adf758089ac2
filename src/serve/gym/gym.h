/* The directory serve/gym/: the MCP-Gym protocol, server side: MCP messages, control plane,
   sessions. HTTP is in host/, the environments are in world/. */

/* State of an MCP-Gym server: its environments, the transports (MCP sessions) that use them, and
   the limit on environments. Used by the server's one thread only, `steps` excepted.

   Two ids travel under one header name. A transport is created by initialize, which also chooses
   its id. An environment has the id its client chose (`_extra.session_id`), or its transport's id
   if the client chose none. Transports that chose the same id share an environment.

   The limit is checked at initialize: it reserves a slot for the environment it names or is
   refused at once. Closing the last transport frees the slot. (The faults `capacity` and
   `fallback-session` break exactly this.) An environment that was only used through the control
   plane has no transport whose end could free it: it is removed when a slot is needed. */
#pragma once

#include "base/map.h"
#include "protocol/jsonrpc.h"
#include "serve/serve.h"
#include "serve/world/world.h"

#include <stdatomic.h>

struct playback_session;

#define TRANSPORT_ID   32
#define ENV_ID_MAX     1024
#define TRANSPORTS_MAX 65536

struct gym_env {
	struct map_item item;
	struct str id;
	uint64_t serial; /* order of creation; used as the seed if none was given */
	unsigned transports;
	bool refused;                    /* beyond the limit: readable, but never changes */
	bool counted;                    /* uses one of max_envs slots */
	void *instance;                  /* the world's state; NULL until first used */
	struct playback_session *played; /* instead of a world when playing a recording */
	/* The control plane. */
	uint64_t step_count;
	int64_t total_reward;
	int reward;
	bool terminated;
};

struct transport {
	struct map_item item;
	struct str key; /* key in `transports`: see gym_transport */
	char id[TRANSPORT_ID + 1];
	/* id sent in replies; differs from id under session-churn */
	char reply_id[TRANSPORT_ID + 1];
	struct gym_env *env;
	uint64_t calls;
};

struct gym {
	struct serve_conf conf;
	struct map envs, transports;
	uint64_t serial;
	uint64_t slots_used; /* slots in use, of conf.max_envs */
	unsigned traits;     /* of enum fault_trait */
	uint64_t made_up_ids;
	/* environment of calls without a session (fault fallback-session) */
	struct gym_env unowned;
	_Atomic uint64_t steps; /* executed, in all sessions */
};

void gym_init(struct gym *g, const struct serve_conf *c);
void gym_release(struct gym *g);

/* The environment with that id; NULL: none, or the id is absent. */
struct gym_env *gym_env(const struct gym *g, struct str id);
/* The same, but created if necessary. NULL: no slot is free, or the id is longer than
   ENV_ID_MAX. */
struct gym_env *gym_env_open(struct gym *g, struct str id);
/* Starts an episode. seed NULL: the environment's own seed. */
void gym_env_reset(struct gym *g, struct gym_env *e, const uint64_t *seed);

struct transport *gym_transport(const struct gym *g, struct str id);
/* Opens a transport. env_id absent: the environment gets the transport's id. NULL: no slot is
   free. */
struct transport *gym_transport_open(struct gym *g, struct str env_id);
/* Another initialize, as from the SDK: later calls go to that environment. False: no slot is free. */
bool gym_transport_point(struct gym *g, struct transport *t, struct str env_id);
/* Changes the id sent in replies; the first one stays valid. */
void gym_transport_rename(struct transport *t);
void gym_transport_close(struct gym *g, struct transport *t);

/* 32 hex digits, the form of transport ids; also for the invalid ids sent with refusals. */
void gym_new_id(char id[TRANSPORT_ID + 1]);

/* ---- one HTTP request and its response, independent of the HTTP library: the interface between
   host/server.c and the protocols ---- */

/* Borrowed; valid while the request is handled. Missing headers are absent. */
struct request {
	struct str method, path, body;
	struct str session, accept, content_type, protocol_version;
	struct str origin, host; /* already checked */
	struct str upgrade;      /* requested protocol; absent: no upgrade */
	struct str ws_key, ws_version;
	bool waited; /* repeated after the delay a previous reply requested */
};

enum reply_action {
	REPLY_SEND,
	REPLY_WAIT,    /* nothing was executed yet: repeat the request after wait_ms */
	REPLY_CLOSE,   /* close the connection without a reply */
	REPLY_UPGRADE, /* switch to WebSocket */
};

struct reply {
	enum reply_action action;
	unsigned status;
	const char *type;               /* content type; NULL: no body */
	const char *allow;              /* methods allowed, of a 405 */
	bool stream;                    /* an SSE stream, chunked */
	char session[TRANSPORT_ID + 1]; /* mcp-session-id; "": none */
	bool ended;                     /* the session was closed: resume its waiting requests */
	uint64_t wait_ms;
	struct buf body;
};

void reply_text(struct reply *r, unsigned status, const char *text);
void reply_json(struct reply *r, unsigned status, const char *json);
/* A JSON-RPC error that belongs to no request: its id is the string "server-error". */
void reply_refusal(struct reply *r, unsigned status, int code, const char *message);

/* ---- one MCP message being answered ---- */

struct exchange {
	struct gym *gym;
	const struct request *request;
	struct reply *reply;
	struct jsonrpc_message message;
	struct transport *transport; /* NULL: none yet */
};

void mcp_answer(struct gym *g, const struct request *q, struct reply *r);
void mcp_answer_result(struct exchange *x, struct str result);
/* Turns the message in r->body into an SSE stream of one event. */
void mcp_make_stream(struct reply *r);

/* Playing a recording (playback.c). Assigns a rollout to the session, unless its environment has
   one already: a client that lost its session reopens it under the same name. False: refused, by
   us or as recorded. */
bool gym_play_begin(struct exchange *x);
/* Answers tools/call: with the recorded reply; with the state, if the recording's states were read
   with that tool; or with a tool error that shows the nearest recorded call. name: a raw string. */
void gym_play_call(struct exchange *x, struct str name, struct str arguments);
/* Any URI is accepted: recordings do not keep the URI that states were read from. False: the
   states were read elsewhere. */
bool gym_play_resource(struct exchange *x, struct str uri);
struct recorded_call;
/* Appends a recorded reply as the result of tools/call. */
void gym_write_recorded(const struct playback_session *s, const struct recorded_call *c,
                        struct buf *out);

void control_answer(struct gym *g, const struct request *q, struct reply *r);
/* Handles a request: faults first, then by path. r->body must be empty with its cap set. */
void exchange_answer(struct gym *g, const struct request *q, struct reply *r);

/* ---- one tool call; faults may change it before and after the world executes it ---- */

struct call {
	struct transport *transport;
	struct gym_env *env;          /* the environment the call runs in */
	struct world_call world_call; /* request and result */
	bool done;                    /* the result is final: no step is executed */
	bool close;                   /* close the connection instead of replying */
};

/* The offered tools, a raw JSON array; empty under the fault `no-tools`. */
struct str call_tools(const struct gym *g);
/* tool, arguments: see struct world_call. Fills *c; free with call_release. */
void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c);
void call_release(struct call *c);
