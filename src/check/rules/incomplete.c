/* Rule incomplete: lines are missing, torn or run together. */
#include "check/check.h"

#include <inttypes.h>

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)state;
	int64_t said;
	const char *torn = r->torn ? ", and the last line is truncated" : "";
	const struct span at = {r->last_turn, r->last_turn, -1, -1, r->last_turn >= 0};
	if (!m->line) {
		finding_say(out, SEVERITY_ERROR, &at, "",
		            "no end line: the recording stops after %" PRId64 " lines and %" PRId64
		            " steps%s",
		            r->lines, r->steps, torn);
	} else if (json_i64(m->line->value[KEY_LINES], &said) && said != r->lines) {
		finding_say(out, SEVERITY_ERROR, NULL, "/lines",
		            "the end line counts %" PRId64 " lines, but the recording has "
		            "%" PRId64,
		            said, r->lines);
	} else if (r->torn) { /* of another program: the end was made when it was read */
		finding_say(out, SEVERITY_ERROR, &at, "", "the last line of the file is truncated");
	}
	if (r->fused > 0) {
		finding_say(out, SEVERITY_ERROR, NULL, "",
		            "%" PRId64 " object%s not on %s own line", r->fused,
		            r->fused == 1 ? " is" : "s are", r->fused == 1 ? "its" : "their");
	}
}

const struct check check_incomplete = {
	.id = "incomplete",
	.title = "the recording has no end, or lines are truncated, merged or missing",
	.severity = SEVERITY_ERROR,
	.why = "A complete recording has one object per line and ends with an `end` line that "
	       "counts the lines. Here the end is missing (the recorder was killed, or the disk was "
	       "full), the last line is truncated, several objects share a line (two writers on one "
	       "file, or a lost line feed), or lines were lost or duplicated later.\n"
	       "Look at the last recorded turn and at how the recording was copied, cut or joined. "
	       "Everything written before is intact and is judged; the effect of the last step is "
	       "unknown.\n"
	       "Fix: record again, give each writer its own file, and do not use this file as a "
	       "golden.",
	.end = end,
};
