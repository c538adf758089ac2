/* Compares rollouts while reading them: see lockstep.h. */
#include "compare/lockstep.h"

/* One step and the next one. */
struct side_reading {
	struct lockstep_side *side;
	struct buf text[2]; /* of `step` */
	struct line step[2];
	bool has[2], ended;
	int now; /* index of the first of the two */
};

static int take_line(struct side_reading *r, int place, const struct line *l,
                     const struct reader_note *note, struct error *err)
{
	struct lockstep_side *s = r->side;

	return s->see(s->ctx, l, note, err) ||
	                       rollout_copy_take(s->rollout, s->strip, l, &r->text[place],
	                                         &r->step[place], &r->has[place], err)
	               ? by_rollout_place_error(err, note)
	               : 0;
}

/* Reads lines up to and with the next step. */
static int read_step(struct side_reading *r, int place, struct error *err)
{
	struct reader_note note;
	struct line l;

	r->has[place] = false;
	while (!r->ended && !r->has[place]) {
		int more = by_rollout_line(r->side->lines, &l, &note, err);

		if (more < 0 || (more && take_line(r, place, &l, &note, err)))
			return -1;
		r->ended = !more;
	}
	return 0;
}

static int pass_step(struct side_reading *r, struct error *err)
{
	r->now = !r->now;
	return read_step(r, !r->now, err);
}

static int begin_reading(struct side_reading *r, struct error *err)
{
	return read_step(r, 0, err) || read_step(r, 1, err) ? -1 : 0;
}

/* Keeps the steps that were read, and all that follow. */
static int keep_rest(struct side_reading *r, struct error *err)
{
	while (r->has[r->now]) {
		if (rollout_copy_keep(r->side->rollout, buf_view(&r->text[r->now]),
		                      r->step[r->now].number, err) ||
		    pass_step(r, err)) {
			return -1;
		}
	}
	return 0;
}

static bool is_repeated(const struct side_reading *r)
{
	return r->has[!r->now] && compare_same_call(&r->step[r->now], &r->step[!r->now]);
}

/* Are the next steps of both sides a pair, whatever follows? */
static bool is_pair(const struct side_reading *a, const struct side_reading *b, bool replayed)
{
	const struct line *x = &a->step[a->now], *y = &b->step[b->now];

	return a->has[a->now] && b->has[b->now] && compare_same_call(x, y) &&
	       (replayed || (!is_repeated(a) && !is_repeated(b)) || compare_same_content(x, y));
}

static int compare(struct side_reading *a, struct side_reading *b, const struct compare_conf *conf,
                   struct compare_count *count, struct error *err)
{
	struct rollout_copy *first = a->side->rollout, *second = b->side->rollout;
	struct compare_progress p = {.begun = false};

	if (begin_reading(a, err) || begin_reading(b, err))
		return -1;
	while (is_pair(a, b, conf->replayed)) {
		compare_next_steps(first, &a->step[a->now], second, &b->step[b->now], conf, &p,
		                   count);
		first->dropped++;
		second->dropped++;
		if (pass_step(a, err) || pass_step(b, err))
			return -1;
	}
	if (keep_rest(a, err) || keep_rest(b, err))
		return -1;
	compare_rest(first, second, conf, &p, count);
	return 0;
}

static void release(struct side_reading *r)
{
	buf_release(&r->text[0]);
	buf_release(&r->text[1]);
}

int lockstep_compare(struct lockstep_side *first, struct lockstep_side *second,
                     const struct compare_conf *conf, struct compare_count *count,
                     struct error *err)
{
	struct side_reading a = {.side = first, .text = {BUF(SIZE_MAX / 2), BUF(SIZE_MAX / 2)}};
	struct side_reading b = {.side = second, .text = {BUF(SIZE_MAX / 2), BUF(SIZE_MAX / 2)}};
	int failed = compare(&a, &b, conf, count, err);

	release(&a);
	release(&b);
	return failed;
}

int lockstep_unpaired(struct lockstep_side *side, bool extra, const struct compare_conf *conf,
                      struct compare_count *count, struct error *err)
{
	struct side_reading r = {.side = side, .text = {BUF(SIZE_MAX / 2), BUF(SIZE_MAX / 2)}};
	int failed;

	do {
		failed = read_step(&r, 0, err);
		side->rollout->dropped += r.has[0];
	} while (!failed && r.has[0]);
	release(&r);
	if (!failed)
		compare_unpaired(side->rollout, extra, conf, count);
	return failed;
}
