/* The queue of events: order, and details that are too large. */
#include "env/env.h"
#include "recording/events.h"
#include "tap.h"

static bool next_is(struct event_queue *q, enum event_kind kind, const char *detail)
{
	struct event e;

	return events_take(q, &e) && e.kind == kind && str_is(e.detail, detail);
}

static void test_order(void)
{
	struct event_queue q = {0};

	events_push(&q, EVENT_NOISE, STR("{\"a\":1}"));
	events_push(&q, EVENT_RETRY, STR(EVENTS_RETRY));
	ok(next_is(&q, EVENT_NOISE, "{\"a\":1}"), "first in, first out");
	ok(next_is(&q, EVENT_RETRY, EVENTS_RETRY), "and then the next");
	events_release(&q);
}

static void test_full(void)
{
	struct event_queue q = {0};
	struct buf fits = BUF(16), full = BUF(16);

	buf_text(&fits, "{\"a\":1}");
	buf_text(&full, "{\"a\":");
	buf_text(&full, "\"a text that is too long\"}");
	events_push_json(&q, EVENT_NOISE, &fits);
	events_push_json(&q, EVENT_NOISE, &full);
	ok(next_is(&q, EVENT_NOISE, "{\"a\":1}"), "a detail that fits stays as it is");
	ok(next_is(&q, EVENT_NOISE, "{\"detail_too_large\":true}"),
	   "one that does not is still JSON");
	buf_release(&fits);
	buf_release(&full);
	events_release(&q);
}

static void test_many_events(void)
{
	struct event_queue q = {0};
	struct event e;
	char dropped[64];
	int noise = 0;

	for (int i = 0; i < EVENTS_MAX + 10; i++)
		events_push(&q, EVENT_NOISE, STR("{}"));
	events_push(&q, EVENT_SESSION_REPLACED, STR("{\"b\":2}"));
	while (events_take(&q, &e) && e.kind == EVENT_NOISE)
		noise++;
	is_int(noise, EVENTS_MAX, "chatter has an end");
	is_int(e.kind, EVENT_SESSION_REPLACED, "and room for important events after it");
	snprintf(dropped, sizeof(dropped), "{\"events_dropped\":%d}", 10);
	ok(next_is(&q, EVENT_NOISE, dropped), "dropped events are counted");
	events_release(&q);
}

int main(void)
{
	test_order();
	test_many_events();
	test_full();
	return done();
}
