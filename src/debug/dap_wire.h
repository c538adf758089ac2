/* Messages of the Debug Adapter Protocol: a length, then JSON. */
#ifndef ROLLDBG_DEBUG_DAP_WIRE_H
#define ROLLDBG_DEBUG_DAP_WIRE_H

#include "debug/debug.h"
#include "json/write.h"

struct dap_wire {
	const struct debug_conf *conf; /* prints */
	struct buf input;              /* bytes read but not taken yet */
	size_t seen;                   /* of these: requests that wait for the next stop */
	bool ended;                    /* the input has ended */
	struct buf message;            /* the request that was taken last */
	struct buf urgent;             /* the last one that was taken out of turn */
	struct buf out;                /* the message that is being written */
	int64_t seq;                   /* of the last one */
};

/* Slices are valid until the next request of the same kind (urgent or not) is read. */
struct dap_request {
	int64_t seq;
	struct str command, arguments; /* raw JSON */
};

void dap_wire_init(struct dap_wire *p, const struct debug_conf *conf);
void dap_wire_release(struct dap_wire *p);

/* Waits for a request on standard input, and takes it; *any is false at the end of the input and
   when `stops` says so. FAIL_INPUT: it is not a message. */
MUST_USE int dap_read(struct dap_wire *p, struct dap_request *q, bool *any,
                      bool (*stops)(void *ctx), void *ctx, struct error *err);

/* Must this request be answered while the rollout runs? */
typedef bool dap_urgent_fn(struct str command);
/* Takes such a request if one has come, without waiting; the others stay for dap_read. *any is
   false if there is none. */
MUST_USE int dap_read_urgent(struct dap_wire *p, struct dap_request *q, bool *any,
                             dap_urgent_fn *urgent, struct error *err);

/* Has the input ended, and were all its requests taken? */
bool dap_is_over(const struct dap_wire *p);

/* An object with seq and type; the caller adds the rest, ends it, and sends it. */
struct json_writer dap_begin(struct dap_wire *p, const char *type);
MUST_USE int dap_send(struct dap_wire *p, struct error *err);
/* An event, within its body; and its end, which sends it. */
struct json_writer dap_begin_event(struct dap_wire *p, const char *event);
MUST_USE int dap_end_event(struct dap_wire *p, struct json_writer *w, struct error *err);

#endif
