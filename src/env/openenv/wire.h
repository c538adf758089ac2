/* Requests and replies of an OpenEnv server: over its WebSocket (one connection is one session
   with one environment), or over plain HTTP. Handles the envelopes and the codes of error frames;
   reply.h reads their content. */
#ifndef ROLLDBG_ENV_OPENENV_WIRE_H
#define ROLLDBG_ENV_OPENENV_WIRE_H

#include "env/http_json.h"
#include "net/websocket.h"
#include "recording/events.h"

enum openenv_ask { OPENENV_RESET, OPENENV_STEP, OPENENV_STATE, OPENENV_MCP };

enum openenv_got {
	OPENENV_ANSWER,      /* data: what was requested, as a frame's `data` or an HTTP body */
	OPENENV_ERROR,       /* an error frame: data is its `data` */
	OPENENV_STATUS,      /* HTTP status: code and text; also of a declined handshake */
	OPENENV_NOT_JSON,    /* text is not a JSON object of the protocol */
	OPENENV_STRAY,       /* data is a reply of another type: replies no longer match requests */
	OPENENV_ENDED,       /* the connection ended first: end, code and text */
	OPENENV_UNREACHABLE, /* plain HTTP: no response */
	OPENENV_LATE,        /* no reply in time */
};

/* Slices are valid until the next request. */
struct openenv_answer {
	enum openenv_got got;
	enum websocket_end end;
	int code; /* of a Close frame or an HTTP status; 0: none */
	struct str data;
	struct str text;         /* the reason, or the body */
	bool page;               /* of OPENENV_STATUS: the body was a web page */
	struct json_fault fault; /* of OPENENV_NOT_JSON; why NULL: valid JSON of another kind */
};

/* The codes of error frames that the protocol defines. */
struct openenv_frame_error {
	const char *code;
	enum outcome outcome;
	enum error_class class;
	bool closes; /* the server closes the session after this frame */
};

/* Reads a frame of the WebSocket as the answer to a request; asked NULL: to none. */
void openenv_read_frame(struct str text, bool binary, const enum openenv_ask *asked,
                        struct openenv_answer *out);
/* Does the server close the session after an error frame with this `data`? */
bool openenv_error_closes(struct str data);

/* The row of an error frame's `data`; NULL: another code, or none. */
const struct openenv_frame_error *openenv_frame_error(struct str data);

struct openenv_wire {
	/* plain HTTP; borrowed; its base is the server's URL, its `why` also the reason for `gone` */
	struct http_json *http;
	struct buf url;       /* of the WebSocket */
	struct websocket *ws; /* NULL: plain HTTP */
	struct buf request;
	bool gone;        /* nothing more can be requested; `why` is the reason */
	bool state_asked; /* already requested, together with the last request */
};

void openenv_wire_init(struct openenv_wire *w, struct http_json *http);
/* Closes the connection within a short time. */
void openenv_wire_release(struct openenv_wire *w);

/* Opens the session. 0: open, or refused in the handshake (*out has OPENENV_STATUS); -1: as
   websocket_open. */
MUST_USE int openenv_connect(struct openenv_wire *w, struct openenv_answer *out, struct error *err);

/* Sends a request once. data: raw JSON object, the content of a reset, an action or a JSON-RPC
   request. After OPENENV_STRAY, ENDED, LATE and errors that close the session the wire is closed,
   so that a late reply is never mistaken for the next one. -1: interrupted, or a local failure. */
MUST_USE int openenv_ask(struct openenv_wire *w, enum openenv_ask what, struct str data,
                         struct openenv_answer *out, struct error *err);

/* As openenv_ask. Over a WebSocket the state is requested in the same packet, which wakes the
   server once. Unless the wire is closed, the next request must be OPENENV_STATE, and gets that
   reply. */
MUST_USE int openenv_ask_and_state(struct openenv_wire *w, enum openenv_ask what, struct str data,
                                   struct openenv_answer *out, struct error *err);

#endif
