/* A queue of what happened beside the answers: an adapter puts in, the rollout takes out
 * and records. */
#ifndef ROLLDBG_ENV_EVENTS_H
#define ROLLDBG_ENV_EVENTS_H

#include "env/env.h"

#define EVENTS_MAX                                                                       \
	256 /* a peer that chatters more between two steps gets one `noise` event for    \
	       the rest */

struct event_queue {
	struct queued_event *first, *last, *taken;
	size_t count;
	uint64_t dropped;
};

/* detail: a raw JSON object, copied. */
void events_push(struct event_queue *q, const char *name, struct str detail);
bool events_take(struct event_queue *q, struct env_event *out);
void events_release(struct event_queue *q);

#endif
