/* --update, --accept and --review: see accept.h. */
#include "cmd/accept.h"

#include "cmd/review.h"

#define FIELD(f) offsetof(struct accept_options, f)

static const struct opt rows[] = {
	OPT_CHOICE(
		0, "update", OPT_NEVER + OPT_COMMON, "WHAT", "none|new|all", FIELD(update),
		"none: write nothing; new: record the golden of each of the --tasks that has none, "
		"and write the new recording of a golden that differs to GOLDEN.new; all: "
		"replace it (default: new, or none if CI is set)"),
	OPT_FLAG(0, "accept", OPT_NEVER + OPT_COMMON, FIELD(accept), "same as --update all"),
	OPT_FLAG(0, "review", OPT_HARMLESS + OPT_COMMON, FIELD(review),
                 "on a terminal, ask for each rollout that differs whether to accept, reject or "
                 "skip it"),
};
const struct option_group accept_group = {rows, ARRAY_LEN(rows), NULL};

static bool is_in_ci(const struct context *c)
{
	const char *ci = c->variable("CI");

	return ci && *ci && strcmp(ci, "0") != 0 && strcmp(ci, "false") != 0;
}

static enum update update_of(const char *word)
{
	return !strcmp(word, "none") ? UPDATE_NONE : !strcmp(word, "all") ? UPDATE_ALL : UPDATE_NEW;
}

int accept_choose(const struct accept_options *o, const struct context *c, enum update *out,
                  struct error *err)
{
	if (o->accept + o->review + !!o->update > 1) {
		return error_set(err, FAIL_USAGE,
		                 "--accept, --review and --update: give only one of them");
	}
	if (o->review) {
		*out = UPDATE_REVIEW;
		return review_possible(err);
	}
	*out = o->accept     ? UPDATE_ALL
	       : o->update   ? update_of(o->update)
	       : is_in_ci(c) ? UPDATE_NONE
	                     : UPDATE_NEW;
	return 0;
}
