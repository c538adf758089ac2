/* Finds the order of the calls in which one number continues: see reply_sequence.h. */
#include "facts/reply_sequence.h"

#include "facts/fingerprint.h"
#include "json/canon.h"
#include "json/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MIN     6
#define OTHERWISE_MIN 4 /* steps that contradict separate environments */
#define MIRRORED_MIN  4
#define ELEMENTS_MAX  6       /* longer arrays are not looked into */
#define TEXT_MAX      256     /* bytes; longer texts neither */
#define EVIDENCE_MIN  9.21034 /* log(1e4) */
#define TRIES_MAX     2000    /* places that are tried in one search */

void reply_sequence_release(struct reply_sequence *s)
{
	free(s->steps);
	*s = (struct reply_sequence){0};
}

/* ---- the numbers of a reply ---- */

struct values {
	double of[SEQUENCE_NUMBERS];
	uint64_t rest;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t number_at(struct reply_sequence *s, struct str parent, struct str key)
{
	uint64_t hash = (fingerprint(parent) ^ 3 * fingerprint(key)) | 1;
	size_t i = 0;

	while (i < s->number_count && s->keys[i] != hash) {
		i++;
	}
	if (i < s->number_count || i == SEQUENCE_NUMBERS) {
		return i;
	}
	s->keys[i] = hash;
	s->starts[i] = (double)NAN;
	for (size_t r = 0; r < s->rollout_count; r++) {
		s->rollouts[r].newest[i] = (double)NAN;
	}
	for (size_t k = 0; k < s->count; k++) {
		s->steps[k].before[i] = s->steps[k].after[i] = (double)NAN;
	}
	snprintf(s->names[i], SEQUENCE_NAME, "%s%.*s%s%.*s", parent.p ? "/" : "", (int)parent.n,
	         parent.p ? parent.p : "", key.p ? "/" : "", (int)key.n, key.p ? key.p : "");
	return s->number_count++;
}

/* The number in a text, if it has only one, and a hash of the words around it. */
static bool text_number(struct str text, double *number, uint64_t *words)
{
	size_t from = 0, n = 0;

	while (from < text.n && !is_digit(text.p[from])) {
		from++;
	}
	while (from + n < text.n &&
	       (is_digit(text.p[from + n]) || (text.p[from + n] == '.' && from + n + 1 < text.n &&
	                                       is_digit(text.p[from + n + 1])))) {
		n++;
	}
	for (size_t i = from + n; i < text.n; i++) {
		if (is_digit(text.p[i])) {
			return false;
		}
	}
	*words =
		fingerprint((struct str){text.p, from}) ^ 3 * fingerprint(str_skip(text, from + n));
	return n > 0 && text.n <= TEXT_MAX &&
	       json_double_text((struct str){text.p + from, n}, number);
}

static void take_value(struct reply_sequence *s, struct values *v, struct str parent,
                       struct str key, struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;
	uint64_t rest = 0;
	double number;
	bool known = text.p ? text_number(text, &number, &rest) : json_double(value, &number);
	size_t i = known ? number_at(s, parent, key) : SEQUENCE_NUMBERS;

	if (i < SEQUENCE_NUMBERS) {
		v->of[i] = number;
	}
	v->rest = 31 * v->rest +
	          (fingerprint(key) ^ 3 * (i < SEQUENCE_NUMBERS ? rest : fingerprint(value)));
}

static void take_inside(struct reply_sequence *s, struct values *v, const struct json_member *m)
{
	struct json_member inner;
	struct str element;
	size_t cursor = 0, i = 0;
	char key[8];

	if (m->type == JSON_OBJECT) {
		while (json_next_member(m->value, &cursor, &inner)) {
			take_value(s, v, m->key, inner.key, inner.value);
		}
		return;
	}
	while (json_next(m->value, &cursor, &element)) {
		int n = snprintf(key, sizeof(key), "%zu", i++ % (ELEMENTS_MAX + 1));
		take_value(s, v, m->key, (struct str){key, (size_t)n}, element);
	}
}

static bool is_container(const struct json_member *m)
{
	return m->type == JSON_OBJECT ||
	       (m->type == JSON_ARRAY && json_count(m->value) <= ELEMENTS_MAX);
}

static struct values values_of(struct reply_sequence *s, const struct sequence_reply *r)
{
	struct json_member m;
	struct values v = {.rest = 1};
	size_t cursor = 0;

	for (size_t i = 0; i < SEQUENCE_NUMBERS; i++) {
		v.of[i] = (double)NAN;
	}
	if (json_type(r->observation) != JSON_OBJECT) {
		take_value(s, &v, STR_NONE, STR_NONE, r->observation);
		return v;
	}
	while (json_next_member(r->observation, &cursor, &m)) {
		if (member_changes_moves_alone(r->states, m.key)) {
			continue;
		}
		if (is_container(&m)) {
			take_inside(s, &v, &m);
		} else {
			take_value(s, &v, m.key, STR_NONE, m.value);
		}
	}
	return v;
}

/* ---- the steps ---- */

static struct sequence_rollout *rollout_at(struct reply_sequence *s, int64_t number)
{
	size_t i = 0;

	while (i < s->rollout_count && s->rollouts[i].number != number) {
		i++;
	}
	if (i == SEQUENCE_ROLLOUTS) {
		return NULL;
	}
	if (i == s->rollout_count) {
		s->rollouts[s->rollout_count++] = (struct sequence_rollout){.number = number};
		for (size_t k = 0; k < SEQUENCE_NUMBERS; k++) {
			s->rollouts[i].newest[k] = (double)NAN;
		}
	}
	return &s->rollouts[i];
}

static void take_start(struct reply_sequence *s, const double values[SEQUENCE_NUMBERS])
{
	for (size_t i = 0; i < s->number_count; i++) {
		bool equal = s->rollout_count == 1 || s->starts[i] == values[i];
		s->starts[i] = equal ? values[i] : (double)NAN;
	}
}

/* Compares the state with the reply before it: members that both have, and whether the others are
   still the same. */
static void compare_state(struct reply_sequence *s, struct sequence_rollout *o,
                          const struct sequence_reply *r)
{
	struct json_member m;
	size_t cursor = 0;
	uint64_t others = 1;
	bool shared = false, same = true;

	while (json_next_member(r->state, &cursor, &m)) {
		struct str in_reply = json_get(r->previous, m.key);

		if (member_changes_moves_alone(r->states, m.key)) {
			continue;
		}
		if (in_reply.p) {
			shared = true;
			same = same && json_equal(in_reply, m.value);
		} else {
			others = 31 * others + (fingerprint(m.key) ^ 3 * fingerprint(m.value));
		}
	}
	s->mirrored += shared && same;
	s->not_mirrored += !same;
	s->rest_changes = s->rest_changes || (o->others && o->others != others);
	o->others = others;
}

static void take_step(struct reply_sequence *s, struct sequence_rollout *o,
                      const struct sequence_reply *r, const struct values *v)
{
	struct sequence_step *step;

	if (!s->steps) {
		s->steps = mem_array(SEQUENCE_STEPS, sizeof(*s->steps));
	}
	step = &s->steps[s->count++];
	step->rollout = (size_t)(o - s->rollouts);
	step->call = r->call;
	step->sent_ms = r->sent_ms;
	step->answered_ms = r->answered_ms;
	memcpy(step->before, o->newest, sizeof(step->before));
	memcpy(step->after, v->of, sizeof(step->after));
	s->rest_changes = s->rest_changes || (o->replied && o->rest != v->rest);
	o->rest = v->rest;
	o->replied = true;
	compare_state(s, o, r);
}

void reply_sequence_add(struct reply_sequence *s, const struct sequence_reply *r)
{
	struct sequence_rollout *o = s->closed ? NULL : rollout_at(s, r->rollout);

	if (!o || s->count == SEQUENCE_STEPS || (r->reset && s->count > 0)) {
		s->closed = true;
		return;
	}
	const struct values v = values_of(s, r);
	if (r->reset) {
		take_start(s, v.of);
	} else {
		take_step(s, o, r, &v);
	}
	memcpy(o->newest, v.of, sizeof(o->newest));
}

/* ---- one number in one environment for each rollout ---- */

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* How the calls change one number, if each rollout has its own. */
struct own_changes {
	size_t known, otherwise; /* steps; those that differ from the first one of the same call */
	bool even;               /* all by the same amount */
	bool any;                /* some changes it */
};

static double own_change(const struct sequence_step *step, size_t number)
{
	return step->after[number] - step->before[number];
}

static struct own_changes own_changes_of(const struct reply_sequence *s, size_t number)
{
	struct own_changes own = {.even = true};
	double first = (double)NAN;

	for (size_t i = 0; i < s->count; i++) {
		double change = own_change(&s->steps[i], number);
		size_t k = 0;

		if (isnan(change)) {
			continue;
		}
		while (s->steps[k].call != s->steps[i].call ||
		       isnan(own_change(&s->steps[k], number))) {
			k++;
		}
		first = isnan(first) ? change : first;
		own.known++;
		own.otherwise += !is_near(change, own_change(&s->steps[k], number));
		own.even = own.even && is_near(change, first);
		own.any = own.any || !is_near(change, 0);
	}
	return own;
}

/* ---- the search for an order ---- */

/* Places the steps one by one; each may come next unless another one was answered before it was
   sent. */
struct order_search {
	const struct reply_sequence *s;
	size_t number;
	bool walls; /* a call may also leave the number unchanged */
	/* for each rollout, its steps with the number, and how many are placed */
	uint8_t steps[SEQUENCE_ROLLOUTS][SEQUENCE_STEPS];
	size_t step_count[SEQUENCE_ROLLOUTS], placed[SEQUENCE_ROLLOUTS];
	size_t count;
	double values; /* how many different ones there are */
	/* for each step: the first one with the same call; the amount is stored at that one */
	uint8_t call[SEQUENCE_STEPS];
	double amount[SEQUENCE_STEPS]; /* NaN: not learned yet */
};

/* One place in the order. */
struct order_place {
	size_t next; /* rollout to be tried next */
	size_t step;
	bool learned; /* the step taught the amount of its call */
	/* so far: log of one in how many; steps whose amount was known, and those of them that left
	   the number unchanged instead */
	double evidence;
	size_t known, stopped;
};

static void search_init(struct order_search *x, const struct reply_sequence *s, size_t number,
                        bool walls)
{
	*x = (struct order_search){.s = s, .number = number, .walls = walls};
	for (size_t i = 0; i < SEQUENCE_STEPS; i++) {
		x->amount[i] = (double)NAN;
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct sequence_step *step = &s->steps[i];
		size_t first = 0, same = 0;

		if (isnan(step->after[number])) {
			continue;
		}
		while (s->steps[first].call != step->call) {
			first++;
		}
		while (same < i && s->steps[same].after[number] != step->after[number]) {
			same++;
		}
		x->values += same == i;
		x->call[i] = (uint8_t)first;
		x->steps[step->rollout][x->step_count[step->rollout]++] = (uint8_t)i;
		x->count++;
	}
}

static const struct sequence_step *next_of(const struct order_search *x, size_t rollout)
{
	return x->placed[rollout] == x->step_count[rollout]
	               ? NULL
	               : &x->s->steps[x->steps[rollout][x->placed[rollout]]];
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

/* Does the step continue from `value`? Then adds how improbable that is. */
static bool fits(struct order_search *x, size_t step, double value, size_t choices,
                 struct order_place *p)
{
	double *amount = &x->amount[x->call[step]];
	double change = x->s->steps[step].after[x->number] - value;

	bool stopped = x->walls && !isnan(value) && is_near(change, 0);

	p->learned = isnan(*amount) && !isnan(value) && !stopped;
	if (p->learned) {
		*amount = change;
	}
	if (isnan(value) || p->learned || (stopped && isnan(*amount))) {
		return true;
	}
	bool as_known = is_near(change, *amount);
	if (!as_known && !stopped) {
		return false;
	}
	p->known++;
	p->stopped += !as_known;
	p->evidence += fmax(0, log(x->values / (double)choices));
	return true;
}

/* Chooses the next step at this place, after another one. False if none is left. */
static bool place_next(struct order_search *x, struct order_place *p, double value,
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
		p->stopped = after->stopped;
		if (!may_be_next(x, rollout)) {
			continue;
		}
		p->step = x->steps[rollout][x->placed[rollout]];
		if (fits(x, p->step, value, choices, p)) {
			x->placed[rollout]++;
			p->next++;
			return true;
		}
	}
	return false;
}

static void take_back(struct order_search *x, const struct order_place *p)
{
	x->placed[x->s->steps[p->step].rollout]--;
	if (p->learned) {
		x->amount[x->call[p->step]] = (double)NAN;
	}
}

/* With walls, unrelated values have as many chances to fit as there are ways to choose the steps
   that were stopped. */
static double evidence_of(const struct order_search *x, const struct order_place *last)
{
	double n = (double)last->known, k = (double)last->stopped;
	double ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + log(n + 1);

	return last->evidence - (x->walls ? ways : 0);
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
		if (place_next(x, &order[n], value, n ? &order[n - 1] : &none)) {
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
		double amount = x->amount[x->call[i]];
		if (isnan(amount) || is_near(amount, 0)) {
			continue;
		}
		first = isnan(first) ? amount : first;
		if (!is_near(amount, first)) {
			return false;
		}
	}
	return true;
}

/* Do replies and states show nothing but this number? */
static bool is_all(const struct reply_sequence *s, size_t number)
{
	bool all = !s->rest_changes && s->mirrored >= MIRRORED_MIN && s->not_mirrored == 0;

	for (size_t i = 0; all && i < s->number_count; i++) {
		all = i == number || !own_changes_of(s, i).any;
	}
	return all;
}

/* Steps that continue from another value than the own rollout's previous reply. */
static size_t otherwise(const struct order_search *x)
{
	size_t count = 0;

	for (size_t i = 0; i < x->s->count; i++) {
		double change = own_change(&x->s->steps[i], x->number);
		double amount = x->amount[x->call[i]];
		count += !isnan(change) && !isnan(amount) && !is_near(change, amount);
	}
	return count;
}

static bool find_order(struct order_search *x, size_t number, struct sequence_found *out)
{
	struct order_place order[SEQUENCE_STEPS];

	if (x->count < STEPS_MIN || search_order(x, order) < EVIDENCE_MIN ||
	    otherwise(x) < OTHERWISE_MIN || (is_uniform(x) && !is_all(x->s, number))) {
		return false;
	}
	*out = (struct sequence_found){
		.name = x->s->names[number],
		.steps = x->count,
		.rollouts = x->s->rollout_count,
		.otherwise = otherwise(x),
		.first = x->s->steps[order[0].step].after[number],
		.last = x->s->steps[order[x->count - 1].step].after[number],
	};
	return true;
}

/* Do calls change some number by different amounts, always the same for each call? */
static bool is_separate(const struct reply_sequence *s)
{
	for (size_t i = 0; i < s->number_count; i++) {
		const struct own_changes own = own_changes_of(s, i);
		if (own.known >= STEPS_MIN && own.otherwise == 0 && own.any && !own.even) {
			return true;
		}
	}
	return false;
}

bool reply_sequence_find(const struct reply_sequence *s, struct sequence_found *out)
{
	struct order_search x;
	bool found = false;

	if (s->rollout_count < 2 || s->count < STEPS_MIN || is_separate(s)) {
		return false;
	}
	for (size_t i = 0; !found && i < s->number_count; i++) {
		if (own_changes_of(s, i).otherwise < OTHERWISE_MIN) {
			continue;
		}
		search_init(&x, s, i, false);
		found = find_order(&x, i, out);
		if (!found) {
			search_init(&x, s, i, true);
			found = find_order(&x, i, out);
		}
	}
	return found;
}
