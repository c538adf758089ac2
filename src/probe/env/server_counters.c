/* Counters of the server, such as requests served or a leaderboard: the calls of one session increase
   them in the states of all, although each session has an environment of its own. */
#include "probe/probe_internal.h"

#include "json/diff.h"
#include "json/scan.h"

#include <inttypes.h>

#define COUNTERS_MAX 16

/* The members of another session's state that changed while the first one acted. */
struct server_counters {
	struct arena *arena;
	struct str pointers[COUNTERS_MAX];
	size_t count;
	bool otherwise; /* there were more, or a change that was not the growth of an integer */
};

static bool grew(const struct json_difference *d, int64_t *by)
{
	int64_t before, after;
	bool integers = json_i64(d->before, &before) && json_i64(d->after, &after);

	*by = integers ? after - before : 0;
	return *by > 0;
}

static bool take(void *ctx, const struct json_difference *d)
{
	struct server_counters *c = ctx;
	int64_t by;

	c->otherwise = c->otherwise || c->count == COUNTERS_MAX || !grew(d, &by);
	if (!c->otherwise) {
		c->pointers[c->count++] = arena_str(c->arena, d->pointer);
	}
	return !c->otherwise;
}

/* The first session's own changes. */
struct own {
	const struct server_counters *counters;
	int64_t calls;
	bool found; /* a member that its calls changed, unlike a counter of them, and only there */
};

static bool take_own(void *ctx, const struct json_difference *d)
{
	struct own *o = ctx;
	int64_t by;

	for (size_t i = 0; i < o->counters->count; i++) {
		if (str_eq(o->counters->pointers[i], d->pointer)) {
			return true;
		}
	}
	o->found = !grew(d, &by) || by != o->calls;
	return !o->found;
}

static bool are_counters(struct probe *p, size_t i, struct server_counters *c)
{
	const struct session *first = &p->sessions[0], *s = &p->sessions[i];
	struct own own = {.counters = c, .calls = (int64_t)probe_ok_calls(p)};

	if (!first->start.json.n || !first->later.json.n || !s->start.json.n || !s->later.json.n) {
		return false;
	}
	const struct json_paths *ignore = session_facts(s)->ignore_paths;

	json_diff(buf_view(&s->start.json), buf_view(&s->later.json), ignore, take, c);
	if (c->count == 0 || c->otherwise) {
		return false;
	}
	json_diff(buf_view(&first->start.json), buf_view(&first->later.json), ignore, take_own,
	          &own);
	return own.found;
}

int probe_leave_out_counters(struct probe *p, size_t i, struct error *err)
{
	struct server_counters c = {.arena = &p->arena};

	if (!are_counters(p, i, &c)) {
		return 0;
	}
	p->neighbors[i].changed = false;
	for (size_t k = 0; k < c.count; k++) {
		if (json_paths_add(p->pool.left_out, c.pointers[k], err)) {
			return -1;
		}
		p->server_counter = p->server_counter.p ? p->server_counter : c.pointers[k];
	}
	return 0;
}
