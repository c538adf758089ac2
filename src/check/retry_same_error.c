/* Rule retry-same-error: the same call again, and the same refusal again. */
#include "check/peer.h"

#include <inttypes.h>

struct retry {
	char key[HASH_HEX + 1]; /* of the last failed step */
	struct span span;       /* steps in a row with that key */
	char tool[64], error[ERROR_TEXT];
};

static void say(struct retry *s, struct findings *out)
{
	if (s->span.count >= 2)
		finding_say(out, s->span.count >= 3 ? SEVERITY_ERROR : SEVERITY_WARNING,
		            &s->span, "/tool_call",
		            "%s was called %" PRId64
		            " times in a row with the same arguments and got the same "
		            "error: %s",
		            s->tool[0] ? s->tool : "a tool without a name", s->span.count,
		            s->error);
	s->span.count = 0;
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	struct retry *s = state;
	if (m->after_terminal)
		return;
	char key[HASH_HEX + 1];
	peer_failure_key(r->work, m, key);
	if (r->failed_run == 1 || memcmp(key, s->key, sizeof(key)) != 0) {
		say(s, out);
		memcpy(s->key, key, sizeof(key));
		peer_name(r->work, m->tool_name, s->tool, sizeof(s->tool));
		peer_error(r->work, m->line, s->error);
	}
	span_add(&s->span, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	say(state, out);
}

const struct check check_retry_same_error = {
	.id = "retry-same-error",
	.title = "the same failing call was repeated and failed the same way",
	.why = "The same tool was called with the same arguments twice or more in a "
	       "row and answered with the same error each time (numbers and ids in "
	       "it apart). Once is exploration; three times is a policy that does "
	       "not see, or does not read, the error: then this is an error.\n"
	       "Look at the messages of these turns: does the error text reach the "
	       "prompt at all, or does a client hand over an empty observation? For "
	       "a script, look at on_error.\n"
	       "Cure: hand the error text to the model, stop after some equal "
	       "errors, or mend the arguments that the tool's schema asks for.",
	.wants = WANT_FAILED,
	.state_size = sizeof(struct retry),
	.line = line,
	.end = end,
};
