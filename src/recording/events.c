/* The event queue: see events.h. */
#include "recording/events.h"

#include "base/mem.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

struct queued_event {
	struct queued_event *next;
	enum event_kind kind;
	char *detail;
	size_t detail_bytes;
};

static void put(struct event_queue *q, enum event_kind kind, struct str detail)
{
	struct queued_event *e = mem_new(sizeof(*e));

	e->kind = kind;
	e->detail = mem_text(detail);
	e->detail_bytes = detail.n;
	*(q->last ? &q->last->next : &q->first) = e;
	q->last = e;
	q->count++;
	q->bytes += detail.n;
}

/* Events that a server can cause in any number. The others record our own actions, and verdicts
   depend on them. */
static bool is_unlimited(enum event_kind kind)
{
	return kind == EVENT_NOISE || kind == EVENT_NOTIFICATION || kind == EVENT_LATE_REPLY ||
	       kind == EVENT_RECONNECTED || kind == EVENT_RETRY;
}

void events_push(struct event_queue *q, enum event_kind kind, struct str detail)
{
	size_t share = is_unlimited(kind) ? 1 : 2;

	if (q->count < share * EVENTS_MAX && q->bytes + detail.n <= share * EVENTS_MAX_BYTES)
		put(q, kind, detail);
	else
		q->dropped++;
}

void events_push_json(struct event_queue *q, enum event_kind kind, const struct buf *detail)
{
	events_push(q, kind, detail->full ? STR("{\"detail_too_large\":true}") : buf_view(detail));
}

void events_pack(struct event_queue *q, enum event_kind kind, const char *form, ...)
{
	AUTO_BUF detail = BUF(EVENTS_MAX_BYTES);
	va_list args;

	va_start(args, form);
	json_vpack(&detail, form, args);
	va_end(args);
	events_push_json(q, kind, &detail);
}

static void free_event(struct queued_event *e)
{
	if (e) {
		free(e->detail);
		free(e);
	}
}

bool events_take(struct event_queue *q, struct event *out)
{
	free_event(q->taken);
	q->taken = q->first;
	if (!q->taken && q->dropped) {
		char detail[64];

		snprintf(detail, sizeof(detail), "{\"events_dropped\":%llu}",
		         (unsigned long long)q->dropped);
		q->dropped = 0;
		put(q, EVENT_NOISE, str_from(detail));
		q->taken = q->first;
	}
	if (!q->taken)
		return false;
	q->first = q->taken->next;
	q->last = q->first ? q->last : NULL;
	q->count--;
	q->bytes -= q->taken->detail_bytes;
	out->kind = q->taken->kind;
	out->detail = (struct str){q->taken->detail, q->taken->detail_bytes};
	return true;
}

void events_release(struct event_queue *q)
{
	struct event e;

	q->dropped = 0;
	while (events_take(q, &e)) {
	}
	free_event(q->taken);
	q->taken = NULL;
}
