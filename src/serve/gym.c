/* Environments and transports, and the room there is for them: see gym.h. */
#include "serve/gym.h"

#include "base/mem.h"

#include <stdlib.h>

void gym_init(struct gym *g, const struct serve_conf *c)
{
	*g = (struct gym){.conf = *c};
}

static void place_free(const struct gym *g, struct env *e)
{
	if (e->place != NULL && g->conf.world->release != NULL) {
		g->conf.world->release(e->place);
	}
	free(e->place);
	e->place = NULL;
}

static void env_free(struct gym *g, struct env *e)
{
	if (e->counted && !g->keeps_room) {
		g->taken--;
	}
	index_remove(&g->envs, &e->named);
	place_free(g, e);
	free(e);
}

void gym_release(struct gym *g)
{
	for (struct named *n = index_next(&g->transports, NULL), *next; n != NULL;
	     n = next) {
		next = index_next(&g->transports, n);
		free(n);
	}
	index_release(&g->transports);
	for (struct named *n = index_next(&g->envs, NULL), *next; n != NULL; n = next) {
		next = index_next(&g->envs, n);
		place_free(g, (struct env *)n);
		free(n);
	}
	index_release(&g->envs);
	place_free(g, &g->nobodys);
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
	const struct world *w = g->conf.world;

	place_free(g, e);
	e->place = mem_new(w->size);
	w->init(e->place, &g->conf, seed ? *seed : ++g->serial);
	e->step_count = 0;
	e->total_reward = 0;
	e->reward = 0;
	e->terminated = false;
}

void gym_env_act(struct gym *g, struct env *e, struct act *a)
{
	if (e->place == NULL) {
		gym_env_reset(g, e, NULL);
	}
	g->conf.world->call(e->place, a);
	if (a->is_error) {
		return;
	}
	atomic_fetch_add(&g->steps, 1);
	e->step_count++;
	e->reward = a->reward + g->step_reward;
	e->total_reward += e->reward;
	e->terminated = a->terminated;
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
