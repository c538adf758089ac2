/* The directory env/openenv/: the OpenEnv adapters: wire, replies, description of the server. The
   interface they implement is env.h; connections are in net/. */

/* Two adapters: openenv uses a session over the WebSocket, openenv-http sends each request over plain
   HTTP, without a session. They differ in the wire and in open(). */
#pragma once

#include "env/hidden_error.h"
#include "env/http_env.h"
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

/* The request of a client with this raw `type`. */
bool openenv_ask_of(struct str type, enum openenv_ask *out);
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
	struct buf session;   /* of /mcp, where the tools are called; empty: over the WebSocket */
	struct websocket *ws; /* NULL: plain HTTP */
	struct buf request;
	bool posts;       /* the URL is that of /mcp */
	bool gone;        /* nothing more can be requested; `why` is the reason */
	bool state_asked; /* already requested, together with the last request */
};

void openenv_wire_init(struct openenv_wire *w, struct http_json *http);
/* Closes the connection within a short time. */
void openenv_wire_release(struct openenv_wire *w);

/* Opens the session; one of /mcp is created there and joined. 0: open (OPENENV_ANSWER), or refused
   in the handshake (OPENENV_STATUS) or by /mcp; -1: as websocket_open. */
MUST_USE int openenv_connect(struct openenv_wire *w, struct openenv_answer *out, struct error *err);

/* Sends a request once. data: raw JSON object, the content of a reset, an action or a JSON-RPC
   request. After OPENENV_STRAY, ENDED, LATE and errors that close the session the wire is closed,
   so that a late reply is never mistaken for the next one. and_state: over a WebSocket the state is
   requested in the same packet, which wakes the server once; unless the wire is closed, the next
   request must be OPENENV_STATE, and gets that reply. -1: interrupted, or a local failure. */
MUST_USE int openenv_ask(struct openenv_wire *w, enum openenv_ask what, struct str data,
                         bool and_state, struct openenv_answer *out, struct error *err);

/* Context of a request, used to read its reply. */
struct openenv_question {
	/* the tool is advertised: a "not found" in its message is about something else. If it is
	   not, an error about arguments is about the tool's name. */
	bool known_tool;
	/* a reset: "error" may be a data member of its observation (see reply.c) */
	bool is_reset;
	struct hidden_error_context before;
	/* texts that are errors, see env/hidden_error.h */
	const char *const *error_texts;
	size_t error_text_count;
};

/* Reads a reply to a reset or a step; q NULL: to another request, outcome and error only. */
void openenv_read(const struct openenv_answer *a, const struct openenv_question *q,
                  struct reply_reading *r, struct env_reply *out);

/* Call for a step whose reply may have been one that only looks good: out->env_steps is the
   environment's count after it, `before` the one before it (-1: unknown). A step that was not
   counted by an environment that counts steps (*counts: it did so before) confirms r->suspected as
   an error. */
void openenv_confirm_uncounted(struct reply_reading *r, int64_t before, bool *counts,
                               struct env_reply *out);

struct env_openenv {
	struct http_env http;
	struct openenv_wire wire;
	struct buf schema; /* of an action; empty: unknown */
	struct buf version;
	struct buf state;    /* the current state; empty: unknown */
	struct buf episode;  /* its episode_id */
	int64_t env_steps;   /* step_count of the state; -1: unknown */
	bool calls_tools;    /* an MCP-style environment: actions name a tool */
	bool counts;         /* step_count has changed after one of our steps */
	bool over;           /* the last observation reported done */
	bool state_returned; /* `state` was returned once: other clients may have changed it */
};

/* Does the server describe itself as an OpenEnv server over HTTP? False also without a reply. */
bool openenv_answers(struct http_json *h);

/* May an environment with actions of this schema have tools? They use the framework's own classes. */
bool openenv_action_is_call(struct str schema);
/* Appends the tool that stands for the steps of an environment without tools, in an array. schema:
   raw, of its actions; may be empty. */
void openenv_put_step_tool(struct str schema, struct buf *out);
/* Does a state contain more than the episode's id and the step count? */
bool openenv_state_informs(struct str state);
/* Where observations are the states: the pointer to their metadata, which is ignored; NULL: it is
   all there is. */
const char *openenv_metadata_aside(struct str observation);

/* Reads the description available without a session: names and the action schema. *known: it
   describes itself as an OpenEnv server. */
MUST_USE int openenv_describe(struct env_openenv *e, bool *known, struct error *err);
/* Sets the tools, the state source and the facts, once a session is open. */
MUST_USE int openenv_learn_facts(struct env_openenv *e, struct error *err);

/* ---- for both adapters ---- */

#define OPENENV_LIMIT_FIX                                                                          \
	"raise MAX_CONCURRENT_ENVS, or max_concurrent_envs where the server creates its app (the " \
	"environment must declare SUPPORTS_CONCURRENT_SESSIONS = True)"

struct env_openenv *openenv_new(const struct env_ops *ops, const struct env_conf *conf,
                                struct io *io);
void openenv_note(struct env_openenv *e, enum event_kind event, const char *what, struct str why);
int openenv_reset(struct env *base, struct env_reply *out, struct error *err);
int openenv_state(struct env *base, struct str *out, struct error *err);
int openenv_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                 struct error *err);
void openenv_close(struct env *base);
