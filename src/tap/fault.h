/* Faults that the tap injects. The decoders tell the engine of a step, a reset or a session as they see the
   request (episode.h does it for them); it chooses a fault, notes that in the recording, and the bytes of
   the connection are dealt with accordingly. The recording sees what the client sees. */
#pragma once

#include "base/buf.h"

enum tap_fault_id {
	TAP_FAULT_NONE = -1,
#define TAP_FAULT(id, name, when, passes, help) TAP_FAULT_##id,
#include "tap/faults.def"
#undef TAP_FAULT
	TAP_FAULTS
};
/* Flags: the reply to a step may have its reward and the end of the episode too, or a control plane has them. */
enum tap_fault_time {
	FAULT_AT_STEP = 1,
	FAULT_AT_REWARD = 2,
	FAULT_AT_END = 4,
	FAULTS_OF_STEP = 7,
	FAULT_AT_RESET = 8,
	FAULT_AT_SESSION = 16
};

struct tap_fault {
	const char *name;
	enum tap_fault_time when;
	bool passes; /* the server gets the request */
	const char *help;
};
extern const struct tap_fault tap_faults[TAP_FAULTS];

/* A request, as decoded. */
struct tap_request {
	unsigned when;          /* flags */
	uint64_t session, open; /* its number; how many are open */
	/* What a condition can ask: the number of the step, or of the one that comes next; the
	   tool, decoded; the others raw, absent: unknown. */
	int64_t step;
	struct str tool, arguments, state;
};

struct tap_fault_rule {
	enum tap_fault_id fault;
	void *condition; /* NULL: always */
};

struct tap_fault_conf {
	struct tap_fault_rule *rules; /* taken over, with their conditions */
	size_t count;
	bool (*holds)(void *condition, const struct tap_request *q);
	void (*release)(void *condition);
	uint64_t delay_ns, max_sessions;
};

struct tap_engine;

struct tap_engine *tap_engine_new(const struct tap_fault_conf *conf);
void tap_engine_free(struct tap_engine *e); /* NULL is fine */

/* A decoder saw a request. Returns the fault that befalls it, which is to be noted. */
enum tap_fault_id tap_engine_asked(struct tap_engine *e, const struct tap_request *q);

/* ---- the bytes of one connection: a request is held until it is complete, and what follows from its fault is
   done to it or to its reply ---- */

struct fault_bytes;

struct fault_bytes *fault_bytes_new(struct tap_engine *e);
void fault_bytes_free(struct fault_bytes *f); /* NULL is fine */

/* What is to be done now. The slices are valid until the next call. */
struct fault_out {
	struct str to_server;
	struct str from_server; /* as if the server had sent it */
	bool cut;               /* both connections are to be lost */
	bool end;               /* the server is done after this */
	uint64_t wait_ns;       /* to_server is sent only after that time */
};

/* Bytes of the client, which were told to the decoders. complete: they end a request. */
void fault_bytes_client(struct fault_bytes *f, struct str bytes, bool complete,
                        struct fault_out *out);
/* Bytes of the server, which were not told yet. */
void fault_bytes_server(struct fault_bytes *f, bool socket, struct str bytes,
                        struct fault_out *out);
/* from_server was told: if a request that has passed already was looked at only then, its reply comes next. */
void fault_bytes_told(struct fault_bytes *f, bool socket);
/* The server has ended its side. Returns what was held of it. */
struct str fault_bytes_ended(struct fault_bytes *f);
