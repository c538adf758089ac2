/* One HTTP request and its response, independent of the HTTP library: the interface between
   server.c and the protocols (mcp.c, control.c). */
#ifndef ROLLDBG_SERVE_GYM_EXCHANGE_H
#define ROLLDBG_SERVE_GYM_EXCHANGE_H

#include "serve/gym/gym.h"

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
	bool redirect;                  /* to /mcp on the same host */
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

void mcp_answer(struct gym *g, const struct request *q, struct reply *r);
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

#endif
