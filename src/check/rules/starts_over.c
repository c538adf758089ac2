/* Rule starts-over: calls get their first reply again, although others had moved the environment. */
#include "base/hash.h"
#include "base/text.h"
#include "check/rule.h"

#define STEPS_MAX 4096 /* steps that are kept, 32 bytes each */

struct kept_step {
	uint64_t call, reply, before; /* hashes; of the state before it: 0 unknown */
	bool comparable;              /* an answered call that acts, whose reply has a number */
};

struct starts_over {
	struct kept_step *steps;
	size_t count;
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct starts_over *s = state;
	struct str reply = m->line->value[KEY_OBSERVATION], before = line_state_hash(m->line);
	bool acts = m->line->outcome == OUTCOME_OK && !m->idle && !m->outside_episode;

	if (s->count == STEPS_MAX)
		return;
	s->steps = arena_grow(r->arena, s->steps, s->count, sizeof(*s->steps));
	s->steps[s->count++] = (struct kept_step){.call = m->call,
	                                          .reply = fingerprint(reply),
	                                          .before = before.n ? fingerprint(before) : 0,
	                                          .comparable = acts && text_has_digit(reply)};
}

/* The previous step with the same call before step `at`; -1: none. */
static int64_t earlier(const struct starts_over *s, size_t at)
{
	for (size_t i = at; i-- > 0 && at - i <= 64;)
		if (s->steps[i].call == s->steps[at].call && s->steps[i].comparable)
			return (int64_t)i;
	return -1;
}

static bool moved_between(const struct rollout_facts *r, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++) {
		if (r->completed[i].effect == EFFECT_CHANGED &&
		    r->completed[i].call != r->completed[to].call) {
			return true;
		}
	}
	return false;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct starts_over *s = state;
	struct span again = {.count = 0};
	int64_t repeats = 0;

	for (size_t i = 0; i < s->count && (int64_t)s->count == r->steps; i++) {
		int64_t first = s->steps[i].comparable ? earlier(s, i) : -1;
		const struct kept_step *a = first >= 0 ? &s->steps[first] : NULL;

		if (!a || !a->before || !s->steps[i].before || a->before == s->steps[i].before ||
		    !moved_between(r, (size_t)first, i)) {
			continue;
		}
		repeats++;
		if (a->reply == s->steps[i].reply)
			span_add(&again, r->completed[i].turn, r->completed[i].step);
	}
	if (again.count >= REPEATS && again.count == repeats) {
		finding_add(out, SEVERITY_WARNING, &again, "/observation",
		            "%" PRId64 " of %" PRId64 " repeated calls got exactly their earlier "
		            "reply, although the state before them was another: as if the "
		            "environment were rebuilt for each call",
		            again.count, repeats);
	}
}

const struct check check_starts_over = {
	.id = "starts-over",
	.title = "repeated calls get their earlier reply, although others moved the state",
	.severity = SEVERITY_WARNING,
	.explains = {&check_loop},
	.more = "rolldbg probe \1env\2 URL",
	.why = "A call, another one that changed the state, and the first call again: it got "
	       "exactly its earlier reply, although the state was another; at every such repeat, "
	       "three times or more. An environment that is rebuilt for each call replies like "
	       "that.\n"
	       "Look at it by experiment: rolldbg probe sends each call alone in a fresh session "
	       "(property history).\n"
	       "Fix: keep one environment per session, and send the same session id with every "
	       "call.",
	.needs = FACT(STATE) | FACT(OBSERVATION),
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct starts_over),
	.line = line,
	.end = end,
};
