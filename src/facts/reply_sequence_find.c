/* Finds the order of the calls in which one number continues: see reply_sequence.h. */
#include "facts/reply_sequence.h"

#include <math.h>

#define STEPS_MIN         6
#define CONTRADICTING_MIN 4
#define MIRRORED_MIN      4
#define EVIDENCE_MIN      9.21034 /* log(1e4) */
#define TRIES_MAX         2000    /* steps that are tried in one search */
#define TOLERANCE         1e-9

/* ---- one number in one environment for each rollout ---- */

/* Are a and b, which are differences of values up to `scale`, equal apart from rounding? */
static bool is_near(double a, double b, double scale)
{
	return isfinite(a - b) && fabs(a - b) <= TOLERANCE * fmax(1, fabs(scale));
}

static double own_change(const struct sequence_step *step, size_t number)
{
	return step->after[number] - step->before[number];
}

/* How the calls change one number, if each rollout has its own. */
struct own_changes {
	size_t known;         /* steps whose change is known */
	size_t contradicting; /* those whose change differs from that of the first equal call */
	bool uniform;         /* all by the same amount */
	bool any;             /* some changes it */
	bool by_call;         /* each call always leads to the same value */
};

static struct own_changes own_changes_of(const struct reply_sequence *s, size_t number)
{
	struct own_changes own = {.uniform = true, .by_call = true};
	double uniform = (double)NAN;

	for (size_t i = 0; i < s->count; i++) {
		double change = own_change(&s->steps[i], number), value = s->steps[i].after[number];
		size_t k = 0;

		if (isnan(change)) {
			continue;
		}
		while (s->steps[k].call != s->steps[i].call ||
		       isnan(own_change(&s->steps[k], number))) {
			k++;
		}
		uniform = isnan(uniform) ? change : uniform;
		own.known++;
		own.contradicting += !is_near(change, own_change(&s->steps[k], number), value);
		own.uniform = own.uniform && is_near(change, uniform, value);
		own.any = own.any || !is_near(change, 0, value);
		own.by_call = own.by_call && is_near(value, s->steps[k].after[number], value);
	}
	return own;
}

/* The first step with the same call. */
static size_t first_equal(const struct reply_sequence *s, size_t step)
{
	size_t i = 0;

	while (s->steps[i].call != s->steps[step].call) {
		i++;
	}
	return i;
}

/* ---- the search for an order ---- */

/* Orders the steps one by one. A step may come next unless a step of another rollout that is not yet
   ordered was answered before it was sent. */
struct order_search {
	const struct reply_sequence *s;
	size_t number;
	bool may_stay; /* a call may also leave the number unchanged */
	/* for each rollout, its steps with the number, and how many are ordered */
	uint8_t steps[SEQUENCE_ROLLOUTS][SEQUENCE_STEPS];
	size_t step_count[SEQUENCE_ROLLOUTS], ordered[SEQUENCE_ROLLOUTS];
	size_t count;
	size_t frequency[SEQUENCE_STEPS]; /* for each step: steps that left the same value */
	/* for each step: the first one with the same call; the amount is stored at that one */
	uint8_t call[SEQUENCE_STEPS];
	double amount[SEQUENCE_STEPS]; /* NaN: not learned yet */
};

struct order_place {
	size_t next; /* rollout to be tried next */
	size_t step;
	bool learned; /* the step taught the amount of its call */
	/* so far: minus the log of the probability that unrelated values fit */
	double evidence;
	/* so far: steps whose amount was known, and those of them that stayed instead */
	size_t known, stayed;
};

static void search_init(struct order_search *x, const struct reply_sequence *s, size_t number,
                        bool may_stay)
{
	*x = (struct order_search){.s = s, .number = number, .may_stay = may_stay};
	for (size_t i = 0; i < s->count; i++) {
		const struct sequence_step *step = &s->steps[i];

		x->amount[i] = (double)NAN;
		if (isnan(step->after[number])) {
			continue;
		}
		for (size_t k = 0; k < s->count; k++) {
			double after = s->steps[k].after[number];
			x->frequency[i] += is_near(after, step->after[number], after);
		}
		x->call[i] = (uint8_t)first_equal(s, i);
		x->steps[step->rollout][x->step_count[step->rollout]++] = (uint8_t)i;
		x->count++;
	}
}

static const struct sequence_step *next_of(const struct order_search *x, size_t rollout)
{
	return x->ordered[rollout] == x->step_count[rollout]
	               ? NULL
	               : &x->s->steps[x->steps[rollout][x->ordered[rollout]]];
}

static bool may_be_next(const struct order_search *x, size_t rollout)
{
	const struct sequence_step *step = next_of(x, rollout);
	bool may = step;

	for (size_t i = 0; may && i < x->s->rollout_count; i++) {
		const struct sequence_step *other = i == rollout ? NULL : next_of(x, i);
		may = !other || other->answered_ms < 0 || step->sent_ms < 0 ||
		      other->answered_ms >= step->sent_ms;
	}
	return may;
}

/* Can the step follow `value`? Learns the amount of its call if that is unknown, and adds to the
   evidence. */
static bool fits(struct order_search *x, size_t step, double value, size_t choices,
                 struct order_place *p)
{
	double after = x->s->steps[step].after[x->number];
	double *amount = &x->amount[x->call[step]], change = after - value;
	bool stays = x->may_stay && !isnan(value) && is_near(change, 0, after);

	p->learned = isnan(*amount) && !isnan(value) && !stays;
	if (p->learned) {
		*amount = change;
	}
	if (isnan(value) || p->learned || (stays && isnan(*amount))) {
		p->evidence -= log((double)choices);
		return true;
	}
	bool changes = is_near(change, *amount, after);
	if (!changes && !stays) {
		return false;
	}
	p->known++;
	p->stayed += !changes;
	if (changes) { /* that a number stays says nothing */
		double likely = (double)(x->frequency[step] * choices) / (double)x->count;
		p->evidence += fmax(0, -log(likely));
	}
	return true;
}

/* Chooses the next step, after another one. False if none is left. */
static bool choose_next(struct order_search *x, struct order_place *p, double value,
                        const struct order_place *after)
{
	size_t choices = 0;

	for (size_t i = 0; i < x->s->rollout_count; i++) {
		choices += may_be_next(x, i);
	}
	for (; p->next < x->s->rollout_count; p->next++) {
		size_t rollout = p->next;

		p->evidence = after->evidence;
		p->known = after->known;
		p->stayed = after->stayed;
		if (!may_be_next(x, rollout)) {
			continue;
		}
		p->step = x->steps[rollout][x->ordered[rollout]];
		if (fits(x, p->step, value, choices, p)) {
			x->ordered[rollout]++;
			p->next++;
			return true;
		}
	}
	return false;
}

static void take_back(struct order_search *x, const struct order_place *p)
{
	x->ordered[x->s->steps[p->step].rollout]--;
	if (p->learned) {
		x->amount[x->call[p->step]] = (double)NAN;
	}
}

/* If steps may stay, unrelated values have as many chances to fit as there are ways to choose those
   that do. */
static double evidence_of(const struct order_search *x, const struct order_place *last)
{
	double ways = x->may_stay ? log((double)last->known + 1) : 0;

	for (size_t i = 1; i <= last->stayed; i++) {
		ways += log((double)(last->known - last->stayed + i) / (double)i);
	}
	return last->evidence - ways;
}

/* Returns the evidence of the first order found; negative if there is none. */
static double search_order(struct order_search *x, struct order_place order[SEQUENCE_STEPS])
{
	static const struct order_place none = {0};
	size_t n = 0;

	order[0] = none;
	for (int tries = 0; n < x->count && tries < TRIES_MAX; tries++) {
		double value = n ? x->s->steps[order[n - 1].step].after[x->number]
		                 : x->s->starts[x->number];
		if (choose_next(x, &order[n], value, n ? &order[n - 1] : &none)) {
			if (++n < x->count) {
				order[n] = none;
			}
		} else if (n == 0) {
			break;
		} else {
			take_back(x, &order[--n]);
		}
	}
	return n > 0 && n == x->count ? evidence_of(x, &order[n - 1]) : -1;
}

/* ---- the verdict ---- */

/* Do all calls that change it change it by the same amount? */
static bool is_uniform(const struct order_search *x)
{
	double first = (double)NAN;

	for (size_t i = 0; i < x->s->count; i++) {
		double amount = x->amount[x->call[i]], after = x->s->steps[i].after[x->number];
		if (isnan(after) || isnan(amount) || is_near(amount, 0, after)) {
			continue;
		}
		first = isnan(first) ? amount : first;
		if (!is_near(amount, first, after)) {
			return false;
		}
	}
	return true;
}

/* Does a rollout repeat a call? Otherwise what depends on the call and what depends on the number of
   calls so far look alike. */
static bool repeats_call(const struct reply_sequence *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (s->steps[k].rollout == s->steps[i].rollout &&
			    s->steps[k].call == s->steps[i].call) {
				return true;
			}
		}
	}
	return false;
}

/* Are the words of replies always the same, or do they depend on the call alone? */
static bool are_words_explained(const struct reply_sequence *s)
{
	bool constant = true, by_call = repeats_call(s);

	for (size_t i = 0; i < s->count; i++) {
		const struct sequence_step *step = &s->steps[i],
					   *equal = &s->steps[first_equal(s, i)];

		constant = constant && s->steps[0].words_hash == step->words_hash;
		by_call = by_call && equal->words_hash == step->words_hash;
	}
	return constant || by_call;
}

/* Steps that do not continue from the previous reply to their own rollout. */
static size_t count_contradicting(const struct order_search *x)
{
	size_t count = 0;

	for (size_t i = 0; i < x->s->count; i++) {
		double change = own_change(&x->s->steps[i], x->number);
		double amount = x->amount[x->call[i]], after = x->s->steps[i].after[x->number];
		bool stays = x->may_stay && is_near(change, 0, after);

		count += !isnan(change) && !isnan(amount) && !stays &&
		         !is_near(change, amount, after);
	}
	return count;
}

static bool has_order(struct order_search *x, const struct reply_sequence *s, size_t number)
{
	struct order_place order[SEQUENCE_STEPS];

	search_init(x, s, number, false);
	return search_order(x, order) >= EVIDENCE_MIN;
}

/* Is all that changes beside the number explained? */
static bool is_rest_explained(const struct reply_sequence *s, const struct own_changes *own,
                              size_t number)
{
	struct order_search x;
	bool is = !s->untracked && s->not_mirrored == 0 && are_words_explained(s);

	for (size_t i = 0; is && i < s->number_count; i++) {
		bool counts = own[i].contradicting == 0 && own[i].uniform;

		is = i == number || counts || has_order(&x, s, i);
	}
	return is;
}

/* Do the states show the number, and is it all that changes? */
static bool is_all(const struct reply_sequence *s, const struct own_changes *own, size_t number)
{
	bool all = s->mirrored >= MIRRORED_MIN;

	for (size_t i = 0; all && i < s->number_count; i++) {
		all = i == number || !own[i].any;
	}
	return all;
}

static bool find_order(struct order_search *x, const struct own_changes *own,
                       struct sequence_found *out)
{
	struct order_place order[SEQUENCE_STEPS];
	size_t rollouts = 0;

	for (size_t i = 0; i < x->s->rollout_count; i++) {
		rollouts += x->step_count[i] > 0;
	}
	if (rollouts < 2 || x->count < STEPS_MIN || search_order(x, order) < EVIDENCE_MIN ||
	    count_contradicting(x) < CONTRADICTING_MIN ||
	    (is_uniform(x) && !is_all(x->s, own, x->number)) ||
	    !is_rest_explained(x->s, own, x->number)) {
		return false;
	}
	*out = (struct sequence_found){
		.pointer = x->s->pointers[x->number],
		.steps = x->count,
		.rollouts = rollouts,
		.contradicting = count_contradicting(x),
		.first = x->s->steps[order[0].step].after[x->number],
		.last = x->s->steps[order[x->count - 1].step].after[x->number],
	};
	return true;
}

static bool search(const struct reply_sequence *s, struct sequence_found *out)
{
	struct own_changes own[SEQUENCE_NUMBERS];
	struct order_search x;
	bool found = false;

	for (size_t i = 0; i < s->number_count; i++) {
		own[i] = own_changes_of(s, i);
	}
	for (size_t i = 0; !found && i < s->number_count; i++) {
		bool may = own[i].contradicting >= CONTRADICTING_MIN && !own[i].by_call;

		for (size_t stay = 0; may && !found && stay < 2; stay++) {
			search_init(&x, s, i, stay);
			found = find_order(&x, own, out);
		}
	}
	return found;
}

bool reply_sequence_find(struct reply_sequence *s, struct sequence_found *out)
{
	if (s->searched != s->count) {
		s->is_found = search(s, &s->found);
		s->searched = s->count;
	}
	if (s->is_found) {
		*out = s->found;
	}
	return s->is_found;
}
