/* Collects the numbers in the replies to several rollouts: see reply_sequence.h. */
#include "facts/reply_sequence.h"

#include "facts/fingerprint.h"
#include "facts/member_walk.h"
#include "json/canon.h"
#include "json/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS_MAX 6                  /* longer arrays are not looked into */
#define TEXT_MAX     256                /* bytes; nor are longer texts */
#define STATE_MAX    ((size_t)16 << 10) /* bytes; longer states are not compared */

void reply_sequence_release(struct reply_sequence *s)
{
	free(s->steps);
	*s = (struct reply_sequence){0};
}

/* ---- the numbers of a reply ---- */

struct values {
	double of[SEQUENCE_NUMBERS];
	uint64_t words_hash;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Finds or adds the number. SEQUENCE_NUMBERS: there are too many, or its pointer is too long. */
static size_t number_at(struct reply_sequence *s, struct str pointer)
{
	size_t i = 0;

	while (i < s->number_count && !str_is(pointer, s->pointers[i])) {
		i++;
	}
	if (i < s->number_count || i == SEQUENCE_NUMBERS || pointer.n >= SEQUENCE_POINTER) {
		return i < s->number_count ? i : SEQUENCE_NUMBERS;
	}
	memcpy(s->pointers[i], pointer.p, pointer.n);
	s->pointers[i][pointer.n] = '\0';
	s->starts[i] = (double)NAN;
	for (size_t r = 0; r < s->rollout_count; r++) {
		s->rollouts[r].newest[i] = (double)NAN;
	}
	for (size_t k = 0; k < s->count; k++) {
		s->steps[k].before[i] = s->steps[k].after[i] = (double)NAN;
	}
	return s->number_count++;
}

/* The number in a text, if it has only one, and a hash of the words around it. */
static bool text_number(struct str text, double *number, uint64_t *words)
{
	size_t from = 0, n = 0;

	if (text.n > TEXT_MAX) {
		return false;
	}
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
	if (n > 0 && from > 0 && text.p[from - 1] == '-' &&
	    (from == 1 || text.p[from - 2] == ' ')) {
		from--;
		n++;
	}
	*words =
		fingerprint((struct str){text.p, from}) ^ 3 * fingerprint(str_skip(text, from + n));
	return n > 0 && json_double_text((struct str){text.p + from, n}, number);
}

static void take_value(struct reply_sequence *s, struct values *v, struct str pointer,
                       struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;
	uint64_t words = 0;
	double number;
	bool known = text.p ? text_number(text, &number, &words) : json_double(value, &number);
	size_t i = known ? number_at(s, pointer) : SEQUENCE_NUMBERS;

	if (i < SEQUENCE_NUMBERS) {
		v->of[i] = number;
	}
	s->untracked = s->untracked || (known && i == SEQUENCE_NUMBERS);
	v->words_hash =
		31 * v->words_hash +
		(fingerprint(pointer) ^ 3 * (i < SEQUENCE_NUMBERS ? words : fingerprint(value)));
}

static bool is_container(struct str value)
{
	enum json_type type = json_type(value);

	return type == JSON_OBJECT || (type == JSON_ARRAY && json_count(value) <= ELEMENTS_MAX);
}

/* The members of an object, or the elements of an array, whose keys are their indexes. */
struct reply_items {
	struct str value;
	size_t cursor, count;
	char index[24];
	struct json_member now;
};

static bool next_item(struct reply_items *x)
{
	size_t i = x->count++;

	if (json_type(x->value) == JSON_OBJECT) {
		return json_next_member(x->value, &x->cursor, &x->now);
	}
	int n = snprintf(x->index, sizeof(x->index), "%zu", i);
	x->now.key = (struct str){x->index, (size_t)n};
	return json_next(x->value, &x->cursor, &x->now.value);
}

static void take_item(struct reply_sequence *s, struct values *v, struct buf *pointer,
                      struct str value)
{
	take_value(s, v, pointer->full ? STR_NONE : buf_view(pointer), value);
}

/* A list may grow while its elements stay. */
static void take_length(struct values *v, const struct reply_items *x)
{
	v->words_hash = 31 * v->words_hash + x->count;
}

static void take_inside(struct reply_sequence *s, struct values *v, struct buf *pointer,
                        struct str value)
{
	struct reply_items x = {.value = value};
	size_t parent = pointer->n;

	while (next_item(&x)) {
		member_walk_put_token(pointer, x.now.key);
		take_item(s, v, pointer, x.now.value);
		buf_cut(pointer, parent);
	}
	take_length(v, &x);
}

static void take_members(struct reply_sequence *s, struct values *v, const struct sequence_reply *r)
{
	struct reply_items x = {.value = r->observation};
	struct buf pointer = BUF(BUF_MAX_SMALL);

	while (next_item(&x)) {
		if (member_changes_moves_alone(r->states, x.now.key)) {
			continue;
		}
		member_walk_put_token(&pointer, x.now.key);
		if (is_container(x.now.value)) {
			take_inside(s, v, &pointer, x.now.value);
		} else {
			take_item(s, v, &pointer, x.now.value);
		}
		buf_clear(&pointer);
	}
	take_length(v, &x);
	buf_release(&pointer);
}

static struct values values_of(struct reply_sequence *s, const struct sequence_reply *r)
{
	struct values v = {.words_hash = 1};

	for (size_t i = 0; i < SEQUENCE_NUMBERS; i++) {
		v.of[i] = (double)NAN;
	}
	if (is_container(r->observation)) {
		take_members(s, &v, r);
	} else {
		take_value(s, &v, STR(""), r->observation);
	}
	return v;
}

/* ---- the steps ---- */

static struct sequence_rollout *rollout_at(struct reply_sequence *s, int64_t id)
{
	size_t i = 0;

	while (i < s->rollout_count && s->rollouts[i].id != id) {
		i++;
	}
	if (i == SEQUENCE_ROLLOUTS) {
		return NULL;
	}
	if (i == s->rollout_count) {
		s->rollouts[s->rollout_count++] = (struct sequence_rollout){.id = id};
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

/* Compares the members that the state and the reply before it both have, and the others with those of
   the previous state. */
static void compare_state(struct reply_sequence *s, struct sequence_rollout *o,
                          const struct sequence_reply *r)
{
	struct json_member m;
	size_t cursor = 0;
	uint64_t others = 1;
	bool shared = false, same = true;

	if (!r->state.n) {
		return;
	}
	if (r->state.n > STATE_MAX) {
		s->untracked = true;
		return;
	}
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
	s->untracked = s->untracked || (o->others_hash && o->others_hash != others);
	o->others_hash = others;
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
	step->words_hash = v->words_hash;
	compare_state(s, o, r);
}

bool reply_sequence_add(struct reply_sequence *s, const struct sequence_reply *r)
{
	struct sequence_rollout *o;

	s->closed = s->closed || s->count == SEQUENCE_STEPS || (r->reset && s->count > 0);
	o = s->closed ? NULL : rollout_at(s, r->rollout);
	if (!o) {
		s->closed = true;
		return false;
	}
	const struct values v = values_of(s, r);
	if (r->reset) {
		take_start(s, v.of);
	} else {
		take_step(s, o, r, &v);
	}
	memcpy(o->newest, v.of, sizeof(o->newest));
	return true;
}
