/* How many sessions really get an environment: refused, queued, or admitted and then
   refused at the first call. */
#include "probe/inside.h"

static size_t count_room(const struct probe *p)
{
	size_t n = p->opened;

	if (p->step_refused && p->no_room == 1) {
		return 0;
	}
	for (size_t i = 1; i < p->opened; i++) {
		n -= p->visits[i].acted &&
		     p->visits[i].answer.outcome == OUTCOME_CAPACITY;
	}
	return n;
}

/* Who has the limit, and what it is called there. */
static void advise_limit(const struct probe *p, const struct answer *r,
                         struct property *out)
{
	if (probe_is_openenv(p)) {
		property_advise(out,
		                "raise MAX_CONCURRENT_ENVS, or max_concurrent_envs "
		                "where the server makes its app (its environment says "
		                "SUPPORTS_CONCURRENT_SESSIONS = True)");
	} else if (r->layer == LAYER_JSONRPC || r->layer == LAYER_HTTP) {
		property_advise(out, "raise the server's limit of sessions (max_sessions "
		                     "of the Python MCP SDK, MAX_CONCURRENT_ENVS of "
		                     "MCP-Gym)");
	} else {
		property_advise(out, "raise the limit of environments of the server, or "
		                     "of the proxy before it");
	}
}

static void advise_need(const struct probe *p, struct property *out)
{
	if (p->got_room) {
		property_advise(out, "or run no more than %zu rollout%s at a time",
		                p->got_room, plural(p->got_room));
	}
}

static void see_refusal(const struct probe *p, struct property *out)
{
	if (p->step_refused) {
		property_saw(out, "session %zu was opened, and its call refused",
		             p->no_room);
		property_quote(out, &p->step_refusal);
		advise_limit(p, &p->step_refusal, out);
		return;
	}
	switch (p->how_refused) {
	case SESSION_REFUSED:
		property_saw(out, "session %zu was refused", p->tried);
		property_quote(out, &p->refusal);
		if (p->refusal.outcome == OUTCOME_CAPACITY) {
			advise_limit(p, &p->refusal, out);
		} else if (p->refusal.class == CLASS_AUTH) {
			property_advise(out, "give the server its credentials: --header "
			                     "or --header-env");
		} else {
			property_advise(out, "see the server's own log: it fails "
			                     "before there is an environment");
		}
		break;
	case SESSION_LATE:
		property_saw(out,
		             p->queued ? "session %zu waited, and was opened once "
		                         "another had ended"
		                       : "session %zu got no answer in time",
		             p->tried);
		advise_limit(p, &p->refusal, out);
		break;
	case SESSION_LOST:
		property_saw(out, "session %zu", p->tried);
		property_quote(out, &p->refusal);
		break;
	case SESSION_OPEN:
	case SESSION_CLOSED:
		break;
	}
}

/* Requests that any environment may answer are no sessions. */
static bool has_no_sessions(const struct probe *p, struct property *out)
{
	if (!p->opened || strcmp(p->protocol, "openenv-http") != 0) {
		return false;
	}
	property_judge(out, PROPERTY_RED, "no sessions");
	property_saw(out, "over plain HTTP each request reaches a new environment, or "
	                  "one that all clients share");
	property_advise(out, "speak to its WebSocket: without --protocol openenv-http");
	return true;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	(void)err;
	if (has_no_sessions(p, out)) {
		return 0;
	}
	p->got_room = count_room(p);
	bool enough = p->got_room >= p->conf->need;
	bool lost = p->how_refused == SESSION_LOST;

	property_judge(out,
	               enough ? PROPERTY_OK
	               : lost ? PROPERTY_UNKNOWN
	                      : PROPERTY_RED,
	               "%zu of %zu", p->got_room, p->conf->sessions);
	see_refusal(p, out);
	if (p->conf->need < p->conf->sessions) {
		property_saw(out, "%zu needed", p->conf->need);
	}
	if (p->opened && str_starts(str_from(p->protocol), STR("mcp")) &&
	    !p->sessions[0].ids[0][0]) {
		property_saw(out, "the server names no sessions: it may be stateless");
	}
	if (enough) {
		buf_clear(&out->cure);
	} else {
		advise_need(p, out);
	}
	return 0;
}

const struct property_ops property_capacity = {examine};
