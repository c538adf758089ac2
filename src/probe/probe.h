/* Examines an environment server before somebody trains on it: how many sessions really
   get an environment, whether those are apart, keep their state, honour a seed, and come
   back; and, where the policy asks a model, that model and its server. Never more than
   `sessions` are open at a time, and none is left open. */
#ifndef ROLLDBG_PROBE_PROBE_H
#define ROLLDBG_PROBE_PROBE_H

#include "env/env.h"
#include "policy/llm/conf.h"
#include "policy/policy.h"
#include "rollout/tasks.h"
#include "rollout/trainer.h"

enum property_status {
	PROPERTY_OK,
	PROPERTY_RED,     /* it will hurt */
	PROPERTY_UNKNOWN, /* could not be judged: the evidence says why */
	PROPERTY_SKIPPED, /* there is nothing to judge */
	PROPERTY_STATUSES,
};
const char *property_status_name(enum property_status s);

/* One property of the server, judged. The texts may hold peers' bytes. */
struct property {
	const char *name;
	enum property_status status;
	struct buf value;    /* a few words */
	struct buf evidence; /* what was seen */
	struct buf cure;     /* what to do; empty: nothing */
};

struct probe_conf {
	struct env_conf env; /* all but env_session; the seed is what sessions start
	                        with, and the first that `seed` tries */
	const struct env_ops *env_ops;
	struct policy_conf policy; /* what to act with; empty: calls drawn from the
	                              schemas */
	size_t sessions;           /* open at a time, at most */
	size_t need;               /* as many as must get an environment */
	uint64_t settle_ms;        /* how long a closed session may hold on to its room */
	bool call_read_only;       /* call every tool that says it only reads, with {} */
	/* Examined too, and not acted with. NULL: the policy asks none. */
	const struct llm_conf *model;
	const struct tasks *tasks;          /* what is going to be done; NULL: unknown */
	const struct trainer_plan *trainer; /* NULL: unknown */
	struct io *io;
	/* Once, when the first session is open. */
	void (*opened)(void *ctx, const struct env_facts *f);
	/* Each property, as soon as it is judged. */
	void (*judged)(void *ctx, const struct property *p);
	void *ctx;
};

struct probe_summary {
	size_t count[PROPERTY_STATUSES];
	size_t capacity;   /* sessions that got an environment */
	struct error lost; /* the server went away on the way; kind FAIL_NONE: it did not
	                    */
	bool model_lost;   /* nobody is where the model should be */
	size_t model_requests; /* sent to the model's server */
};

/* One row of properties.def. */
struct property_title {
	const char *name, *title;
};
extern const struct property_title property_titles[];
extern const size_t property_titles_count;
/* Of preflight.def: where a model is asked, these follow. */
extern const struct property_title preflight_titles[];
extern const size_t preflight_titles_count;

/* 0: every property was judged, whatever the server did. -1: nobody was there in the
   first place (FAIL_TRANSPORT, FAIL_TIMEOUT, FAIL_PROTOCOL), a policy or option that does
   not fit, our own failure, or an interrupt: every session is closed all the same. */
MUST_USE int probe_run(const struct probe_conf *conf, struct probe_summary *out,
                       struct error *err);

#endif
