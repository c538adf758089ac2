/* There is a state to compare before and after each call, it says more than who and how
   often, and calls move it. */
#include "probe/inside.h"

static size_t count_changes(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->act_count; i++) {
		n += p->acts[i].changed;
	}
	return n;
}

static bool was_known(const struct probe *p)
{
	for (size_t i = 0; i < p->act_count; i++) {
		if (p->acts[i].known) {
			return true;
		}
	}
	return false;
}

/* Answers moved, in what they say of the state, while that stood still. */
static bool answers_moved(const struct probe *p)
{
	const char *last = NULL;

	for (size_t i = 0; i < p->act_count; i++) {
		const struct answer *a = &p->acts[i].answer;

		if (a->outcome != OUTCOME_OK || !a->shows) {
			continue;
		}
		if (last && strcmp(last, a->shown) != 0) {
			return true;
		}
		last = a->shown;
	}
	return false;
}

static void judge_moves(const struct probe *p, unsigned saw, struct property *out)
{
	size_t changes = count_changes(p), ok = probe_ok_acts(p);
	bool counted = probe_count_after_acts(p) > 1;

	if (changes && (saw & SAW_BARE_STATE)) {
		property_judge(out, PROPERTY_UNKNOWN, "%s", p->state_kind);
		property_saw(out, "the server's state holds nothing but episode_id and "
		                  "step_count: only observations tell a change");
		property_advise(out, "let the environment's State carry what the actions "
		                     "change");
	} else if (changes) {
		property_judge(out, PROPERTY_OK, "%s", p->state_kind);
		property_saw(out, "%zu of %zu call%s changed it", changes, p->act_count,
		             plural(p->act_count));
	} else if (ok > 1 && counted && answers_moved(p)) {
		property_judge(out, PROPERTY_RED, "%s, never moves", p->state_kind);
		property_saw(out,
		             "steps were counted and answers differed, and the state "
		             "stayed the same");
		property_advise(out, "name another source with --state");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "%s", p->state_kind);
		property_saw(out, "%s", p->no_acts ? p->no_acts : "no call changed it");
	}
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	unsigned saw = p->sessions[0].saw;
	const struct moment *start = &p->sessions[0].start;

	(void)err;
	if (!p->opened) {
		property_judge(out, PROPERTY_UNKNOWN, "not seen");
		property_saw(out, "%s", p->no_acts);
	} else if (!strcmp(p->state_kind, "none")) {
		property_judge(out, PROPERTY_UNKNOWN, "none");
		property_saw(out, "whether a call did anything cannot be seen");
		property_advise(out, "name one with --state: resource:URI, tool:NAME or "
		                     "observation");
	} else if (saw & SAW_SOURCE_LOST) {
		property_judge(out, PROPERTY_RED, "%s, of somebody else", p->state_kind);
		property_saw(out, "it did not count a call that succeeded");
		property_advise(out, "calls and state have to reach the same session");
	} else if (p->restless) {
		property_judge(out, PROPERTY_UNKNOWN, "%s, moves by itself",
		               p->state_kind);
		property_saw(out, "two looks without a call in between differ");
		property_advise(out, "leave out what moves: --ignore POINTER");
	} else if (!start->known && !was_known(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "%s, not read", p->state_kind);
		const char *why = p->sessions[0].unread;

		property_saw(out, "it could not be read%s%s", *why ? ": " : "", why);
		property_advise(out, "see the server's own log, or name another source "
		                     "with --state");
	} else {
		judge_moves(p, saw, out);
	}
	return 0;
}

const struct property_ops property_state_source = {examine};
