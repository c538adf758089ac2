/* Decreases of the environment's own step count: see count_decreases.h. */
#include "facts/count_decreases.h"

#include "facts/fingerprint.h"

#include <math.h>

#define LEARNED_MAX 64 /* calls from which counted calls are learned */

/* Did the step end the episode? Some environments say so in the observation only. */
static bool is_done(const struct line *l)
{
	static const struct str keys[] = {STR_INIT("terminated"), STR_INIT("truncated"),
	                                  STR_INIT("done")};
	bool done = l->terminated == 1 || l->truncated == 1;

	for (size_t i = 0; !done && i < ARRAY_LEN(keys); i++) {
		done = str_is(json_get(l->value[KEY_OBSERVATION], keys[i]), "true");
	}
	return done;
}

static double reward_of(const struct line *l)
{
	double reward = 0;

	return json_double(l->value[KEY_REWARD], &reward) ? reward : 0;
}

/* A higher reward than any counted step earned: a level was completed, and the next one has a count
   of its own. */
static bool is_level_end(const struct count_decreases *c, const struct line *l)
{
	return reward_of(l) > fmax(c->best_reward, 0);
}

static bool was_counted(const struct count_decreases *c, uint64_t call)
{
	for (size_t i = 0; i < c->counted_count; i++) {
		if (c->counted[i] == call) {
			return true;
		}
	}
	return false;
}

static void add_decrease(struct count_decreases *c, int64_t from, int64_t turn, int64_t step)
{
	if (c->decreases.count == 0) {
		c->from = from;
		c->to = c->count;
	}
	span_add(&c->decreases, turn, step);
}

static struct count_point *nth_point(const struct count_decreases *c, size_t i)
{
	return &c->points[i / COUNT_DECREASES_CHUNK][i % COUNT_DECREASES_CHUNK];
}

/* Adds the state at this line with the count so far. True if both were the same before. */
static bool add_point(struct count_decreases *c, struct arena *arena, const struct line *l)
{
	struct str hash = line_state_hash(l);
	struct count_point now = {c->known ? c->count : 0, 0};

	if (hash.n < sizeof(now.state)) {
		return false;
	}
	memcpy(&now.state, hash.p, sizeof(now.state));
	for (size_t i = 0; i < c->point_count; i++) {
		const struct count_point *p = nth_point(c, i);

		if (p->count == now.count && p->state == now.state) {
			return true;
		}
	}
	if (c->point_count == COUNT_DECREASES_POINTS) {
		return false;
	}
	if (c->point_count % COUNT_DECREASES_CHUNK == 0) {
		c->points[c->point_count / COUNT_DECREASES_CHUNK] =
			arena_new(arena, COUNT_DECREASES_CHUNK * sizeof(now));
	}
	*nth_point(c, c->point_count++) = now;
	return false;
}

/* Hash of the episode's id in the state; 0: none. */
static uint64_t episode_of(const struct line *l)
{
	struct str id = JSON_GET(l->value[KEY_STATE], "episode_id");

	return json_type(id) == JSON_STRING && id.n > sizeof("\"\"") - 1 ? fingerprint(id) : 0;
}

/* Does the environment go on, with a count that starts anew? A recreated one has another episode id
   or none, or the state of a new episode: the one before the first call, or after the same call.
   seen: this count was seen with this state before. */
static bool goes_on(const struct count_decreases *c, const struct line *l, bool seen)
{
	bool comparable = c->count == 0 || (c->count == 1 && c->call == c->counted[0]);

	return c->undecided && l && c->episode && episode_of(l) == c->episode && comparable &&
	       !seen;
}

/* The line shows the state after the previous call. */
static void decide(struct count_decreases *c, struct arena *arena, const struct line *l)
{
	bool learns = c->undecided || c->point_count < COUNT_DECREASES_POINTS;
	bool seen = l && learns && add_point(c, arena, l);
	bool returned = c->undecided && seen && !c->was_counted;

	if (c->undecided && !returned && !goes_on(c, l, seen)) {
		add_decrease(c, c->undecided_from, c->turn, c->step);
	}
	c->returned = c->returned || returned;
	c->undecided = false;
}

/* `counted`: the count increased over this call before. */
static void add_evidence(struct count_decreases *c, int64_t from, const struct derived_line *m,
                         bool counted)
{
	const struct line *l = m->line;

	c->undecided = true;
	c->call = m->call;
	c->was_counted = counted;
	c->undecided_from = from;
	c->turn = l->turn;
	c->step = l->step;
	c->episode = episode_of(l);
}

/* The first counted call after the environment was taken back must increase the count; otherwise
   it was not taken back, and the decrease is evidence. */
static void learn(struct count_decreases *c, uint64_t call, bool counted, bool increased)
{
	if (c->returned && counted) {
		if (!increased) {
			add_decrease(c, c->undecided_from, c->turn, c->step);
		}
		c->returned = false;
	}
	if (increased && !counted && c->counted_count < COUNT_DECREASES_CALLS) {
		c->counted[c->counted_count++] = call;
	}
}

static void add_count(struct count_decreases *c, const struct derived_line *m)
{
	const struct line *l = m->line;
	int64_t before = c->known ? c->count : 0;
	bool increased = m->env_steps > before;
	bool decreased = c->known && m->env_steps < before && !is_done(l) && !is_level_end(c, l);

	if (c->known && c->unread > 0 && m->env_steps > 0 && m->env_steps <= before) {
		span_add(&c->restarts, l->turn, l->step);
	}
	c->unread = 0;
	c->increases += c->known && increased;
	c->count = m->env_steps;
	c->known = true;
	c->best_reward = increased ? fmax(c->best_reward, reward_of(l)) : c->best_reward;
	if (c->learned++ >= LEARNED_MAX && !decreased && !c->returned) {
		return;
	}
	bool counted = was_counted(c, m->call);
	if (decreased) {
		add_evidence(c, before, m, counted);
	}
	learn(c, m->call, counted, increased);
}

void count_decreases_step(struct count_decreases *c, struct arena *arena,
                          const struct derived_line *m)
{
	decide(c, arena, m->line);
	c->unread += m->env_steps < 0 && !m->failed;
	if (m->env_steps >= 0 && !m->outside_episode) {
		add_count(c, m);
	}
}

void count_decreases_end(struct count_decreases *c, struct arena *arena, const struct line *l)
{
	decide(c, arena, l);
}

void count_decreases_reset(struct count_decreases *c)
{
	c->known = false;
}
