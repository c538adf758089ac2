/* Decreases of the environment's own step count: see count_decreases.h. */
#include "facts/count_decreases.h"

#include "facts/fingerprint.h"

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

/* A higher reward than any counted step earned: a level was completed, and the next one has a count
   of its own. */
static bool is_level_end(const struct count_decreases *c, const struct derived_line *m)
{
	return m->reward > c->best_reward;
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

/* The state at this line and the count so far; false if the state is unknown. */
static bool read_point(const struct count_decreases *c, const struct line *l,
                       struct count_point *out)
{
	struct str hash = line_state_hash(l);

	if (hash.n < sizeof(out->state)) {
		return false;
	}
	out->count = c->known ? c->count : 0;
	memcpy(&out->state, hash.p, sizeof(out->state));
	return true;
}

static bool is_same_point(const struct count_point *a, const struct count_point *b)
{
	return a->count == b->count && a->state == b->state;
}

static bool has_point(const struct count_decreases *c, const struct count_point *point)
{
	for (size_t i = 0; i < c->point_count; i++) {
		if (is_same_point(nth_point(c, i), point)) {
			return true;
		}
	}
	return false;
}

/* Points are searched only after a decrease, so only the newest one is not stored twice. */
static void add_point(struct count_decreases *c, struct arena *arena,
                      const struct count_point *point)
{
	size_t n = c->point_count;

	if (n == COUNT_DECREASES_POINTS || (n > 0 && is_same_point(nth_point(c, n - 1), point))) {
		return;
	}
	if (n % COUNT_DECREASES_CHUNK == 0) {
		c->points[n / COUNT_DECREASES_CHUNK] =
			arena_new(arena, COUNT_DECREASES_CHUNK * sizeof(*point));
	}
	*nth_point(c, c->point_count++) = *point;
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

	return l && c->episode && episode_of(l) == c->episode && comparable && !seen;
}

/* The line shows the state after the call that decreased the count; `seen` as in goes_on. */
static void decide(struct count_decreases *c, const struct line *l, bool seen)
{
	bool returned = seen && !c->was_counted;

	if (!returned && !goes_on(c, l, seen)) {
		add_decrease(c, c->undecided_from, c->turn, c->step);
	}
	c->returned = c->returned || returned;
	c->undecided = false;
}

/* l: shows the state after the previous call; NULL: nothing does. */
static void take_state(struct count_decreases *c, struct arena *arena, const struct line *l)
{
	struct count_point point;
	bool known = l && read_point(c, l, &point);

	if (c->undecided) {
		decide(c, l, known && has_point(c, &point));
	}
	if (known) {
		add_point(c, arena, &point);
	}
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
	bool decreased = c->known && m->env_steps < before && !is_done(l) && !is_level_end(c, m);

	if (c->known && c->unread > 0 && m->env_steps > 0 && m->env_steps <= before) {
		span_add(&c->restarts, l->turn, l->step);
	}
	c->unread = 0;
	c->increases += c->known && increased;
	c->count = m->env_steps;
	c->known = true;
	if (increased && m->reward > c->best_reward) {
		c->best_reward = m->reward;
	}
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
	take_state(c, arena, m->line);
	c->unread += m->env_steps < 0 && !m->failed;
	if (m->env_steps >= 0 && !m->outside_episode) {
		add_count(c, m);
	}
}

void count_decreases_end(struct count_decreases *c, struct arena *arena, const struct line *l)
{
	take_state(c, arena, l);
}

void count_decreases_reset(struct count_decreases *c)
{
	c->known = false;
}
