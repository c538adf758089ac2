/* Data and functions shared by the properties: the open sessions and the calls made in them.
   Private to src/probe/. */
#pragma once

#include "base/mem.h"
#include "evidence/verdict.h"
#include "probe/env/probe_session.h"
#include "probe/probe.h"
#include "rollout/history.h"

#define CALLS_MAX    24 /* calls tried to find some that succeed and change the state */
#define GOOD_MAX     4  /* successful calls that later sessions repeat */
#define SEED_DEFAULT 42 /* if the user gave none; some servers treat 0 as "no seed" */
#define ROUNDS       3  /* times that what randomness could explain must be seen */

/* One call in the first session and its reply. */
struct probe_call {
	struct str name, arguments;
	struct probe_reply reply;
	struct str observation, state; /* raw; the state after it; absent: unknown */
	bool known;                    /* the state before and after it is known */
	bool changed;                  /* an effect of the call: the two differ */
};

/* A session other than the first: its state before and after the first one acted, and the reply to
   its own first call: the first one's first call with an effect. */
struct neighbor {
	struct str begin, start, later; /* reply to the reset, states; absent: unknown */
	bool called, same_id;           /* same_id: it reports the first one's environment */
	struct probe_reply reply;
	struct str observation;
	/* the member of its state that the first one's calls changed, with both values: "" none */
	char moved[160];
};

struct probe {
	const struct probe_conf *conf;
	/* Of the sessions, with a seed: experiments compare sessions that start alike. */
	struct env_conf env;
	struct session_pool pool;
	int64_t seed;

	/* Of the first session. */
	enum state_kind state_kind;
	struct env_traits traits;

	/* Sessions opened at the same time; those beyond `opened` were refused. */
	struct session *sessions;
	struct neighbor *neighbors;
	size_t tried, opened, got_env;
	bool queued;                /* the last one was opened only after another had ended */
	struct probe_reply refusal; /* of the first one refused */
	enum session_status refused_status;

	/* Calls of the first session. */
	struct arena arena;
	struct str tools; /* as advertised then, raw; absent: unknown */
	struct probe_call calls[CALLS_MAX];
	size_t call_count;
	bool named;                        /* the user gave the calls */
	const char *not_called;            /* why no calls were made; NULL: calls were made */
	size_t good[GOOD_MAX], good_count; /* indexes in `calls` of successful calls */
	size_t first_effect; /* index of the first that changed the state; CALLS_MAX: none */
	bool state_drifts;   /* the state changes without a call */
	/* The members of its states and of its replies, explained after its calls. */
	struct series states, replies;
	struct explaining explaining;
	struct verdict verdict;      /* on its calls */
	bool unlike, rewards_differ; /* of those that act: not all are the same; their rewards */
	/* Its reply to the reset, its first state, and the one when the others' were read. */
	struct str begin, start, later;
	struct str state_ignore; /* pointers, as in struct env_facts */
	char env_id[80];         /* of its environment */
	/* The call that the others make, sent again after all others, and the last reply. */
	size_t again_count;
	struct str again;
	unsigned seen;           /* bits of enum session_event, after its calls */
	bool lost;               /* its connection was lost */
	struct probe_reply last; /* its last reply */

	bool history_asked; /* the verdict below is set */
	struct history_verdict history;
	size_t history_sessions, history_calls; /* that it took */

	/* Verdicts of a property that others use. */
	bool loses_state;       /* calls do not build on each other */
	bool shared;            /* sessions share their environment */
	bool seed_varies;       /* a seed does not always give the same episode */
	bool leaks;             /* closed sessions keep their slots */
	bool limited;           /* the server's limit was reached */
	bool step_refused;      /* sessions open, but their calls are refused for capacity */
	size_t refused_session; /* number of that session, from 1, when step_refused */
	struct probe_reply step_refusal;
};

/* Judges one property. */
typedef int property_fn(struct probe *p, struct property *out, struct error *err);
#define PROPERTY(id, name, title, needed) property_fn property_##id;
#include "probe/env/properties.def"
#undef PROPERTY

/* ---- parallel.c: parallel sessions and their calls ---- */

/* Opens conf->sessions sessions, up to the first one refused. */
MUST_USE int probe_open_sessions(struct probe *p, struct error *err);
/* Calls in the first session, reads the state of the others before and after, then calls in
   those. */
MUST_USE int probe_act(struct probe *p, struct error *err);

/* The call that other sessions make, and the reply of the first one to it in its first state; NULL:
   no call succeeded. */
const struct probe_call *probe_call_for_others(const struct probe *p);
/* How two replies to that call, or two states, differ (evidence/explain.h). */
enum explanation probe_compare(const struct probe *p, const struct series *s, struct str a,
                               struct str b);

/* ---- history.c ---- */

/* Sends the history experiment, once. All sessions are closed. */
MUST_USE int probe_history(struct probe *p, struct error *err);

/* Copies to the arena; absent: empty. */
struct str probe_keep(struct probe *p, const struct buf *b);
/* Reads the state, also into the arena; absent: unknown. */
MUST_USE int probe_read(struct probe *p, struct session *s, struct snapshot *to, struct str *out,
                        struct error *err);

/* ---- reward.c ---- */

/* What the calls of one policy led to. */
struct played {
	bool played, known;     /* known: some reward was reported */
	size_t calls, failed;   /* failed: calls */
	struct probe_reply why; /* the first failure */
	double reward;
	struct probe_call last;
};

/* Makes calls in the first session until the policy or the episode ends, at most that many. Without a
   policy, `again` is repeated; NULL: nothing is called. */
MUST_USE int probe_play(struct probe *p, struct policy *policy, const struct probe_call *again,
                        size_t most, struct played *e, struct error *err);

/* ---- sessions one after the other ---- */

/* A new session with the probe's seed, in p->sessions[0]. Not open: the reason is in the
   evidence of the property, which is judged to be not tested. */
MUST_USE int probe_fresh(struct probe *p, struct property *out, struct error *err);
/* Are the two, of states or replies, alike apart from times, ids, counts and bookkeeping? */
bool probe_alike(const struct probe *p, const struct series *s, struct str a, struct str b);

uint64_t probe_settle_deadline(const struct probe *p);

/* ---- probe.c ---- */

/* Closes all open sessions. If one close gets no reply, the others do not wait for theirs. */
void probe_close_sessions(struct probe *p);
/* If no session got an environment, the property is judged to be not tested, and the result is
   true. */
bool probe_lacks_sessions(const struct probe *p, struct property *out);

/* Appends the reply to the evidence of a property. */
void property_quote(struct property *out, const struct probe_reply *r);

/* ---- queries ---- */

size_t probe_ok_calls(const struct probe *p);
/* Did the user name what the state is read from? */
bool probe_names_state(const struct probe *p);
/* Calls that changed the state. */
size_t probe_changes(const struct probe *p);
/* The number of successful calls at the end that were neither counted nor changed the
   state, if the environment counts at all. */
size_t probe_uncounted(const struct probe *p);
/* A successful call, by its index among them. */
const struct probe_call *probe_good(const struct probe *p, size_t i);
