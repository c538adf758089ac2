/* Framing of Debug Adapter Protocol messages: a length, then JSON. */
#pragma once

#include "debug/debug.h"
#include "json/write.h"

struct dap_wire {
	const struct debug_conf *conf; /* provides print */
	struct buf input;              /* bytes received but not consumed */
	size_t seen, last;             /* of these: by dap_look_ahead, and in its last request */
	bool ended;                    /* the input has ended */
	struct buf message;            /* the last request */
	struct buf out;                /* the message being written */
	int64_t seq;                   /* of the last message sent */
};

/* Slices are valid until the next request is read. */
struct dap_request {
	int64_t seq;
	struct str command, arguments; /* raw JSON */
};

void dap_wire_init(struct dap_wire *p, const struct debug_conf *conf);
void dap_wire_release(struct dap_wire *p);

/* Waits for a request on standard input and consumes it; *any is false at the end of input, or if
   `stops` returns true. FAIL_INPUT: malformed message. */
MUST_USE int dap_read(struct dap_wire *p, struct dap_request *q, bool *any,
                      bool (*stops)(void *ctx), void *ctx, struct error *err);

/* Returns 1 for the next request that was received and not looked at since dap_read, without
   waiting; it stays there for dap_read. 0: there is none. */
MUST_USE int dap_look_ahead(struct dap_wire *p, struct dap_request *q, struct error *err);
/* Takes out the request that dap_look_ahead returned. */
void dap_take_out(struct dap_wire *p);

/* True at the end of input, after all its requests were consumed. */
bool dap_is_over(const struct dap_wire *p);

/* Begins a message with seq and type; the caller adds the rest, ends it and sends it. */
struct json_writer dap_begin(struct dap_wire *p, const char *type);
MUST_USE int dap_send(struct dap_wire *p, struct error *err);
/* Begins an event, up to the members of its body; dap_end_event ends and sends it. */
struct json_writer dap_begin_event(struct dap_wire *p, const char *event);
MUST_USE int dap_end_event(struct dap_wire *p, struct json_writer *w, struct error *err);
