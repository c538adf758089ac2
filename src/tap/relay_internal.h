/* Connections of the relay. Private to relay.c and relay_pass.c. */
#pragma once

#include "net/readiness.h"
#include "protocol/websocket_copy.h"
#include "tap/fault.h"
#include "tap/flow.h"
#include "tap/relay.h"

struct end {
	struct conn *conn; /* NULL: a descriptor that is none of a connection's */
	enum tap_side side;
	struct stream *stream;
	struct buf pending; /* to be sent to this end */
	bool over;          /* it has ended its side, or is lost */
	bool lost;
	bool shut;       /* we have ended ours */
	bool more;       /* not all that arrived was read */
	uint64_t due_ns; /* when bytes may be sent to it; 0: at once */
	short watched;   /* the events; 0: not watched */
};

struct conn {
	struct conn *next, *previous;
	struct end ends[2]; /* by enum tap_side */
	struct tap_flow *flow;
	struct stream_server *server; /* NULL: not known yet */
	uint16_t port;                /* of the client */
	struct fault_bytes *faults;   /* NULL: none are injected */
	bool asking;                  /* the answer to a question of ours is the next message: */
	struct ws_copy answered;      /* the frames since then */
	bool own;                     /* for a question of ours: its client has no stream */
	struct conn *peer;            /* that waits for this one of ours, or vice versa; or NULL */
	bool unreachable;             /* the server is: the client gets a reply of ours */
	bool dead;                    /* to be freed at the end of the round */
};

struct relay {
	const struct tap_relay_conf *conf;
	struct readiness *readiness;
	struct end listener, model_listener, stop, wake;
	struct conn *first, *dead;
	struct tap_reader *reader;
	size_t polled; /* connections that wait for something else than a descriptor */
	char *room;
	struct buf out;
	bool over;
	bool full; /* there were no descriptors left: said once */
};

struct end *relay_other(const struct end *e);
/* Sets what is watched; 0: nothing. */
void relay_watch(struct relay *r, struct end *e, int fd, short events);
/* Sends what it can at once; the rest waits. */
void relay_send(struct end *e, struct str bytes);
/* The end is lost; the decoders are told. */
void relay_lose(struct end *e);

/* One port serves the environment and the model. */
bool relay_shares_port(const struct relay *r);
/* Connects the client to that server. */
void relay_connect(struct relay *r, struct conn *c, struct stream_server *server, void *asker);
/* What arrived at an end is told to the decoders and sent to the other one. */
void relay_pass(struct relay *r, struct end *e, struct str bytes);
void relay_pass_to_client(struct relay *r, struct conn *c, struct str bytes);
uint64_t relay_now_ns(const struct relay *r);
/* If the decoders have a question now, it is asked, and the client waits until it is answered. */
void relay_ask(struct relay *r, struct conn *c);
/* What was held for the client until a question was answered can be sent. */
void relay_release(struct relay *r, struct conn *c);
/* A connection without a stream so far. */
struct conn *relay_new_conn(struct relay *r);
/* What came of it is sent, and what is watched. */
void relay_settle(struct relay *r, struct conn *c);
