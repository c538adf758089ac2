/* Faults that the tap injects. The decoders tell the engine of a step, a reset or a session as they see the
   request (episode.h does it for them); it chooses a fault, notes that in the recording, and
   the bytes of the connection are dealt with accordingly (fault_bytes.h). */
#pragma once

#include "base/buf.h"

enum tap_fault_id {
	TAP_FAULT_NONE = -1,
#define TAP_FAULT(id, name, when, wire, passes, help) TAP_FAULT_##id,
#include "tap/faults.def"
#undef TAP_FAULT
	TAP_FAULTS
};
enum tap_fault_time { FAULT_AT_STEP, FAULT_AT_RESET, FAULT_AT_SESSION };
enum tap_fault_wire { FAULT_ON_SOCKET = 1, FAULT_ON_HTTP = 2, FAULT_ON_BOTH = 3 };

struct tap_fault {
	const char *name;
	enum tap_fault_time when;
	enum tap_fault_wire wire;
	bool passes; /* the server gets the request */
	const char *help;
};
extern const struct tap_fault tap_faults[TAP_FAULTS];

/* What the reply to a request has of a step: all; or, with a control plane, all but these, or one of these. */
enum tap_fault_part { FAULT_PART_ALL, FAULT_PART_CALL, FAULT_PART_REWARD, FAULT_PART_END };

/* A request, as decoded. */
struct tap_request {
	enum tap_fault_time when;
	enum tap_fault_part part;
	bool socket;            /* it came over a WebSocket */
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
	const struct tap_fault_rule *rules;
	size_t count;
	bool (*holds)(void *condition, const struct tap_request *q);
	uint64_t delay_ns, max_sessions;
};

struct tap_engine;

struct tap_engine *tap_engine_new(const struct tap_fault_conf *conf);
void tap_engine_free(struct tap_engine *e); /* NULL is fine */
uint64_t tap_engine_delay_ns(const struct tap_engine *e);

/* What is done about the request that was just decoded. */
struct tap_strike {
	bool any;                /* there was such a request */
	enum tap_fault_id fault; /* TAP_FAULT_NONE: its reply is only kept */
	uint64_t session;
};

/* A decoder saw a request. Returns the fault that befalls it, which is to be noted. */
enum tap_fault_id tap_engine_asked(struct tap_engine *e, const struct tap_request *q);
/* The strike that resulted since the last call. */
struct tap_strike tap_engine_take(struct tap_engine *e);

/* The last replies; absent: none. */
struct str tap_engine_last(const struct tap_engine *e, uint64_t session, bool of_another);
void tap_engine_keep(struct tap_engine *e, uint64_t session, struct str reply);
