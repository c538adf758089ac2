/* Rule retry-same-error: the same call failed repeatedly with the same error. */
#include "check/rule.h"
#include "evidence/call.h"

/* Longer errors are compared only by the hash of their masked text. */
#define KEPT_MAX 2048

struct retry {
	uint64_t call; /* of the last failed step */
	char *kept;    /* its error, in the rollout's arena, if it is short enough */
	size_t kept_n;
	uint64_t masked; /* hash of its masked text otherwise */
	bool is_long;
	struct span span; /* consecutive steps with that call and error */
	char tool[64], error[ERROR_TEXT];
};

static void store_error(struct retry *s, const struct rollout_facts *r, struct str value)
{
	s->is_long = value.n > KEPT_MAX;
	if (s->is_long) {
		s->masked = peer_masked(r->work, value);
		return;
	}
	if (!s->kept)
		s->kept = arena_new(r->arena, KEPT_MAX);
	s->kept_n = value.n;
	if (value.n)
		memcpy(s->kept, value.p, value.n);
}

static bool is_same_error(const struct retry *s, struct workspace *w, struct str value)
{
	const struct str kept = {s->kept, s->kept_n};

	if (!s->is_long && str_eq(kept, value))
		return true;
	uint64_t before = s->is_long ? s->masked : peer_masked(w, kept);
	return peer_masked(w, value) == before;
}

static void report(struct retry *s, struct findings *out)
{
	if (s->span.count >= 2) {
		finding_add(out, s->span.count >= 3 ? SEVERITY_ERROR : SEVERITY_WARNING, &s->span,
		            "/tool_call",
		            "%s was called %" PRId64
		            " times in a row with the same arguments and got the same error: %s",
		            s->tool, s->span.count, s->error);
	}
	s->span.count = 0;
}

static void find(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	struct retry *s = state;

	if (m->outside_episode)
		return;
	uint64_t call = call_hash(r->work, m);
	struct str value = peer_error_value(m->line);
	/* steps that failed as expected are not passed to the rule, but end the row */
	bool known = !json_is_null(m->arguments); /* unknown ones may differ */
	bool same = known && s->span.count > 0 && m->line->step == s->span.last_step + 1 &&
	            call == s->call && is_same_error(s, r->work, value);
	if (!same) {
		report(s, out);
		s->call = call;
		store_error(s, r, value);
	}
	span_add(&s->span, m->line->turn, m->line->step);
	if (s->span.count == 2) {
		peer_tool(r->work, m, s->tool, sizeof(s->tool));
		peer_error(r->work, m->line, s->error);
	}
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	report(state, out);
}

const struct check check_retry_same_error = {
	.id = "retry-same-error",
	.title = "the same failing call was repeated and failed the same way",
	.severity = SEVERITY_WARNING,
	.raised = "the call was repeated three times or more",
	.why = "The same tool was called with the same arguments two or more times in a row and "
	       "returned the same error each time (numbers and ids are not compared). One retry is "
	       "normal; three calls mean that the policy does not see, or does not read, the "
	       "error, so this becomes an error.\n"
	       "Look at the messages of these turns: does the error text reach the prompt, or does "
	       "a client pass on an empty observation? For a script, look at on_error.\n"
	       "Fix: pass the error text to the model, stop after several identical errors, or "
	       "correct the arguments to match the tool's schema.",
	.wants = KIND_FAILED,
	.state_size = sizeof(struct retry),
	.find = find,
	.end = end,
};
