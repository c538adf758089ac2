/* Counts the last steps of a rollout: see since.h. */
#include "compare/since.h"

#include "evidence/evidence.h"

struct since_counting {
	struct evidence *facts;
	int64_t from;
	struct since *out;
};

static void add_effects(struct since_counting *c, const struct rollout_facts *r)
{
	for (int64_t i = 0; i < r->steps; i++) {
		if (r->completed[i].step >= c->from) {
			c->out->effective += r->completed[i].effect == EFFECT_CHANGED;
			c->out->unknown += r->completed[i].effect == EFFECT_UNKNOWN;
		}
	}
}

static void add(struct since_counting *c, const struct line *l)
{
	struct evidence_update u;
	struct error ignored; /* lines that evidence_line rejects are not counted */

	if (!l->text.p || evidence_line(c->facts, l, NULL, &u, &ignored)) {
		return;
	}
	if (u.derived.is_step && l->step >= c->from) {
		c->out->calls++;
		c->out->ok += l->outcome == OUTCOME_OK;
	}
	if (u.end) {
		add_effects(c, u.rollout);
	}
}

void since_step(const struct rollout_copy *r, int64_t step, struct since *out)
{
	struct since_counting c = {evidence_new(&(struct evidence_conf){.lenient = true}), step,
	                           out};

	*out = (struct since){.calls = 0};
	add(&c, &r->header);
	add(&c, &r->reset);
	for (size_t i = 0; i < r->count; i++) {
		add(&c, &r->steps[i]);
	}
	add(&c, &r->end);
	struct evidence_update u;
	while (evidence_end_next(c.facts, &u)) {
		add_effects(&c, u.rollout);
	}
	evidence_free(c.facts);
}
