/* MCP behind the tap: the sessions of clients. mcp.c tells which session a message belongs to, mcp_client.c
   says what the messages mean, mcp_control.c what the control plane of MCP-Gym adds. */
#pragma once

#include "base/mem.h"
#include "env/mcp/control_plane.h"
#include "env/mcp/known.h"
#include "tap/episode.h"

/* Requests whose replies matter. */
enum mcp_asked {
	MCP_ASKED_INITIALIZE,
	MCP_ASKED_DISCOVER,
	MCP_ASKED_TOOLS,
	MCP_ASKED_CALL,
	MCP_ASKED_STATE, /* by us */
};

struct mcp_pending {
	struct mcp_pending *next;
	char *id; /* raw JSON */
	size_t id_n;
	enum mcp_asked asked;
	uint64_t exchange;
	struct tap_step *step; /* MCP_ASKED_CALL */
	bool reads_only;       /* the same */
	bool first_page;       /* MCP_ASKED_TOOLS */
};

/* A reply from the control plane; empty text and no reason: not read. */
struct mcp_control_fact {
	struct buf text, why;
	bool read;
};

/* A step that waits for what the control plane says about it. */
struct mcp_held {
	struct tap_step *step; /* NULL: none */
	struct env_reply reply;
	struct arena kept;
	struct mcp_control_fact status, reward;
};

/* One session of a client. */
struct mcp_client {
	struct mcp_decoder *decoder;
	struct mcp_client *next, *previous;
	struct tap_session *session;
	struct event_queue events;
	struct mcp_known known;
	struct mcp_pending *pending;
	struct mcp_held held;
	unsigned exchanges; /* that refer to it */
	bool over;          /* to be freed when none does */
	bool lost;          /* the server no longer has the session; the client may open another */
	bool modern;        /* no sessions */
	bool redirected;    /* the request that opens it will be sent again */
	struct tap_env_facts facts;
	struct arena texts; /* for those below */
	/* What it is known by: the id that the server gave it, that of the environment, or, if there is
	   neither, the connection (0: it is not). */
	struct str id, env_id;
	uint64_t connection_id;
	struct str task;
	struct str offered_id; /* with the reply to initialize */
	uint64_t connection;   /* the first one */
	bool observes; /* its observations are the states: it reads the control plane's only once */
	enum state_kind state_kind; /* of the episode */
	/* of the episode that comes */
	bool has_seed;
	int64_t seed;
	struct buf config, start, tools;
	struct env_reply ending; /* terminated and truncated before the first step */
	bool has_control;        /* it has read a fact of the control plane */
	/* Questions of ours: mcp_ask.c */
	bool asks, asking, stale; /* one is due; has no answer yet; a call was sent meanwhile */
	bool answered;            /* the answer waits for the step */
	struct buf meta, ask_id, answer; /* _meta of the client's requests; .. */
};

struct mcp_decoder {
	struct tap_recording *recording;
	struct mcp_client *first, *last;
	size_t count;
	struct buf tools; /* the last whole list that a client got; empty: none */
	const char *transport;
	bool stdio;
	uint64_t questions; /* of ours */
	struct reply_reading answers;
	struct buf redirected; /* the path that the server redirects; empty: none */
};

/* Ends the session. Frees c, unless exchanges refer to it. */
void mcp_client_end(struct mcp_client *c, const struct tap_ending *e);

/* ---- mcp_client.c ---- */

/* A message from the client. exchange: the id of its request, 0 over stdio. */
void mcp_client_sent(struct mcp_client *c, struct str text, uint64_t exchange);
/* A message from the server: of a stream, or a line. http_status: of the stream; 0: none. */
void mcp_client_received(struct mcp_client *c, struct str text, uint64_t exchange, int http_status);
/* The reply to the one request of an exchange, without its message: r is complete but for
   `asked`. The message is used if it is an answer. */
void mcp_client_replied(struct mcp_client *c, uint64_t exchange, struct mcp_reply *r);
/* The server has redirected that request, and so not executed it. */
void mcp_client_redirected(struct mcp_client *c, uint64_t exchange);
/* Is a reply awaited from that exchange? */
bool mcp_client_awaits(const struct mcp_client *c, uint64_t exchange);

/* A question of ours, c->ask_id, was sent. */
void mcp_client_asked(struct mcp_client *c, uint64_t exchange);

/* Writes the step that waits for the control plane, if there is one. */
void mcp_client_flush(struct mcp_client *c);

/* ---- mcp_control.c ---- */

/* Is the path that of a control endpoint? */
bool mcp_is_control(struct str path);
/* Takes the reply to the client's request for a fact of the control plane. */
void mcp_control_read(struct mcp_client *c, enum control_fact fact, int status, struct str body);
/* A reply to reset_session, whose body was `asked`. */
void mcp_control_reset(struct mcp_client *c, int status, struct str asked, struct str body);
/* A tool is called, and no episode is open. */
void mcp_control_begin_episode(struct mcp_client *c);

/* ---- mcp_ask.c ---- */

/* The state may have changed, or can be asked for now: if it is to be asked for at all, it is due. */
void mcp_ask_later(struct mcp_client *c);
/* Asks for it, if that is due and no reply is outstanding. x: of the client; its reply was just read. */
void mcp_ask_state(struct mcp_client *c, const struct tap_exchange *x);
/* Whose question the exchange is; NULL: it is the client's, or its session has ended. */
struct mcp_client *mcp_asker(const struct mcp_decoder *d, const struct tap_exchange *x);
/* The answer: of a tool or a resource; of the control plane; absent, with the reason. */
void mcp_answered_by(struct mcp_client *c, struct mcp_reply *r);
void mcp_answered_in(struct mcp_client *c, const struct tap_exchange *x);
/* The step that it came after was written: it is the state before the next one. */
void mcp_answer_use(struct mcp_client *c);
