/* Messages of the Debug Adapter Protocol: a length, then JSON. */
#ifndef ROLLDBG_DEBUG_DAP_WIRE_H
#define ROLLDBG_DEBUG_DAP_WIRE_H

#include "debug/debug.h"
#include "json/write.h"

struct dap_wire {
	const struct debug_conf *conf; /* prints */
	struct buf message;            /* the request that was read last */
	struct buf out;                /* the message that is being written */
	int64_t seq;                   /* of the last one */
};

/* Slices live until the next one is read. */
struct dap_request {
	int64_t seq;
	struct str command, arguments; /* raw JSON */
};

void dap_wire_init(struct dap_wire *p, const struct debug_conf *conf);
void dap_wire_release(struct dap_wire *p);

/* Reads a request from standard input; *any is false at its end. FAIL_INPUT: it is no message. */
MUST_USE int dap_read(struct dap_wire *p, struct dap_request *q, bool *any, struct error *err);

/* An object with seq and type; the caller adds the rest, ends it, and sends it. */
struct json_writer dap_begin(struct dap_wire *p, const char *type);
MUST_USE int dap_send(struct dap_wire *p, struct error *err);
/* An event, within its body; and its end, which sends it. */
struct json_writer dap_begin_event(struct dap_wire *p, const char *event);
MUST_USE int dap_end_event(struct dap_wire *p, struct json_writer *w, struct error *err);

#endif
