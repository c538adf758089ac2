/* Rule starts-over: repeated calls get their first reply again, as if each call had a new
   environment. */
#include "check/check.h"

#include "facts/call.h"
#include "facts/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>

/* Number of different calls remembered; with more of them there is no finding. */
#define CALLS_MAX 64

/* The hash of a state whose members are all ignored: it shows nothing. */
#define HASH_OF_NOTHING "44136fa355b3678a1146ad16f7e8649e"

/* One call, and its first reply. */
struct first_reply {
	uint64_t call, reply;
	bool repeated;
};

/* Steps whose state is unknown or shows nothing. */
struct first_replies {
	struct first_reply list[CALLS_MAX];
	size_t count;
	bool too_many;
	int64_t calls, repeats, same;
};

struct starts_over {
	struct span calls;             /* calls answered ok, of tools not known to be read-only */
	struct first_replies *replies; /* in the rollout's arena; NULL while the state is known */
};

static void note_reply(struct first_replies *a, uint64_t call, uint64_t reply)
{
	size_t i = 0;

	a->calls++;
	while (i < a->count && a->list[i].call != call) {
		i++;
	}
	if (i < a->count) {
		a->list[i].repeated = true;
		a->repeats++;
		a->same += a->list[i].reply == reply;
	} else if (i < CALLS_MAX) {
		a->list[a->count++] = (struct first_reply){call, reply, false};
	} else {
		a->too_many = true;
	}
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct starts_over *s = state;
	/* if the observation is the state, a restarted environment seems to change */
	bool judged = line_has(m->line, KEY_STATE_HASH) && r->source != SOURCE_OBSERVATION &&
	              !str_is(json_inner(m->line->value[KEY_STATE_HASH]), HASH_OF_NOTHING);
	if (m->outside_episode || m->idle) {
		return;
	}
	span_add(&s->calls, m->line->turn, m->line->step);
	if (judged || (s->replies && s->replies->too_many)) {
		return;
	}
	if (!s->replies) {
		s->replies = arena_new(r->arena, sizeof(*s->replies));
	}
	note_reply(s->replies, call_hash(r->work, m), fingerprint(m->line->value[KEY_OBSERVATION]));
}

static bool replies_differ(const struct first_replies *a)
{
	for (size_t i = 1; i < a->count; i++) {
		if (a->list[i].reply != a->list[0].reply) {
			return true;
		}
	}
	return false;
}

static bool all_repeated(const struct first_replies *a)
{
	for (size_t i = 0; i < a->count; i++) {
		if (!a->list[i].repeated) {
			return false;
		}
	}
	return true;
}

/* Two calls got different replies, and repeats got the first one. If the environment's own count
   does not change, it is enough that every repeated call got its first reply again; otherwise
   every call must have been repeated. */
static bool is_starting_over(const struct first_replies *a, bool still)
{
	if (!a || a->too_many || a->calls < 4 || a->count < 2 || !replies_differ(a)) {
		return false;
	}
	return still ? a->repeats > 0 && a->same == a->repeats
	             : all_repeated(a) && 2 * a->same > a->repeats;
}

static const char *why_unknown(const struct rollout_facts *r)
{
	switch (r->movement) {
	case MOVEMENT_SEEN:
		return "the state is the observation itself";
	case MOVEMENT_UNSHOWN:
		return "the state shows nothing";
	default:
		return "the state is unknown";
	}
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct starts_over *s = state;
	const struct first_replies *a = s->replies;
	bool still = r->env_count.reported >= 2 && !r->env_count.moved;
	char count[96] = "";

	if ((r->movement == MOVEMENT_SEEN && r->source != SOURCE_OBSERVATION) ||
	    r->movement == MOVEMENT_IGNORED || r->movement == MOVEMENT_NONE) {
		return;
	}
	if (a && a->too_many) {
		rule_not_judged(out);
	}
	if (!is_starting_over(a, still)) {
		return;
	}
	if (still) {
		snprintf(count, sizeof(count),
		         "; the environment's own step count stayed at %" PRId64, r->env_count.now);
	} else if (r->env_count.reported >= 2) {
		snprintf(count, sizeof(count),
		         "; the environment's own step count went from %" PRId64 " to %" PRId64,
		         r->env_count.first, r->env_count.now);
	}
	finding_add(out, still ? SEVERITY_ERROR : SEVERITY_WARNING, &s->calls, "/observation",
	            "%" PRId64 " of %" PRId64 " repeats of %zu different calls got exactly their "
	            "first reply again, as if the environment were recreated for each call; %s%s",
	            a->same, a->repeats, a->count, why_unknown(r), count);
}

const struct check check_starts_over = {
	.id = "starts-over",
	.title = "repeated calls get their first reply again, as if each had a new environment",
	.severity = SEVERITY_WARNING,
	.raised = "the environment's own step count does not change",
	.explains = {&check_loop},
	.why = "The state is unknown or shows nothing, but repeated calls get the same reply "
	       "as the first time, while different calls get different ones. An environment "
	       "that is recreated for each call replies like that: the session is lost on "
	       "the way, without an error. If the environment's own step count does not "
	       "change either, this is an error.\n"
	       "Look at the session ids in meta, and at what a proxy does with the session "
	       "header.\n"
	       "Fix: send the same session id with every call of the rollout, through every "
	       "component in between.",
	.wants = KIND_OK,
	.state_size = sizeof(struct starts_over),
	.line = line,
	.end = end,
};
