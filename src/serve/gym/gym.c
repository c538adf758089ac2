/* Environments, transports and the limit on environments: see gym.h. */
#include "serve/gym/gym.h"

#include "base/mem.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

#include <stdio.h>
#include <stdlib.h>

void gym_init(struct gym *g, const struct serve_conf *c)
{
	*g = (struct gym){.conf = *c,
	                  .envs = {.key = offsetof(struct gym_env, id)},
	                  .transports = {.key = offsetof(struct transport, key)},
	                  .traits = fault_traits(c) | (c->playback ? FAULT_HAS_NO_LIMIT : 0)};
}

static void env_end(const struct gym *g, struct gym_env *e)
{
	world_end(g->conf.world, e->instance);
	playback_end(e->played);
}

static void env_free(struct gym *g, struct gym_env *e)
{
	if (e->counted && !(g->traits & FAULT_KEEPS_SLOTS))
		g->slots_used--;
	map_remove(&g->envs, &e->item);
	env_end(g, e);
	free(e);
}

void gym_release(struct gym *g)
{
	struct transport **transports = map_list(&g->transports);
	struct gym_env **envs = map_list(&g->envs);

	for (size_t i = 0; i < g->transports.count; i++)
		free(transports[i]);
	for (size_t i = 0; i < g->envs.count; i++) {
		env_end(g, envs[i]);
		free(envs[i]);
	}
	free(transports);
	free(envs);
	world_end(g->conf.world, g->unowned.instance);
}

struct gym_env *gym_env(const struct gym *g, struct str id)
{
	return map_find(&g->envs, map_hash(id), id);
}

/* Frees the oldest environment without a transport. False if there is none. */
static bool evict_unused(struct gym *g)
{
	struct gym_env **envs = map_list(&g->envs), *oldest = NULL;

	for (size_t i = 0; i < g->envs.count; i++) {
		struct gym_env *e = envs[i];

		if (e->counted && e->transports == 0 && (!oldest || e->serial < oldest->serial))
			oldest = e;
	}
	free(envs);
	if (!oldest || g->traits & FAULT_KEEPS_SLOTS)
		return false;
	env_free(g, oldest);
	return true;
}

struct gym_env *gym_env_open(struct gym *g, struct str id)
{
	struct gym_env *e = gym_env(g, id);
	bool counted = !(g->traits & FAULT_HAS_NO_LIMIT);
	bool refused = false;

	if (e)
		return e;
	if (id.n > ENV_ID_MAX || g->envs.count > TRANSPORTS_MAX)
		return NULL;
	if (counted && g->slots_used >= g->conf.max_envs && !evict_unused(g)) {
		if (!(g->traits & FAULT_OPENS_ALL))
			return NULL;
		refused = true;
		counted = false;
	}
	e = mem_new(sizeof(*e) + id.n);
	char *name = (char *)(e + 1);

	memcpy(name, id.p, id.n);
	e->id = (struct str){name, id.n};
	e->serial = ++g->serial;
	e->refused = refused;
	e->counted = counted;
	g->slots_used += counted;
	map_add(&g->envs, &e->item, map_hash(e->id));
	return e;
}

void gym_env_reset(struct gym *g, struct gym_env *e, const uint64_t *seed)
{
	world_end(g->conf.world, e->instance);
	e->instance = world_begin(g->conf.world, &g->conf.world_conf, seed ? *seed : ++g->serial,
	                          g->conf.clock);
	e->step_count = 0;
	e->total_reward = 0;
	e->reward = 0;
	e->terminated = false;
}

/* Executes one call, starting an episode first if there is none. Counted as a step unless it is
   refused. */
static void act(struct gym *g, struct gym_env *e, struct world_call *a)
{
	if (!e->instance)
		gym_env_reset(g, e, NULL);
	g->conf.world->call(e->instance, a);
	if (a->is_error)
		return;
	atomic_fetch_add(&g->steps, 1);
	e->step_count++;
	e->reward = a->reward - (g->traits & FAULT_MOVES_COST ? 1 : 0);
	e->total_reward += e->reward;
	e->terminated = a->terminated;
}

/* After session-churn changed the id, the old one stays valid: the map key is the id without its
   last digits, which distinguish the ids of one transport. */
#define TELLING_DIGITS 8

struct transport *gym_transport(const struct gym *g, struct str id)
{
	if (id.n != TRANSPORT_ID)
		return NULL;
	struct str key = {id.p, TRANSPORT_ID - TELLING_DIGITS};
	struct transport *t = map_find(&g->transports, map_hash(key), key);

	return t && (str_is(id, t->id) || str_is(id, t->reply_id)) ? t : NULL;
}

void gym_new_id(char id[TRANSPORT_ID + 1])
{
	if (rng_unique_hex(id, TRANSPORT_ID) != 0)
		abort(); /* no kernel randomness: treated like out of memory */
}

static void env_leave(struct gym *g, struct gym_env *e)
{
	if (--e->transports == 0 && !(g->traits & FAULT_KEEPS_SLOTS))
		env_free(g, e);
}

bool gym_transport_point(struct gym *g, struct transport *t, struct str env_id)
{
	struct gym_env *before = t->env;
	struct gym_env *e = gym_env_open(g, env_id.p ? env_id : str_from(t->id));

	if (!e)
		return false;
	t->env = e;
	e->transports++;
	if (before)
		env_leave(g, before);
	return true;
}

struct transport *gym_transport_open(struct gym *g, struct str env_id)
{
	struct transport *t = mem_new(sizeof(*t));

	gym_new_id(t->id);
	memcpy(t->reply_id, t->id, sizeof(t->id));
	if (g->transports.count >= TRANSPORTS_MAX || !gym_transport_point(g, t, env_id)) {
		free(t);
		return NULL;
	}
	t->key = (struct str){t->id, TRANSPORT_ID - TELLING_DIGITS};
	map_add(&g->transports, &t->item, map_hash(t->key));
	return t;
}

void gym_transport_rename(struct transport *t)
{
	snprintf(t->reply_id + TRANSPORT_ID - TELLING_DIGITS, TELLING_DIGITS + 1, "%08x",
	         (unsigned)t->calls);
}

void gym_transport_close(struct gym *g, struct transport *t)
{
	env_leave(g, t->env);
	map_remove(&g->transports, &t->item);
	free(t);
}

/* ---- requests by path, and common replies ---- */

void reply_text(struct reply *r, unsigned status, const char *text)
{
	r->status = status;
	r->type = "text/plain; charset=utf-8";
	buf_text(&r->body, text);
}

void reply_json(struct reply *r, unsigned status, const char *json)
{
	r->status = status;
	r->type = "application/json";
	buf_text(&r->body, json);
}

void reply_refusal(struct reply *r, unsigned status, int code, const char *message)
{
	reply_json(r, status, "");
	json_pack(&r->body, "{jsonrpc:'2.0',id:'server-error',error:{code:%d,message:%t}}", code,
	          message);
}

void exchange_answer(struct gym *g, const struct request *q, struct reply *r)
{
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(&g->conf, &cursor));)
		if (f->request && f->request(q, r))
			return;
	if (str_is(q->path, "/mcp") || str_is(q->path, "/mcp/"))
		mcp_answer(g, q, r);
	else
		control_answer(g, q, r);
}

struct str call_tools(const struct gym *g)
{
	if (g->conf.playback) {
		struct str recorded = playback_sample(g->conf.playback)->tools;

		return recorded.p ? recorded : STR("[]");
	}
	return g->traits & FAULT_HAS_NO_TOOLS ? STR("[]") : *g->conf.world->tools;
}

/* An unknown tool is reported before faults are applied. */
static void refuse_unknown(const struct gym *g, struct call *c)
{
	if (!json_named(call_tools(g), c->world_call.tool).p) {
		world_call_unknown_tool(&c->world_call);
		c->done = true;
	}
}

void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c)
{
	const struct fault *f;

	*c = (struct call){.transport = t, .env = t->env};
	c->world_call = (struct world_call){.tool = tool,
	                                    .arguments = arguments,
	                                    .text = BUF(BUF_MAX_MESSAGE),
	                                    .structured = BUF(BUF_MAX_MESSAGE)};
	refuse_unknown(g, c);
	for (size_t cursor = 0; !c->done && (f = fault_of(&g->conf, &cursor));)
		if (f->before_call)
			f->before_call(g, c);
	if (!c->done)
		act(g, c->env, &c->world_call);
	t->calls++;
	for (size_t cursor = 0; (f = fault_of(&g->conf, &cursor));)
		if (f->after_call)
			f->after_call(g, c);
}

void call_release(struct call *c)
{
	BUFS_RELEASE(&c->world_call.text, &c->world_call.structured);
}
