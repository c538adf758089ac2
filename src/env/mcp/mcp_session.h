/* One MCP session (specification revisions 2024-11-05 to 2025-11-25, "Transports" and
   "Lifecycle"): initialize, requests, replies to the server's own requests, close; or, with
   revision 2026-07-28, the same calls without a session. Independent of environments. */
#pragma once

#include "base/base.h"
#include "json/write.h"
#include "net/io.h"
#include "protocol/jsonrpc.h"
#include "recording/events.h"

struct mcp_session;

/* ---- one request and its response ---- */

/* Limit of one response, including its event stream: two of them, a state and an observation,
   must fit in one recorded line. */
#define MCP_REPLY_MAX ((size_t)24 << 20)

/* How a request ended on the wire. */
enum mcp_got {
	MCP_GOT_RESULT,    /* message.result */
	MCP_GOT_ERROR,     /* message.error_*, with any HTTP status */
	MCP_GOT_HTTP,      /* a status and a body that is not JSON-RPC */
	MCP_GOT_UNUSABLE,  /* an unusable response: text is the reason */
	MCP_GOT_TRANSPORT, /* no response: text is the reason */
	MCP_GOT_TIMEOUT,   /* no response in time: text is the reason */
};

/* Slices are valid until the next request of the session. */
struct mcp_reply {
	enum mcp_got got;
	int http_status; /* 0: none */
	int64_t asked;   /* the id of our request */
	struct jsonrpc_message message;
	struct str text;     /* the reason, or the body that is not JSON-RPC */
	struct str media;    /* its Content-Type essence */
	struct str location; /* the target of a redirect that was not followed */
	/* why the server's input requests were not answered; absent: they were, or there were
	   none */
	struct str given_up;
	bool session_lost; /* 404 for a request with our session id */
	/* a tool call refused before execution because of its headers: they depend on the tool
	   list, which may have changed */
	bool headers_refused;
};

/* Which revisions to use: those with sessions, the one without, or whichever the server
   supports. */
enum mcp_era {
	MCP_ERA_LEGACY,
	MCP_ERA_MODERN,
	MCP_ERA_AUTO,
};

struct mcp_conf {
	const char *url;
	enum mcp_era era;
	const char *const *headers;
	size_t header_count;
	char *const *child_variables; /* as in struct env_conf */
	uint64_t timeout_ms;
	const char *client_version; /* clientInfo.version */
	struct str extra;           /* raw JSON object for clientInfo._extra; absent: none */
	struct io *io;
	struct event_queue *events;
};

/* ---- for environments ---- */

/* Opens nothing yet. Borrows conf's pointers. */
struct mcp_session *mcp_session_new(const struct mcp_conf *conf);
void mcp_session_free(struct mcp_session *s); /* NULL is fine; sends nothing */

/* Sends initialize and notifications/initialized, or server/discover. Returns 0 with reply->got
   == MCP_GOT_RESULT if the session is open; 0 with any other value if the server refused; -1 if
   interrupted, or for a local failure. */
MUST_USE int mcp_session_open(struct mcp_session *s, struct mcp_reply *reply, struct error *err);

/* Sends a request that may be repeated: if the session is lost (404) it is replaced once, the
   event `session-replaced` is queued and the request sent again. */
MUST_USE int mcp_request(struct mcp_session *s, const char *method, struct str params,
                         struct mcp_reply *reply, struct error *err);

/* A tool call, sent at most once. If the session is lost it is replaced for later calls, but
   this one stays lost (reply->session_lost). If the server refuses the headers, the caller may
   list the tools and call again: see mcp_call_tool. */
MUST_USE int mcp_call_once(struct mcp_session *s, struct str name, struct str arguments,
                           struct mcp_reply *reply, struct error *err);

/* ---- transports of a session: messages are interpreted in the same way for each of them ---- */

/* A message to send. Everything is borrowed during the call. */
struct mcp_outgoing {
	struct str text;     /* the whole message */
	const char *method;  /* NULL: our response to a request of the server */
	struct str params;   /* raw JSON; absent: none, or a response */
	int64_t id;          /* of a request */
	uint64_t timeout_ms; /* for the whole exchange; 0: none */
	/* of this message only, see headers.h; ignored by channels without headers */
	struct str headers;
	bool may_repeat; /* may be sent twice */
	bool opens;      /* it opens the session */
};

/* First member of each channel's own struct. */
struct mcp_channel {
	struct mcp_session *session;
};

struct mcp_channel_ops {
	const char *name;
	bool shared; /* all responses share one stream and are matched by id */
	/* Does not connect yet. Borrows s and connects to its url later. */
	struct mcp_channel *(*create)(struct mcp_session *s);
	/* Sends a request and stores its response in *r, with slices into s->kept; other
	   messages received meanwhile are passed to mcp_process(). A failure of the peer is also a
	   response (mcp_or_failure). -1 only when interrupted, or for a local failure. */
	int (*exchange)(struct mcp_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
	                struct error *err);
	/* Sends a message without a response (a notification, or our response to the server).
	   If the server refuses it, an event `noise` is queued. -1 only when interrupted, or for
	   a local failure. */
	int (*send)(struct mcp_channel *c, const struct mcp_outgoing *q, struct error *err);
	/* Handles one unsolicited message of the server, if there is one, while no response is
	   awaited. *wake_ns: see io_set_idle. 1: handled one, 0: there was none; -1 as above, and
	   if the server sends too many. */
	int (*listen)(struct mcp_channel *c, uint64_t *wake_ns, struct error *err);
	/* Closes the session, within bounded time. */
	void (*close)(struct mcp_channel *c);
	/* Frees memory; sends nothing. */
	void (*destroy)(struct mcp_channel *c);
};

extern const struct mcp_channel_ops mcp_http;  /* Streamable HTTP */
extern const struct mcp_channel_ops mcp_sse;   /* the older HTTP+SSE */
extern const struct mcp_channel_ops mcp_stdio; /* a child process */

/* The older HTTP+SSE: has the server named its message endpoint? */
bool mcp_sse_found(const struct mcp_channel *c);

/* ---- the session ---- */

/* Buffers that a reply's slices point into. */
struct mcp_kept {
	struct buf body, text, media, location;
};

struct mcp_session {
	struct mcp_conf conf;
	const struct mcp_channel_ops *ops;
	struct mcp_channel *channel;
	struct buf url; /* after redirects */
	struct buf id;  /* assigned by the server; empty: none */
	struct buf name, version;
	struct buf request;
	struct mcp_kept kept;
	uint64_t deadline_ns; /* of the current exchange; UINT64_MAX: none */
	unsigned asked;       /* requests of the server in this exchange */
	unsigned unrelated;   /* unrelated messages in this exchange */
	const char *broken;   /* parse error of the last malformed one; NULL: none */
	bool request_pending; /* a request awaits its response */
	int64_t next_id;
	const char *revision; /* negotiated, or to be offered */
	bool agreed;          /* the server accepted the revision */
	bool modern;          /* the revision has no sessions */
	struct buf marked;    /* tools that require headers, a JSON array; empty: none */
	bool tools_changed;
	bool ids_are_text;       /* it returns our ids as strings: reported */
	uint64_t late_responses; /* responses that timed out and may still arrive */
};

void mcp_kept_init(struct mcp_kept *k);
void mcp_kept_release(struct mcp_kept *k);

/* Sends a request with a new id and receives the response. q.timeout_ms 0: the session's. */
MUST_USE int mcp_ask(struct mcp_session *s, struct mcp_outgoing q, struct mcp_reply *r,
                     struct error *err);

/* Stores name and version of a serverInfo. */
void mcp_store_server_info(struct mcp_session *s, struct str info);
/* The newest supported revision with sessions among those an error lists; NULL: none. */
const char *mcp_offered_instead(const struct mcp_reply *r);

/* No response is awaited. */
#define MCP_NO_ID (-1)

/* Called by a channel at the start of an exchange; clears *r. */
void mcp_begin_exchange(struct mcp_session *s, const struct mcp_outgoing *q, struct mcp_reply *r);
/* The remaining time: UINT64_MAX unlimited, 0: expired. */
uint64_t mcp_time_left_ms(const struct mcp_session *s);

/* Processes one text from the server: a message or, in revision 2025-03-26, an array of
   messages. 1: it contained the response to request `id` (or MCP_NO_ID), which is in *out,
   slices of text. 0: anything else, processed. -1: interrupted, or the server exceeded a limit. */
MUST_USE int mcp_process(struct mcp_session *s, struct str text, int64_t id,
                         struct jsonrpc_message *out, struct error *err);

/* Is the message, received in the reply to request `id` itself, its response? */
bool mcp_is_answer(const struct jsonrpc_message *m, int64_t id);
/* Sets r->got from r->message. */
void mcp_set_got(struct mcp_session *s, struct mcp_reply *r);
/* Stores a failure without a response, and its reason. */
void mcp_set_failure(struct mcp_session *s, struct mcp_reply *r, enum mcp_got got,
                     const char *sentence);
/* Sets FAIL_TIMEOUT for a request without a response. */
int mcp_timeout_error(const struct mcp_session *s, const struct mcp_outgoing *q, struct error *err);
/* Converts a failure of the peer to a response (0); an interrupt or a local failure is returned
   (-1). */
int mcp_or_failure(struct mcp_session *s, struct mcp_reply *r, struct error *err);
/* Queues an event `noise` for a server's mistake outside a request. 0; -1 if it was not caused
   by the server. */
MUST_USE int mcp_note_trouble(struct mcp_session *s, struct error *err);
/* An io_idle_fn: processes unsolicited messages of the server. */
int mcp_listen_idle(void *session, uint64_t *wake_ns, struct error *err);
/* Queues the event `retry`: the server refused a request before executing it, and it is sent
   again. */
void mcp_note_retry(struct mcp_session *s, const struct mcp_reply *refusal, const char *why);
/* Queues an event `noise`: the server refused a message. http_status 0: none; why NULL: unknown. */
void mcp_note_refused(struct mcp_session *s, struct str message, int http_status, const char *why);

/* ---- messages that are not replies to a call, also of a client behind the tap ---- */

/* Queues an event about a message: {"message"}; of a text that is none {"text"}, {"base64"} or, of a
   long one, {"bytes"}. raw: the text it was read from. */
void mcp_note_message(struct event_queue *q, enum event_kind kind, const struct jsonrpc_message *m,
                      struct str raw);

/* Why the message, which is JSON, is no JSON-RPC response: a clause. */
const char *mcp_message_fault(const struct jsonrpc_message *m);

/* ---- without sessions: modern.c ---- */

/* Sends server/discover, determines s->modern from the answer, and logs the result and the
   reason. *final: there is nothing else to try; otherwise `initialize` may still open a session.
   Reply and failures as for mcp_session_open. */
MUST_USE int mcp_modern_open(struct mcp_session *s, bool *final, struct mcp_reply *reply,
                             struct error *err);

/* Sends a request, repeating it if needed: in another revision if the server refused this one
   before executing it (HTTP 400; event `retry`), and with answers to its input requests (event
   `notification`), at most MCP_ROUNDS_MAX times and within one timeout. A result of an unknown
   kind is MCP_GOT_UNUSABLE, except for tools/call, whose caller checks it. */
#define MCP_ROUNDS_MAX 10

MUST_USE int mcp_modern_request(struct mcp_session *s, const char *method, struct str params,
                                bool may_repeat, struct mcp_reply *reply, struct error *err);

/* Is the error one that only servers of this revision send? */
bool mcp_is_modern_error(const struct mcp_reply *reply);

/* May a tool of tools/list be offered? If not, an event `noise` has the reason. Tools that
   require headers are stored for later calls. */
bool mcp_modern_accepts_tool(struct mcp_session *s, struct str tool);

/* ---- tools and resources: tool_calls.c ---- */

/* Fills tools with one raw JSON array: at most 16 MiB, whole tools, each name once. Omissions, and
   a list that does not end (a cursor repeats, or the pages are too many or too slow), are queued as
   events; the tools received so far are returned. r->got other than MCP_GOT_RESULT: how the server
   refused. -1 only if interrupted, or for a local failure. */
MUST_USE int mcp_list_tools(struct mcp_session *s, struct buf *tools, struct mcp_reply *r,
                            struct error *err);

/* mcp_call_once; if the server refuses the headers before executing the call, the tools are
   listed again and the call is sent again (event `retry`). */
MUST_USE int mcp_call_tool(struct mcp_session *s, struct str name, struct str arguments,
                           struct mcp_reply *r, struct error *err);

MUST_USE int mcp_read_resource(struct mcp_session *s, struct str uri, struct mcp_reply *r,
                               struct error *err);

/* Appends the resources, at most 16 pages of them, as a raw JSON array; nothing if the server lists none.
   -1 only if interrupted, or for a local failure. */
MUST_USE int mcp_list_resources(struct mcp_session *s, struct buf *out, struct error *err);

/* ---- revisions.def ---- */

const char *mcp_newest_revision(bool sessions);
const char *mcp_oldest_revision(bool sessions);

/* The supported revision with that name (a raw JSON string); NULL: none. */
const char *mcp_revision_named(struct str string, bool sessions);
/* The newest supported one in a raw JSON array of strings; NULL: none. */
const char *mcp_revision_in(struct str list, bool sessions);

/* Is it sent in a header of each HTTP request? */
bool mcp_revision_has_header(const char *revision);
