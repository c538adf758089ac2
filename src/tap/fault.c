/* Chooses faults, and keeps replies for those that repeat one: see fault.h. */
#include "tap/fault.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

#define SESSIONS_MAX 1024 /* whose replies are kept */

const struct tap_fault tap_faults[TAP_FAULTS] = {
#define TAP_FAULT(id, name, when, wire, passes, help) {name, when, wire, passes, help},
#include "tap/faults.def"
#undef TAP_FAULT
};

struct kept {
	struct map_item item; /* must be first */
	struct buf reply;
};

struct tap_engine {
	struct tap_fault_conf conf;
	struct tap_strike strike;
	struct map replies; /* by session */
	uint64_t last_session,
		last_of_another; /* the sessions of the last two replies of different ones */
};

struct tap_engine *tap_engine_new(const struct tap_fault_conf *conf)
{
	struct tap_engine *e = mem_new(sizeof(*e));

	e->conf = *conf;
	return e;
}

static void forget(struct tap_engine *e)
{
	struct kept **all = map_list(&e->replies);

	for (size_t n = e->replies.count, i = 0; i < n; i++) {
		map_remove(&e->replies, &all[i]->item);
		buf_release(&all[i]->reply);
		free(all[i]);
	}
	free(all);
}

void tap_engine_free(struct tap_engine *e)
{
	if (e) {
		forget(e);
		free(e);
	}
}

uint64_t tap_engine_delay_ns(const struct tap_engine *e)
{
	return e->conf.delay_ns;
}

static enum tap_fault_part part_of(enum tap_fault_id f)
{
	return f == TAP_FAULT_NULL_REWARD || f == TAP_FAULT_NAN_REWARD ? FAULT_PART_REWARD
	       : f == TAP_FAULT_NO_DONE                                ? FAULT_PART_END
	                                                               : FAULT_PART_CALL;
}

static bool applies(const struct tap_engine *e, const struct tap_fault_rule *rule,
                    const struct tap_request *q)
{
	const struct tap_fault *f = &tap_faults[rule->fault];
	enum tap_fault_wire wire = q->socket ? FAULT_ON_SOCKET : FAULT_ON_HTTP;

	if (f->when != q->when || !(f->wire & wire) ||
	    (q->part != FAULT_PART_ALL && q->part != part_of(rule->fault)))
		return false;
	if (f->when == FAULT_AT_SESSION)
		return q->open > e->conf.max_sessions;
	return !rule->condition || e->conf.holds(rule->condition, q);
}

static bool repeats(enum tap_fault_id f)
{
	return f == TAP_FAULT_STALE_REPLY || f == TAP_FAULT_LOST_RESET ||
	       f == TAP_FAULT_OTHER_REPLY;
}

enum tap_fault_id tap_engine_asked(struct tap_engine *e, const struct tap_request *q)
{
	enum tap_fault_id found = TAP_FAULT_NONE;

	for (size_t i = 0; i < e->conf.count && found == TAP_FAULT_NONE; i++)
		found = applies(e, &e->conf.rules[i], q) ? e->conf.rules[i].fault : TAP_FAULT_NONE;
	if (repeats(found) && !tap_engine_last(e, q->session, found == TAP_FAULT_OTHER_REPLY).p)
		found = TAP_FAULT_NONE;
	if (found == TAP_FAULT_NONE &&
	    (q->when == FAULT_AT_SESSION || q->part >= FAULT_PART_REWARD))
		return found; /* its reply is not one that can be repeated */
	e->strike = (struct tap_strike){.any = true, .fault = found, .session = q->session};
	return found;
}

struct tap_strike tap_engine_take(struct tap_engine *e)
{
	struct tap_strike s = e->strike;

	e->strike = (struct tap_strike){.fault = TAP_FAULT_NONE};
	return s;
}

/* ---- replies ---- */

static struct kept *find(const struct tap_engine *e, uint64_t session)
{
	return map_find(&e->replies, map_hash_with(0, session), STR_NONE);
}

struct str tap_engine_last(const struct tap_engine *e, uint64_t session, bool of_another)
{
	uint64_t other = session == e->last_session ? e->last_of_another : e->last_session;
	const struct kept *k = find(e, of_another ? other : session);

	return k && k->reply.n ? buf_view(&k->reply) : STR_NONE;
}

void tap_engine_keep(struct tap_engine *e, uint64_t session, struct str reply)
{
	struct kept *k = find(e, session);

	if (!k) {
		if (e->replies.count >= SESSIONS_MAX)
			forget(e);
		k = mem_new(sizeof(*k));
		k->reply = BUF(BUF_MAX_SMALL);
		map_add(&e->replies, &k->item, map_hash_with(0, session));
	}
	buf_set(&k->reply, reply);
	if (k->reply.full)
		buf_clear(&k->reply);
	if (session != e->last_session) {
		e->last_of_another = e->last_session;
		e->last_session = session;
	}
}
