/* Closed sessions give their room back: after the last one is closed, as many are opened
   again. */
#include "probe/inside.h"

#include <inttypes.h>

/* Where room is refused to calls alone, a session has it once its call was not. */
static int try_call(struct probe *p, struct session *s, bool *got, struct error *err)
{
	const struct act *act = p->good_count ? probe_good(p, 0) : NULL;
	struct answer a;

	if (!p->step_refused || !act) {
		return 0;
	}
	if (session_step(&p->asking, s, act->name, act->arguments, &a, err)) {
		return -1;
	}
	*got = a.outcome != OUTCOME_CAPACITY;
	return 0;
}

static int admit(struct probe *p, struct session *s, uint64_t deadline_ns, bool *got,
                 struct error *err)
{
	bool late = false;

	do {
		late = io_now_ns(p->conf->io) >= deadline_ns;
		if (probe_reopen(p, s, NULL, deadline_ns, err)) {
			return -1;
		}
		*got = session_is_open(s);
		if (!*got) {
			return 0;
		}
		if (try_call(p, s, got, err) || (!*got && probe_pause(p, 100, err))) {
			return -1;
		}
	} while (!*got && !late);
	return 0;
}

static void say_leak(const struct probe *p, size_t back, const struct session *s,
                     struct property *out)
{
	property_judge(out, PROPERTY_RED, "%zu of %zu came back", back, p->got_room);
	property_saw(out,
	             "%" PRIu64 " ms after the others were closed a session is "
	             "still refused",
	             p->conf->settle_ms);
	property_quote(out, &s->last);
	property_advise(out, "the server has to end an environment when its session "
	                     "ends; until it is restarted the room is lost");
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	uint64_t began = io_now_ns(p->conf->io);
	uint64_t deadline = probe_settle_deadline(p);
	size_t back = 0;
	bool got = true;

	probe_close_sessions(p);
	if (!p->got_room) {
		property_judge(out, PROPERTY_UNKNOWN, "not tried");
		property_saw(out, "%s",
		             p->opened ? "there are no sessions to speak of"
		                       : "no session was opened");
		return 0;
	}
	while (got && back < p->got_room) {
		if (admit(p, &p->sessions[back], deadline, &got, err)) {
			return -1;
		}
		back += got;
	}
	uint64_t took_ms = (io_now_ns(p->conf->io) - began) / 1000000;
	const struct session *last = &p->sessions[got ? 0 : back];
	if (!got && (last->how == SESSION_LOST || last->how == SESSION_LATE)) {
		property_judge(out, PROPERTY_UNKNOWN, "no answer");
		property_quote(out, &last->last);
	} else if (!got) {
		say_leak(p, back, last, out);
	} else {
		property_judge(out, p->limited ? PROPERTY_OK : PROPERTY_UNKNOWN,
		               p->limited ? "all %zu came back" : "%zu again", back);
		property_saw(out, "opened again within %" PRIu64 " ms", took_ms);
		if (!p->limited) {
			property_saw(out, "the server's limit was not met, and only at "
			                  "its limit a leak shows");
		}
	}
	probe_close_sessions(p);
	return 0;
}

const struct property_ops property_release = {examine};
