/* The first of two passes over a file: see effects_read.h. */
#include "evidence/effects_read.h"

#include "evidence/evidence.h"

struct effects_reading {
	struct evidence *evidence;
	struct effects *into;
};

static void take_effects(const struct effects_reading *r, const struct evidence_update *u)
{
	if (u->end)
		effects_add(r->into, u->rollout, u->end->instance);
}

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	const struct effects_reading *r = ctx;
	struct evidence_update u;

	if (evidence_end_unfinished(r->evidence, l, &u))
		take_effects(r, &u);
	if (evidence_line(r->evidence, l, note, &u, err))
		return -1;
	take_effects(r, &u);
	return 0;
}

struct effects *effects_read(struct reader *r, const struct hints *hints)
{
	struct evidence_conf conf = {.lenient = true};
	struct evidence_update u;
	struct error no_recording;

	conf.hints = hints ? *hints : conf.hints;
	struct effects_reading e = {evidence_new(&conf), effects_new()};
	/* whoever prints the recording says what is wrong with it */
	(void)!reader_each(r, take_line, &e, &no_recording);
	while (evidence_end_next(e.evidence, &u))
		take_effects(&e, &u);
	evidence_free(e.evidence);
	return e.into;
}
