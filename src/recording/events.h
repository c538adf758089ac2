/* Events: everything that happens apart from replies. An adapter or a policy queues them, and the
   rollout records them. */
#pragma once

#include "base/buf.h"
#include "recording/words.h"

/* Limit on messages from a server between two steps: further ones are merged into one `noise`
   event. Other events have a limit of the same size. */
#define EVENTS_MAX       256
#define EVENTS_MAX_BYTES (2 * BUF_MAX_MESSAGE)

/* The detail of `retry`. */
#define EVENTS_RETRY "{\"why\":\"the reused connection was closed; sent again\"}"

/* One event line. */
struct event {
	enum event_kind kind;
	struct str detail; /* raw JSON object */
};

struct event_queue {
	struct queued_event *first, *last, *taken;
	size_t count, bytes;
	uint64_t dropped;
};

/* Queues an event; detail, a raw JSON object, is copied. */
void events_push(struct event_queue *q, enum event_kind kind, struct str detail);
/* The same for a detail written to a capped buffer: if it did not fit, it is replaced by
   {"detail_too_large":true}. */
void events_push_json(struct event_queue *q, enum event_kind kind, const struct buf *detail);
/* The same for a detail from a template of jw_pack. */
void events_pack(struct event_queue *q, enum event_kind kind, const char *form, ...);
/* Removes the oldest event, whose slices are valid until the next call; false if there is
   none. */
bool events_take(struct event_queue *q, struct event *out);
void events_release(struct event_queue *q);
