/* Events: what happened beside the answers. An adapter or a policy puts them in a queue,
 * the rollout takes them out and records them. */
#ifndef ROLLDBG_TRAJECTORY_EVENTS_H
#define ROLLDBG_TRAJECTORY_EVENTS_H

#include "base/buf.h"

/* A peer that chatters more between two steps gets one `noise` event for the rest; what
   is no chatter finds as much room again behind it. */
#define EVENTS_MAX       256
#define EVENTS_MAX_BYTES (2 * BUF_MAX_MESSAGE)

/* The detail of `retry`. */
#define EVENTS_RETRY "{\"why\":\"the reused connection was dead; sent once more\"}"

/* One event line. */
struct event {
	const char *name;  /* an event's word: see keys.def */
	struct str detail; /* raw JSON object */
};

struct event_queue {
	struct queued_event *first, *last, *taken;
	size_t count, bytes;
	uint64_t dropped;
};

/* detail: a raw JSON object, copied. */
void events_push(struct event_queue *q, const char *name, struct str detail);
/* The same for a detail that was written into a capped buffer: one that did not fit is
   replaced by {"detail_too_large":true}. */
void events_push_json(struct event_queue *q, const char *name, const struct buf *detail);
/* The oldest one, whose slices live until the next is taken; false: there is none. */
bool events_take(struct event_queue *q, struct event *out);
void events_release(struct event_queue *q);

#endif
