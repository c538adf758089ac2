/* Data and functions shared by the properties: the open sessions and the calls made in them.
   Private to src/probe/. */
#ifndef ROLLDBG_PROBE_PROBE_INTERNAL_H
#define ROLLDBG_PROBE_PROBE_INTERNAL_H

#include "base/mem.h"
#include "evidence/reply_sequence.h"
#include "probe/env/session.h"
#include "probe/probe.h"

#define CALLS_MAX    24 /* calls tried to find some that succeed and change the state */
#define GOOD_MAX     4  /* successful calls that later sessions repeat */
#define SEED_DEFAULT 42 /* if the user gave none; some servers treat 0 as "no seed" */

/* One call in the first session and its reply. */
struct probe_call {
	struct str name, arguments;
	struct probe_reply reply;
	bool known;   /* the state before and after it is known */
	bool changed; /* and the two differ */
};

/* A session other than the first: its state while the first acted, and its first call. */
struct neighbor {
	bool compared; /* its states before and after the first session acted are known */
	bool changed;  /* and they differ */
	bool called;
	struct probe_reply reply;
};

struct probe {
	const struct probe_conf *conf;
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
	size_t first_effect;       /* index of the first that changed the state; CALLS_MAX: none */
	bool state_drifts;         /* the state changes without a call */
	struct str server_counter; /* pointer of a counter of all sessions; absent: none */

	struct reply_sequence replies; /* of all sessions */

	/* Verdicts of a property that others use. */
	bool loses_state;       /* calls do not build on each other */
	bool shared;            /* sessions share their environment */
	bool limited;           /* the server's limit was reached */
	bool step_refused;      /* sessions open, but their calls are refused for capacity */
	size_t refused_session; /* number of that session, from 1, when step_refused */
	struct probe_reply step_refusal;
};

struct property_ops {
	int (*examine)(struct probe *p, struct property *out, struct error *err);
};
#define PROPERTY(id, name, title) extern const struct property_ops property_##id;
#include "probe/env/properties.def"
#undef PROPERTY

/* ---- parallel.c: parallel sessions and their calls ---- */

/* Opens conf->sessions sessions, up to the first one refused. */
MUST_USE int probe_open_sessions(struct probe *p, struct error *err);
/* Calls in the first session, reads the state of the others before and after, then calls in
   those. */
MUST_USE int probe_act(struct probe *p, struct error *err);

/* ---- turns.c: a number that several sessions change ---- */

/* Adds the reply to the reset of session i, and to a call in it, to p->replies. */
void probe_note_reset(struct probe *p, size_t i);
void probe_note_call(struct probe *p, size_t i, const struct probe_call *call);
/* A few more calls, by all sessions in turn. */
MUST_USE int probe_take_turns(struct probe *p, const struct probe_call *call, struct error *err);

/* ---- server_counters.c ---- */

/* The state of session i changed while only the first one called. If all that changed are counters
   of the server, it counts as unchanged, and they are left out when episodes are compared. Needs the
   states of both before and after. */
MUST_USE int probe_leave_out_counters(struct probe *p, size_t i, struct error *err);

/* ---- reopen.c: sessions one after the other ---- */

/* Opens a session whose slot should be free: while the server refuses for capacity it is
   asked again until the deadline. */
MUST_USE int probe_reopen(struct probe *p, struct session *s, const int64_t *seed,
                          uint64_t deadline_ns, struct error *err);
uint64_t probe_settle_deadline(const struct probe *p);
/* Waits; an interrupt is the only failure. */
MUST_USE int probe_pause(struct probe *p, uint64_t ms, struct error *err);

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
/* The environment's step count as last reported; -1: never reported. */
int64_t probe_count_after_calls(const struct probe *p);
/* Does that count increase from call to call? */
bool probe_counts(const struct probe *p);
/* The first count reported; -1: never reported. */
int64_t probe_first_count(const struct probe *p);
/* Did that count go from 1 on, by one with each counted call? Others skip frames, count moves that
   are left, or start anew with each level: such counts say little about other sessions. */
bool probe_counts_by_one(const struct probe *p);
/* The number of successful calls at the end that were neither counted nor changed the
   state, if the environment counts at all. */
size_t probe_uncounted(const struct probe *p);
/* A successful call, by its index among them. */
const struct probe_call *probe_good(const struct probe *p, size_t i);

#endif
