/* Environments and transports, and the room there is for them: see gym.h. */
#include "serve/gym.h"

#include "base/mem.h"
#include "json/write.h"

#include <stdlib.h>

void gym_init(struct gym *g, const struct serve_conf *c)
{
	*g = (struct gym){.conf = *c};
}

static void env_free(struct gym *g, struct env *e)
{
	if (e->counted && !g->keeps_room) {
		g->taken--;
	}
	index_remove(&g->envs, &e->named);
	free(e);
}

static void release_all(struct index *x)
{
	for (struct named *n = index_next(x, NULL), *next; n != NULL; n = next) {
		next = index_next(x, n);
		free(n);
	}
	index_release(x);
}

void gym_release(struct gym *g)
{
	release_all(&g->transports);
	release_all(&g->envs);
}

struct env *gym_env(const struct gym *g, struct str id)
{
	return (struct env *)index_find(&g->envs, id);
}

/* The oldest that no transport speaks for gives way; false when there is none. */
static bool make_room(struct gym *g)
{
	struct env *oldest = NULL;

	for (struct named *n = index_next(&g->envs, NULL); n != NULL;
	     n = index_next(&g->envs, n)) {
		struct env *e = (struct env *)n;

		if (e->counted && e->transports == 0 &&
		    (oldest == NULL || e->serial < oldest->serial)) {
			oldest = e;
		}
	}
	if (oldest == NULL || g->keeps_room) {
		return false;
	}
	env_free(g, oldest);
	return true;
}

struct env *gym_env_open(struct gym *g, struct str id)
{
	struct env *e = gym_env(g, id);
	bool counted = g->when_full != FULL_NEVER;
	bool refused = false;

	if (e != NULL) {
		return e;
	}
	if (id.n > ENV_ID_MAX || g->envs.count > TRANSPORTS_MAX) {
		return NULL;
	}
	if (counted && g->taken >= g->conf.max_envs && !make_room(g)) {
		if (g->when_full == FULL_REFUSE) {
			return NULL;
		}
		refused = true;
		counted = false;
	}
	e = mem_new(sizeof(*e) + id.n);
	char *name = (char *)(e + 1);

	memcpy(name, id.p, id.n);
	e->named.name = (struct str){name, id.n};
	e->serial = ++g->serial;
	e->refused = refused;
	e->counted = counted;
	g->taken += counted;
	index_add(&g->envs, &e->named);
	return e;
}

void gym_env_reset(struct gym *g, struct env *e, const uint64_t *seed)
{
	lake_init(&e->lake, g->conf.map, g->conf.slippery, seed ? *seed : ++g->serial);
	e->born = true;
	e->step_count = 0;
	e->total_reward = 0;
	e->reward = 0;
	e->terminated = false;
	e->chance = 0;
}

void gym_env_step(struct gym *g, struct env *e, int action)
{
	struct lake_step step = lake_move(&e->lake, action);

	atomic_fetch_add(&g->steps, 1);
	e->step_count++;
	e->reward = step.reward + g->move_reward;
	e->total_reward += e->reward;
	e->terminated = step.terminated;
	e->chance = step.chance;
}

/* After a change of name under session-churn the old one goes on being understood:
   `named` is the id without its last digits, which tell the names of one transport apart.
 */
#define TELLING_DIGITS 8

struct transport *gym_transport(const struct gym *g, struct str id)
{
	if (id.n != TRANSPORT_ID) {
		return NULL;
	}
	struct str stem = {id.p, TRANSPORT_ID - TELLING_DIGITS};
	struct transport *t = (struct transport *)index_find(&g->transports, stem);

	return t && (str_is(id, t->id) || str_is(id, t->shown)) ? t : NULL;
}

static void leave(struct gym *g, struct env *e)
{
	if (--e->transports == 0 && !g->keeps_room) {
		env_free(g, e);
	}
}

void gym_mint(char id[TRANSPORT_ID + 1])
{
	if (rng_unique_hex(id, TRANSPORT_ID) != 0) {
		abort(); /* no kernel random numbers: like no memory */
	}
}

struct transport *gym_transport_open(struct gym *g, struct str env_id)
{
	struct transport *t = mem_new(sizeof(*t));

	gym_mint(t->id);
	memcpy(t->shown, t->id, sizeof(t->id));
	t->env = g->transports.count < TRANSPORTS_MAX
	                 ? gym_env_open(g, env_id.p ? env_id : str_from(t->id))
	                 : NULL;
	if (t->env == NULL) {
		free(t);
		return NULL;
	}
	t->env->transports++;
	t->named.name = (struct str){t->id, TRANSPORT_ID - TELLING_DIGITS};
	index_add(&g->transports, &t->named);
	return t;
}

bool gym_transport_move(struct gym *g, struct transport *t, struct str env_id)
{
	struct env *e = gym_env_open(g, env_id.p ? env_id : str_from(t->id));

	if (e == NULL) {
		return false;
	}
	e->transports++;
	leave(g, t->env);
	t->env = e;
	return true;
}

void gym_transport_close(struct gym *g, struct transport *t)
{
	leave(g, t->env);
	index_remove(&g->transports, &t->named);
	free(t);
}

void gym_observe(const struct env *e, const char *action, bool indented, struct buf *out)
{
	const char *first = indented ? "\n  " : "", *then = indented ? ",\n  " : ",";
	const char *blank = indented ? " " : "", *last = indented ? "\n" : "";
	struct buf grid = BUF(BUF_MAX_SMALL);

	lake_draw(&e->lake, &grid);
	buf_printf(out, "{%s\"position\":%s%u%s\"grid\":%s", first, blank,
	           e->lake.position, then, blank);
	json_quote(out, buf_view(&grid));
	if (action != NULL) {
		buf_printf(out, "%s\"action\":%s\"%s\"", then, blank, action);
	}
	buf_printf(out, "%s}", last);
	buf_release(&grid);
}
