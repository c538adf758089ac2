/* Rule stopped-moving: at first the environment changed and counted steps, then it did neither; or
   calls that changed it no longer do. */
#include "check/check.h"

#include "facts/fingerprint.h"
#include "facts/foreign_replies.h"
#include "facts/known_effects.h"
#include "facts/uncounted_calls.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS_MIN 3
/* steps that changed something before; fewer may be a pause, such as that of a motor */
#define CHANGED_MIN 3

struct stopped_moving {
	struct uncounted_calls uncounted;
	struct foreign_replies foreign;
	struct known_effects effects;
	int64_t changed; /* steps that changed something */
	uint64_t call;   /* the newest one */
	uint64_t state;  /* before it; 0: unknown, or the call need not change anything */
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)r, (void)out;
	struct stopped_moving *s = state;
	struct str hash = m->line->value[KEY_STATE_HASH];

	if (m->outside_episode) {
		return;
	}
	uncounted_calls_step(&s->uncounted, m);
	s->call = m->call;
	s->state = 0;
	if (!m->idle && s->effects.count < KNOWN_EFFECTS_MAX && json_type(hash) == JSON_STRING) {
		s->state = fingerprint(hash) | 1;
		foreign_replies_step(&s->foreign, m->call, m->line->value[KEY_OBSERVATION]);
	}
}

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	(void)out;
	struct stopped_moving *s = state;
	bool changed = p->effect == EFFECT_CHANGED;

	if (s->state && p->effect != EFFECT_UNKNOWN && !p->failed && !p->expected) {
		s->changed += changed;
		bool had_effect = !changed && s->foreign.newest_foreign &&
		                  known_effects_has(&s->effects, s->call);
		foreign_replies_effect(&s->foreign, p, had_effect);
		const struct known_effect effect = {s->state, s->call, changed, !changed};
		known_effects_add(&s->effects, r->arena, &effect, p->turn, p->step);
	}
	s->state = 0;
	uncounted_calls_effect(&s->uncounted, p);
}

static void report_foreign(const struct foreign_replies *f, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, &f->run, "/observation",
	            "the last %" PRId64 " calls succeeded but changed nothing, and their replies "
	            "have no member in common with those of calls that changed something: "
	            "something else replies in place of the environment",
	            f->run.count);
}

static void report_known(const struct known_effects *k, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, &k->still, "/state",
	            "the last %" PRId64 " calls succeeded but changed nothing, although %" PRId64
	            " of them had changed exactly this state before",
	            k->still.count, k->contradicted);
}

/* `all`: every different call that had been counted is among the last ones. */
static void report_uncounted(const struct uncounted_calls *u, bool all, struct findings *out)
{
	char calls[64] = "";

	if (all) {
		snprintf(calls, sizeof(calls),
		         "; each of the %zu different calls counted before was repeated",
		         u->call_count);
	}
	finding_add(out, all ? SEVERITY_ERROR : SEVERITY_WARNING, &u->run, "/env_steps",
	            "the last %" PRId64 " calls succeeded but changed nothing and were not "
	            "counted, unlike %" PRId64 " earlier ones: the environment's own step count "
	            "stayed at %" PRId64 "%s",
	            u->run.count, u->counted, u->count, calls);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct stopped_moving *s = state;
	const struct uncounted_calls *u = &s->uncounted;
	bool all = uncounted_calls_are_all(u);
	bool unrewarded = !r->reward_known || r->reward_sum <= 0;
	bool uncounted = u->run.count >= s->foreign.run.count && !u->resumed;

	if (r->movement != MOVEMENT_SEEN) {
		return;
	}
	if (!all && unrewarded && foreign_replies_took_over(&s->foreign, uncounted)) {
		report_foreign(&s->foreign, out);
	} else if (!all && unrewarded && s->changed >= CHANGED_MIN &&
	           known_effects_ended(&s->effects)) {
		report_known(&s->effects, out);
	} else if (u->run.count >= CALLS_MIN && !u->resumed) {
		report_uncounted(u, all, out);
	}
}

const struct check check_stopped_moving = {
	.id = "stopped-moving",
	.title = "at first the environment changed and counted steps, then it did neither",
	.severity = SEVERITY_WARNING,
	.raised = "every call that had been counted (at least two different ones) was repeated "
		  "without effect; or when no reward above zero was earned, and either the last "
		  "four or more replies have no member in common with those before, or two of the "
		  "last calls had changed the same state before",
	.explains = {&check_loop},
	.why = "Calls succeeded to the end, but from some turn on they no longer changed "
	       "anything. A server that closes idle environments may keep replying for them; "
	       "a proxy may reply from a cache; the environment may have ended the episode "
	       "without reporting it. A single call may have hit a wall, which some "
	       "environments do not count as a step; a wall does not block every call.\n"
	       "Look at the first call that was not counted, and at the server's log at that "
	       "time: an idle timeout, an episode limit, a restart.\n"
	       "Fix: raise the timeout or the limit; make the server refuse calls to a "
	       "closed environment.\n"
	       "Any of these is evidence:\n"
	       "- neither the state nor the environment's own step count changed any more, "
	       "although both had changed before;\n"
	       "- the last four or more replies have no member in common with those of calls "
	       "that changed something, no earlier reply was like them, and two of these "
	       "calls had changed something before (if the environment does not count them, "
	       "one such call, or equal replies, are enough): something else replies in "
	       "place of the environment;\n"
	       "- the last four or more calls changed nothing, although three had changed "
	       "something before, and two of the last ones had changed exactly this state. "
	       "That is no evidence if some call changed a state that it had left unchanged "
	       "before.",
	.wants = KIND_COMPLETED | KIND_OK,
	.state_size = sizeof(struct stopped_moving),
	.completed = completed,
	.line = line,
	.end = end,
};
