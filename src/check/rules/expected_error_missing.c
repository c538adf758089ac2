/* Rule expected-error-missing: an expected error did not occur. */
#include "base/text.h"
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	for (size_t i = 0; i < r->expected_count; i++) {
		struct str one = str_from(r->expected[i]);
		int64_t turn;
		char pattern[ERROR_TEXT];

		if (r->expected_came[i])
			continue;
		if (text_i64(one, &turn)) {
			struct span where = {0};

			span_add(&where, turn, -1);
			finding_add(out, SEVERITY_ERROR, &where, "/outcome",
			            turn > r->last_turn
			                    ? "an error was expected in this turn, but the "
			                      "rollout has no such turn"
			                    : "an error was expected in this turn, but none "
			                      "occurred");
			continue;
		}
		peer_name(r->work, one, pattern, sizeof(pattern));
		finding_add(out, SEVERITY_ERROR, NULL, "/error/message",
		            "an error was expected, but none of %" PRId64 " steps failed "
		            "with: %s",
		            r->steps, pattern);
	}
}

const struct check check_expected_error_missing = {
	.id = "expected-error-missing",
	.title = "an error named by \1expect_error\2 did not occur",
	.severity = SEVERITY_ERROR,
	.why = "In a negative test a step must fail: if it succeeds or is never reached, the "
	       "test has shown nothing. Each \1expect_error\2 must match at least once in every "
	       "rollout.\n"
	       "Look at the turn that should fail: did it succeed, did the rollout end before "
	       "it, or is the message different now?\n"
	       "Fix: make the environment refuse the step again, or adjust the turn or the "
	       "pattern ('*' matches any text). Check rollouts that are not meant to fail "
	       "without \1expect_error\2.",
	.end = end,
};
