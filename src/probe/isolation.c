/* What one session does leaves the others alone: the others' states before and after the
   first one acted, and the number that the environment gives to each one's first step. */
#include "probe/inside.h"

#include <inttypes.h>

struct verdict {
	size_t moved;   /* sessions whose state moved with the first one's calls */
	size_t counted; /* sessions whose first step went on with the first one's count */
	size_t apart;   /* sessions shown to be apart */
	size_t example; /* one of those that are not */
	size_t same_ids; /* sessions with the first one's environment id */
};

static void weigh(const struct probe *p, size_t i, bool first_moved, int64_t first_count,
                  struct verdict *v)
{
	const struct visit *visit = &p->visits[i];
	const struct session *s = &p->sessions[i], *first = &p->sessions[0];
	int64_t own = visit->acted ? visit->answer.env_steps : -1;
	bool looked = visit->looked && first_moved && !p->restless;
	bool moved = looked && visit->moved;
	bool counted = first_count > 0 && own > first_count;

	v->moved += moved;
	v->counted += counted;
	v->same_ids += s->ids[1][0] && !strcmp(s->ids[1], first->ids[1]);
	v->example = !v->example && (moved || counted) ? i : v->example;
	v->apart += !moved && !counted &&
	            ((looked && !visit->moved) || (first_count > 0 && own == 1));
}

static void say_shared(const struct probe *p, const struct verdict *v,
                       struct property *out)
{
	size_t i = v->example;
	const struct session *s = &p->sessions[i];

	property_judge(out, PROPERTY_RED, "shared");
	if (v->moved) {
		property_saw(out,
		             "only session 1 acted, and the state of session %zu "
		             "changed%s%s%s%s",
		             i + 1, s->start.json.n && s->later.json.n ? " from " : "",
		             buf_cstr(&s->start.json),
		             s->start.json.n && s->later.json.n ? " to " : "",
		             buf_cstr(&s->later.json));
	}
	if (v->counted) {
		property_saw(out,
		             "the first step of session %zu was counted as number "
		             "%" PRId64,
		             i + 1, p->visits[i].answer.env_steps);
	}
	if (v->same_ids) {
		property_saw(out, "%zu sessions are in environment %s", v->same_ids + 1,
		             s->ids[1]);
	}
	property_advise(out,
	                "make an environment for each session: a class or a factory, "
	                "not an instance; no module-level state");
}

static void say_apart(const struct probe *p, const struct verdict *v,
                      struct property *out)
{
	size_t others = p->opened - 1;

	if (v->apart == others) {
		property_judge(out, PROPERTY_OK, "%zu apart", p->opened);
		property_saw(out, "session 1 acted, and the other%s stayed as %s",
		             plural(others), others == 1 ? "it was" : "they were");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "cannot be told");
		property_saw(out, "%s",
		             p->no_acts       ? p->no_acts
		             : p->restless    ? "the state moves without any call"
		             : !p->good_count ? "no call succeeded"
		             : p->opened > 1 && !p->visits[1].looked
		                     ? "the sessions' states are not known, and their "
		                       "steps are not counted"
		                     : "no call of session 1 changed anything");
	}
	if (v->same_ids) {
		property_saw(out, "but %zu sessions name the same environment, %s",
		             v->same_ids + 1, p->sessions[0].ids[1]);
	}
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct verdict v = {0};
	int64_t count = probe_counts(p) ? probe_count_after_acts(p) : -1;

	(void)err;
	if (p->opened < 2) {
		property_judge(out, p->opened ? PROPERTY_SKIPPED : PROPERTY_UNKNOWN, "%s",
		               p->opened ? "one session" : "not tried");
		property_saw(out, "%s",
		             p->opened ? "it takes two at a time" : p->no_acts);
		return 0;
	}
	for (size_t i = 1; i < p->opened; i++) {
		weigh(p, i, p->changer < ACTS_MAX, count, &v);
	}
	p->shared = v.moved || v.counted;
	if (p->shared) {
		say_shared(p, &v, out);
	} else {
		say_apart(p, &v, out);
	}
	return 0;
}

const struct property_ops property_isolation = {examine};
