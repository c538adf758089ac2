/* Rule incomplete: lines are missing, torn or run together. */
#include "check/check.h"

#include <inttypes.h>

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)state;
	int64_t said;
	const char *torn = r->torn ? ", and the file ends in half a line" : "";
	const struct span at = {r->last_turn, r->last_turn, -1, -1, r->last_turn >= 0};
	if (!m->line)
		finding_say(out, SEVERITY_ERROR, &at, "",
		            "no end line: the recording stops after %" PRId64
		            " lines and %" PRId64 " steps%s",
		            r->lines, r->steps, torn);
	else if (json_i64(m->line->value[KEY_LINES], &said) && said != r->lines)
		finding_say(out, SEVERITY_ERROR, NULL, "/lines",
		            "the end line counts %" PRId64 " lines, %" PRId64
		            " are there",
		            said, r->lines);
	if (r->fused > 0)
		finding_say(out, SEVERITY_ERROR, NULL, "",
		            "%" PRId64 " object%s not on a line of %s own", r->fused,
		            r->fused == 1 ? " is" : "s are",
		            r->fused == 1 ? "its" : "their");
}

const struct check check_incomplete = {
	.id = "incomplete",
	.title = "the recording lacks its end, or lines are torn, fused or missing",
	.why = "A whole recording has one object a line and ends with an `end` line "
	       "that counts them. Here the end is missing (the recorder was killed, "
	       "or the disk was full), half a line stands at the end of the file, "
	       "several objects share a line (two writers on one file, or a lost "
	       "line feed), or lines were lost or doubled after the fact.\n"
	       "Look at the last turn that is there and at how the recording was "
	       "copied, cut or joined. What was written before is intact and judged "
	       "as it stands; the last step's effect is unknown.\n"
	       "Cure: record again; give each writer its own file; do not use it as "
	       "a golden.",
	.end = end,
};
