/* Compares rollouts while reading them: see lockstep.h. */
#include "compare/lockstep.h"

struct side_reading {
	struct lockstep_side *side;
	struct buf text; /* of `step` */
	struct line step;
	bool has_step, ended;
};

static int take_line(struct side_reading *r, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct lockstep_side *s = r->side;

	return s->see(s->ctx, l, note, err) || rollout_copy_take(s->rollout, s->strip, l, &r->text,
	                                                         &r->step, &r->has_step, err)
	               ? by_rollout_place_error(err, note)
	               : 0;
}

/* Reads lines up to and with the next step. */
static int read_step(struct side_reading *r, struct error *err)
{
	struct reader_note note;
	struct line l;

	r->has_step = false;
	while (!r->ended && !r->has_step) {
		int more = by_rollout_line(r->side->lines, &l, &note, err);

		if (more < 0 || (more && take_line(r, &l, &note, err))) {
			return -1;
		}
		r->ended = !more;
	}
	return 0;
}

/* Keeps the step that was read, and all that follow. */
static int keep_rest(struct side_reading *r, struct error *err)
{
	while (r->has_step) {
		if (rollout_copy_keep(r->side->rollout, buf_view(&r->text), r->step.number, err) ||
		    read_step(r, err)) {
			return -1;
		}
	}
	return 0;
}

static int compare(struct side_reading *a, struct side_reading *b, const struct compare_conf *conf,
                   struct compare_count *count, struct error *err)
{
	struct rollout_copy *first = a->side->rollout, *second = b->side->rollout;
	struct compare_progress p = {.begun = false};

	if (read_step(a, err) || read_step(b, err)) {
		return -1;
	}
	while (a->has_step && b->has_step && compare_same_call(&a->step, &b->step)) {
		compare_next_steps(first, &a->step, second, &b->step, conf, &p, count);
		first->dropped++;
		second->dropped++;
		if (read_step(a, err) || read_step(b, err)) {
			return -1;
		}
	}
	if (keep_rest(a, err) || keep_rest(b, err)) {
		return -1;
	}
	compare_rest(first, second, conf, &p, count);
	return 0;
}

int lockstep_compare(struct lockstep_side *first, struct lockstep_side *second,
                     const struct compare_conf *conf, struct compare_count *count,
                     struct error *err)
{
	struct side_reading a = {.side = first, .text = BUF(SIZE_MAX / 2)};
	struct side_reading b = {.side = second, .text = BUF(SIZE_MAX / 2)};
	int failed = compare(&a, &b, conf, count, err);

	buf_release(&a.text);
	buf_release(&b.text);
	return failed;
}

int lockstep_unpaired(struct lockstep_side *side, bool extra, const struct compare_conf *conf,
                      struct compare_count *count, struct error *err)
{
	struct side_reading r = {.side = side, .text = BUF(SIZE_MAX / 2)};
	int failed;

	do {
		failed = read_step(&r, err);
		side->rollout->dropped += r.has_step;
	} while (!failed && r.has_step);
	buf_release(&r.text);
	if (!failed) {
		compare_unpaired(side->rollout, extra, conf, count);
	}
	return failed;
}
