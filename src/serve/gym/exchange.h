/* One HTTP request and its response, independent of HTTP: between the sockets (server.c) and
   the protocols (mcp.c, control.c). */
#ifndef ROLLDBG_SERVE_GYM_EXCHANGE_H
#define ROLLDBG_SERVE_GYM_EXCHANGE_H

#include "serve/gym/gym.h"

#define WAIT_FOREVER UINT64_MAX

/* Borrowed, valid while the request is answered. A header that was not sent is absent. */
struct request {
	struct str method, path, body;
	struct str session, accept, content_type, protocol_version, origin,
		host;       /* the server has judged the last two */
	struct str upgrade; /* to what; absent unless the connection shall be upgraded */
	struct str ws_key, ws_version;
	bool waited; /* it is called again after the delay that a reply requested */
};

enum reply_act {
	ACT_SEND,
	ACT_WAIT,    /* nothing was done yet: the request comes again after wait_ms */
	ACT_CLOSE,   /* the connection is closed without a byte */
	ACT_UPGRADE, /* it is a WebSocket from now on */
};

struct reply {
	enum reply_act act;
	unsigned status;
	const char *type;               /* content type; NULL: no body */
	const char *allow;              /* of a 405 */
	bool redirect;                  /* to /mcp on the same host */
	bool stream;                    /* an SSE stream, chunked */
	char session[TRANSPORT_ID + 1]; /* mcp-session-id; "": none */
	bool ended;                     /* that session: its waiting requests shall be resumed */
	uint64_t wait_ms;
	struct buf body;
};

void reply_text(struct reply *r, unsigned status, const char *text);
/* A JSON-RPC error outside any request: the id is then the string "server-error". */
void reply_refusal(struct reply *r, unsigned status, int code, const char *message);

void mcp_answer(struct gym *g, const struct request *q, struct reply *r);
void control_answer(struct gym *g, const struct request *q, struct reply *r);
/* Once, before the first request: the active faults set the gym up. */
void exchange_start(struct gym *g);
/* The whole server: faults first, then by path. r->body is empty and has its cap. */
void exchange_answer(struct gym *g, const struct request *q, struct reply *r);

#endif
