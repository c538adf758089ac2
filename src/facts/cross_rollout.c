/* Relations between rollouts: see cross_rollout.h. */
#include "facts/cross_rollout.h"

#include <stdlib.h>

/* The rollout that used an id first. */
struct id_owner {
	struct map_item item;
	uint64_t rollout, mark;
	bool contested; /* the id was also claimed with another mark */
};

void cross_rollout_release(struct cross_rollout *c)
{
	arena_release(&c->arena);
	sharing_release(&c->sharing);
	reply_sequence_release(&c->replies);
	*c = (struct cross_rollout){.open = NULL};
}

void cross_rollout_forget(struct cross_rollout *c)
{
	c->counts = (struct count_sequence){0};
	c->succession = (struct succession){0};
	c->chance = (struct chance){0};
	c->begun = 0;
	c->caller = c->called = c->other_called = 0;
	sharing_release(&c->sharing);
	reply_sequence_release(&c->replies);
}

bool cross_rollout_can_absorb(const struct cross_rollout *c, const struct cross_rollout *other)
{
	struct id_owner **list = map_list(&other->owners);
	bool can = true;

	for (size_t i = 0; can && i < other->owners.count; i++) {
		const struct id_owner *mine = map_find(&c->owners, list[i]->item.hash, STR_NONE);

		can = !mine || (mine->mark == list[i]->mark && !list[i]->contested);
	}
	free(list);
	return can;
}

void cross_rollout_absorb(struct cross_rollout *c, const struct cross_rollout *other)
{
	struct id_owner **list = map_list(&other->owners);

	for (size_t i = 0; i < other->owners.count; i++) {
		if (!map_find(&c->owners, list[i]->item.hash, STR_NONE)) {
			struct id_owner *copy = arena_new(&c->arena, sizeof(*copy));

			copy->rollout = list[i]->rollout;
			copy->mark = list[i]->mark;
			copy->contested = list[i]->contested;
			map_add(&c->owners, &copy->item, list[i]->item.hash);
		}
	}
	free(list);
}

bool cross_rollout_claim(struct cross_rollout *c, char kind, struct str id, uint64_t mark,
                         struct str *owner)
{
	uint64_t hash = map_hash_with(map_hash(id), (unsigned char)kind);
	struct id_owner *taken = map_find(&c->owners, hash, STR_NONE);

	*owner = STR_NONE;
	if (!taken) {
		taken = arena_new(&c->arena, sizeof(*taken));
		taken->rollout = c->current->item.hash;
		taken->mark = mark;
		map_add(&c->owners, &taken->item, hash);
		return false;
	}
	if (taken->mark == mark) {
		return false;
	}
	taken->contested = true;
	const struct open_rollout *o = rollout_table_find_hash(c->open, taken->rollout);
	if (o && o != c->current) {
		*owner = o->facts.id;
	}
	return true;
}

static bool is_in(const struct open_rollout *o, struct str state)
{
	return effect_between(state_copy_hash(&o->states.last), state) == EFFECT_UNCHANGED;
}

static bool moved(const struct open_rollout *o, const struct cross_rollout *c)
{
	const struct states *mine = &c->current->states;

	return o != c->current && o->last_call > c->current->last_line &&
	       (is_in(o, state_copy_hash(&mine->changed_from)) || is_in(o, mine->now));
}

/* If several rollouts qualify, the one whose id sorts first. */
struct str cross_rollout_mover(const struct cross_rollout *c)
{
	const struct open_rollout **list = map_list(&c->open->open);
	struct str id = STR_NONE;

	for (size_t i = 0; i < c->open->open.count; i++) {
		const struct open_rollout *o = list[i];

		if ((!id.p || str_order(o->facts.id, id) < 0) && moved(o, c)) {
			id = o->facts.id;
		}
	}
	free(list);
	return id;
}

void cross_rollout_called(struct cross_rollout *c, const struct open_rollout *o)
{
	if (c->caller != o->number) {
		c->other_called = c->called;
	}
	c->caller = o->number;
	c->called = c->clock;
}

/* A reset may restart a shared counter. */
void cross_rollout_reset(struct cross_rollout *c)
{
	c->counts.window = (struct shared_count){0};
	c->counts.windows++;
}

int64_t cross_rollout_others_called(const struct cross_rollout *c)
{
	return c->caller == c->current->number ? c->other_called : c->called;
}

/* ---- step counts ---- */

#define COUNTS_MIN   8  /* minimum number of counts without other evidence */
#define INDIRECT_MIN 12 /* the same if no count grew between a rollout's calls */
#define LEARNED_MIN  2  /* minimum number of counts that grew by one, and by more */

static void add_to_sequence(struct count_sequence *s, int64_t count)
{
	int64_t at = count - s->first;
	uint64_t bit = (uint64_t)1 << (at & 63);

	s->again += (s->seen[at / 64] & bit) != 0;
	s->seen[at / 64] |= bit;
	s->lowest = s->taken == 0 || count < s->lowest ? count : s->lowest;
	s->highest = s->taken == 0 || count > s->highest ? count : s->highest;
	s->taken++;
}

static void update_base(struct cross_rollout *c, int64_t count)
{
	struct shared_count *s = &c->counts.window;
	bool since = c->current->counted_window == c->counts.windows;
	int64_t steps = ++s->steps, before = since ? c->current->counted_before : 0;
	int64_t low = count - (steps + (int64_t)c->open->open.count - 1);
	int64_t high = count - (before + 1);

	s->base_low = steps == 1 || low > s->base_low ? low : s->base_low;
	s->base_high = steps == 1 || high < s->base_high ? high : s->base_high;
}

/* A separate count is the same in all rollouts that make the same calls. */
static void update_place(struct shared_count *s, int64_t number, int64_t count)
{
	if (number < 1 || number > COUNT_PLACES) {
		return;
	}
	s->varied = s->varied || (s->counted_before[number - 1] && s->places[number - 1] != count);
	s->places[number - 1] = count;
	s->counted_before[number - 1] = true;
}

static void update_growth(struct cross_rollout *c, int64_t before, int64_t count)
{
	struct count_sequence *s = &c->counts;
	bool first = c->current->facts.env_count.reported == 1;
	bool alone = c->current->alone_lines >= 3 &&
	             cross_rollout_others_called(c) <= c->current->last_call;

	if (before < 0) {
		return;
	}
	s->alone_by_one += alone && count == before + 1;
	s->window.alone_otherwise += alone && count != before + 1;
	s->by_one += count == before + 1;
	s->window.by_more += !alone && count > before + 1;
	s->starts_differ = s->starts_differ || (first && s->started && s->start != before);
	s->start = first ? before : s->start;
	s->started = s->started || first;
}

/* Counts may repeat: two rollouts read the same number if both read after both have acted. */
static bool is_count_of_all(const struct cross_rollout *c)
{
	const struct count_sequence *s = &c->counts;
	const struct shared_count *w = &s->window;
	bool more = w->by_more >= LEARNED_MIN && w->steps >= INDIRECT_MIN;
	bool learned = s->alone_by_one > LEARNED_MIN && more;
	bool joined = s->starts_differ && s->by_one > 0 && more;

	return w->varied && 2 * s->again <= s->taken && w->alone_otherwise == 0 &&
	       c->sharing.counted_alone == 0 && w->base_low <= w->base_high &&
	       (learned || joined || c->sharing.counted > 0);
}

void cross_rollout_count(struct cross_rollout *c, int64_t before, int64_t count)
{
	struct count_sequence *s = &c->counts;
	const struct rollout_facts *f = &c->current->facts;

	s->rollouts += f->env_count.reported == 1;
	update_base(c, count);
	update_place(&s->window, f->steps, count);
	update_growth(c, before, count);
	if (s->taken == 0) {
		s->first = count > COUNT_WINDOW / 4 ? count - COUNT_WINDOW / 4 : 0;
	}
	s->strange = s->strange || count < s->first;
	if (!s->strange && count - s->first < COUNT_WINDOW) {
		add_to_sequence(s, count);
	}
	s->proven = s->proven ||
	            (s->rollouts >= 2 && s->window.steps >= COUNTS_MIN && is_count_of_all(c));
}

/* A step in progress may be counted before steps that are already recorded, which leaves gaps. */
static bool is_one_sequence(const struct cross_rollout *c)
{
	const struct count_sequence *s = &c->counts;
	int64_t gaps = s->highest - s->lowest + 1 - (s->taken - s->again);

	return !s->strange && s->taken >= COUNTS_MIN && s->again == 0 &&
	       gaps < (int64_t)c->open->open.count;
}

bool cross_rollout_counts_together(const struct cross_rollout *c)
{
	return c->counts.rollouts >= 2 && (is_one_sequence(c) || c->counts.proven);
}
