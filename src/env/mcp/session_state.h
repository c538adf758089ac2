/* The inside of one MCP session, for session.c (its life), wire.c (what its
   messages mean), tools.c and the channels. */
#ifndef ROLLDBG_ENV_MCP_SESSION_STATE_H
#define ROLLDBG_ENV_MCP_SESSION_STATE_H

#include "env/mcp/channel.h"
#include "json/write.h"

/* The buffers that a reply's slices point into. */
struct mcp_kept {
	struct buf body, text, media, location;
};

struct mcp_session {
	struct mcp_conf conf;
	const struct mcp_channel_ops *ops;
	struct mcp_channel *channel;
	struct buf url; /* after redirects */
	struct buf id;  /* that the server gave; empty: none */
	struct buf name, version;
	struct buf request;
	struct mcp_kept kept;
	uint64_t deadline_ns; /* of the exchange under way; UINT64_MAX: none */
	unsigned asked;       /* requests of the server within it */
	unsigned strange;     /* unrelated messages received within it */
	const char *
		broken; /* what is wrong with the last of them that is nearly JSON; NULL: none is */
	bool request_pending; /* it is under way */
	int64_t next_id;
	const char *revision; /* agreed on, or to be offered */
	bool agreed;          /* the server took it */
	bool modern;          /* there are no sessions: revision 2026-07-28 */
	struct buf marked;    /* tools that want headers, a JSON array; empty: none */
	bool tools_changed;
	bool ids_are_text; /* it sends our ids back as strings: said */
	uint64_t owed;     /* answers that did not come in time, and may yet */
};

void mcp_kept_init(struct mcp_kept *k);
void mcp_kept_release(struct mcp_kept *k);

/* Sends a request with a fresh id and takes the answer. q.timeout_ms 0: the session's. */
MUST_USE int mcp_ask(struct mcp_session *s, struct mcp_outgoing q, struct mcp_reply *r,
                     struct error *err);

/* Who we are, as one JSON value; extra: the environment session as well. */
void mcp_write_client_info(const struct mcp_session *s, bool extra, struct json_writer *w);
/* Without it a server says nothing of its progress; unique: the id of the next request.
 */
void mcp_write_progress_token(const struct mcp_session *s, struct json_writer *w);
/* Who the server is: name and version of a serverInfo. */
void mcp_keep_server_info(struct mcp_session *s, struct str info);
/* The newest supported revision with sessions among those an error lists; NULL: none. */
const char *mcp_offered_instead(const struct mcp_reply *r);

/* Switches the session to this channel, starting over. */
void mcp_use_channel(struct mcp_session *s, const struct mcp_channel_ops *ops);

/* Where no answer is awaited. */
#define MCP_NO_ID (-1)

/* For a channel that begins an exchange: *r says nothing yet. */
void mcp_begin_exchange(struct mcp_session *s, const struct mcp_outgoing *q, struct mcp_reply *r);
/* The remaining time: UINT64_MAX unlimited, 0: expired. */
uint64_t mcp_time_left_ms(const struct mcp_session *s);

/* One text from the server: a message or, in revision 2025-03-26, an array of them.
   1: the answer to request `id` (or MCP_NO_ID) was among them and is in *out, slices of
   text. 0: it was something else, and is dealt with. -1: interrupted, or the server went
   too far. */
MUST_USE int mcp_take(struct mcp_session *s, struct str text, int64_t id,
                      struct jsonrpc_message *out, struct error *err);

/* Does the message, which came in the reply to request `id` itself, answer it? */
bool mcp_is_answer(const struct jsonrpc_message *m, int64_t id);
/* r->got of an answer in r->message. */
void mcp_set_got(struct mcp_session *s, struct mcp_reply *r);
/* No answer, with the sentence that says why. */
void mcp_keep_sentence(struct mcp_session *s, struct mcp_reply *r, enum mcp_got got,
                       const char *sentence);
/* FAIL_TIMEOUT for a request that was sent and never answered. */
int mcp_explain_silence(const struct mcp_session *s, const struct mcp_outgoing *q,
                        struct error *err);
/* A peer that fails us is an answer (0); only an interrupt and our own failures go up
   (-1). */
int mcp_or_failure(struct mcp_session *s, struct mcp_reply *r, struct error *err);
/* Queues an event `noise` for a server's mistake outside a request. 0; -1 for a failure that is
   not the server's. */
MUST_USE int mcp_note_trouble(struct mcp_session *s, struct error *err);
/* An io_idle_fn of a session: hears the server while nothing is asked. */
int mcp_listen_meanwhile(void *session, uint64_t *wake_ns, struct error *err);
/* A request is sent again, since the server refused it before it did anything: event `retry`. */
void mcp_note_retry(struct mcp_session *s, const struct mcp_reply *refusal, const char *why);
/* The server refused a message: event `noise`. http_status 0: none; why NULL: unknown. */
void mcp_note_unwanted(struct mcp_session *s, struct str message, int http_status, const char *why);

#endif
