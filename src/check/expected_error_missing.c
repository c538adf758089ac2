/* Rule expected-error-missing: an error that was to come did not. */
#include "base/text.h"
#include "check/peer.h"

#include <inttypes.h>

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)state, (void)m;
	for (size_t i = 0; i < r->expected_count; i++) {
		struct str one = str_from(r->expected[i]);
		int64_t turn;
		char pattern[ERROR_TEXT];
		if (r->expected_came[i])
			continue;
		if (text_i64(one, &turn)) {
			struct span where = {0};
			span_add(&where, turn, -1);
			finding_say(
				out, SEVERITY_ERROR, &where, "/outcome",
				turn > r->last_turn
					? "an error was expected here, but there is no "
					  "such turn"
					: "an error was expected here, and none came");
			continue;
		}
		peer_name(r->work, one, pattern, sizeof(pattern));
		finding_say(out, SEVERITY_ERROR, NULL, "/error/message",
		            "an error was expected, and none of %" PRId64
		            " steps failed like this: %s",
		            r->steps, pattern);
	}
}

const struct check check_expected_error_missing = {
	.id = "expected-error-missing",
	.title = "an error named by --expect-error did not come",
	.why = "A step that fails on purpose is the whole point of a negative test: "
	       "when it is answered ok, or is never reached, the test has shown "
	       "nothing. Each --expect-error has to be met at least once in every "
	       "rollout.\n"
	       "Look at the turn that was to fail: was it answered ok, did the "
	       "rollout end before it, or does the message read differently now?\n"
	       "Cure: make the environment refuse again what it must refuse; or "
	       "adapt the turn or the pattern ('*' stands for any text). Rollouts "
	       "that are not meant to fail are checked without --expect-error.",
	.end = end,
};
