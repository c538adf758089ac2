/* What the properties share: the sessions that are open, what was done in them, and how
   an opinion is written down. Private to src/probe/. */
#ifndef ROLLDBG_PROBE_INSIDE_H
#define ROLLDBG_PROBE_INSIDE_H

#include "base/mem.h"
#include "probe/probe.h"
#include "probe/session.h"

#define ACTS_MAX  24 /* calls tried, to find some that do something */
#define GOOD_MAX  4  /* calls repeated where the same has to happen again */
#define SEED_ELSE 42 /* where the user gave none; servers take 0 for "no seed" */

/* One call in the first session, and what came of it. */
struct act {
	struct str name, arguments;
	struct answer answer;
	bool known, changed; /* is the state known before and after it; do they differ */
};

/* The first call of a session other than the first. */
struct visit {
	bool looked, moved; /* the state before and after the first session acted */
	bool acted;
	struct answer answer;
};

struct probe {
	const struct probe_conf *conf;
	struct asking asking;
	int64_t seed;

	/* Of the first session; constant texts. */
	const char *protocol, *state_kind;
	bool takes_seed, starts_over;

	/* Sessions that were opened side by side; those beyond `opened` were refused. */
	struct session *sessions;
	struct visit *visits;
	size_t tried, opened, got_room;
	bool queued;           /* one was opened only after another had ended */
	struct answer refusal; /* of the first that got none */
	enum session_how how_refused;

	/* What the first session did. */
	struct arena arena;
	struct str tools; /* as advertised then, raw; absent: unknown */
	struct act acts[ACTS_MAX];
	size_t act_count;
	bool named;          /* the user said what to call */
	const char *no_acts; /* why nothing was tried; NULL: something was */
	size_t good[GOOD_MAX], good_count; /* places in acts of calls that worked */
	size_t changer; /* place of the first that changed something; ACTS_MAX: none */
	bool restless;  /* the state moves without any call */

	/* What a property said that others look at. */
	bool forgets;      /* calls do not build on each other */
	bool shared;       /* sessions share their environment */
	bool limited;      /* the server's limit was met */
	bool step_refused; /* room is refused not to sessions, but to calls */
	size_t no_room;    /* which session, from 1, when step_refused */
	struct answer step_refusal;
};

struct property_ops {
	int (*examine)(struct probe *p, struct property *out, struct error *err);
};
#define PROPERTY(id, name, title) extern const struct property_ops property_##id;
#include "probe/properties.def"
#undef PROPERTY

/* ---- gather.c: the sessions side by side, and what they do ---- */

/* Opens as many as there are to be. */
MUST_USE int probe_open_sessions(struct probe *p, struct error *err);
/* Acts in the first, looks at the others before and after, then acts in those. */
MUST_USE int probe_act(struct probe *p, struct error *err);

/* ---- repeat.c: sessions of their own, one after the other ---- */

/* Opens a session that had its room before: where the server refuses for lack of room it
   is asked again until settle_ms have passed. */
MUST_USE int probe_reopen(struct probe *p, struct session *s, const int64_t *seed,
                          uint64_t deadline_ns, struct error *err);
uint64_t probe_settle_deadline(const struct probe *p);
/* Waits for a moment; an interrupt is the only failure. */
MUST_USE int probe_pause(struct probe *p, uint64_t ms, struct error *err);

/* ---- probe.c ---- */

/* Closes what is open. Where one goodbye gets no answer the others do not wait for
   theirs. */
void probe_close_sessions(struct probe *p);

/* ---- words ---- */

void property_judge(struct property *out, enum property_status status, const char *fmt,
                    ...) PRINTF_LIKE(3, 4); /* status and value */
void property_saw(struct property *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
void property_advise(struct property *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Appends what was answered to the evidence. */
void property_quote(struct property *out, const struct answer *r);
/* "1 session", "3 sessions" */
const char *plural(size_t n);

/* ---- small questions ---- */

bool probe_is_openenv(const struct probe *p);
size_t probe_ok_acts(const struct probe *p);
/* The environment's own count of steps after the last act that told it; -1: none did. */
int64_t probe_count_after_acts(const struct probe *p);
/* Is that count one that goes on from call to call? */
bool probe_counts(const struct probe *p);
/* Good calls at the end that were neither counted nor changed anything, where calls are
   counted. */
size_t probe_uncounted(const struct probe *p);
/* A good call, by its place among them. */
const struct act *probe_good(const struct probe *p, size_t i);

#endif
