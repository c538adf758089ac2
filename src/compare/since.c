/* Counts the last steps of a rollout: see since.h. */
#include "compare/since.h"

#include "facts/facts.h"

struct since_counting {
	struct facts *facts;
	int64_t from;
	struct since *out;
};

static void add(struct since_counting *c, const struct line *l)
{
	struct facts_update u;
	struct error ignored; /* lines that facts_line rejects are not counted */

	if (!l->text.p || facts_line(c->facts, l, NULL, &u, &ignored)) {
		return;
	}
	if (u.completed && u.completed->step >= c->from) {
		c->out->effective += u.completed->effect == EFFECT_CHANGED;
		c->out->unknown += u.completed->effect == EFFECT_UNKNOWN;
	}
	if (u.derived.is_step && l->step >= c->from) {
		c->out->calls++;
		c->out->ok += l->outcome == OUTCOME_OK;
	}
}

void since_step(const struct rollout_copy *r, int64_t step, struct since *out)
{
	struct since_counting c = {facts_new(&(struct facts_conf){.lenient = true}), step, out};

	*out = (struct since){.calls = 0};
	add(&c, &r->header);
	add(&c, &r->reset);
	for (size_t i = 0; i < r->count; i++) {
		add(&c, &r->steps[i]);
	}
	add(&c, &r->end);
	facts_free(c.facts);
}
