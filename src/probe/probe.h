/* The directory probe/: examines servers. env/ has one file per property of an environment server,
   model/ one per property of a model. Protocols are in src/env/, printing is in cmd/. */

/* Examines an environment server before training: how many sessions get an environment,
   whether sessions are isolated and keep their state, whether a seed is reproducible and
   closed sessions free their slots. If the policy asks a model, the model and its server
   are examined too. At most `sessions` are open at a time, and none is left open. */
#pragma once

#include "env/env.h"
#include "policy/llm/conf.h"
#include "policy/policy.h"
#include "probe/property.h"
#include "rollout/tasks.h"
#include "rollout/trainer.h"

struct probe_conf {
	/* All but env_session. The seed is used by the sessions, and is the first one that the
	   property `seed` tries. */
	struct env_conf env;
	const struct env_ops *env_ops;
	struct policy_conf policy; /* makes the calls; empty: calls drawn from the schemas */
	size_t sessions;           /* open at a time, at most */
	size_t need;               /* sessions that must get an environment */
	uint64_t settle_ms;        /* how long a closed session may keep its slot */
	bool call_read_only;       /* call every tool marked read-only, with {} */
	/* Examined too; it makes no calls. NULL: the policy asks no model. */
	const struct llm_conf *model;
	const struct tasks *tasks;          /* of the planned run; NULL: unknown */
	const struct trainer_plan *trainer; /* NULL: unknown */
	const struct policy_conf *solution; /* solves the task; NULL: not given */
	struct str golden_tools;            /* of a golden, to compare with; absent: none */
	struct io *io;
	/* Creates an io for another thread, which frees it. NULL: no other threads, and the load
	   is not examined. */
	int (*new_io)(void *ctx, struct io **out, struct error *err);
	/* Called once, when the first session is open. */
	void (*opened)(void *ctx, const struct env_facts *f);
	/* Called for each property, as soon as it is judged. */
	void (*judged)(void *ctx, const struct property *p);
	void *ctx;
};

struct probe_summary {
	size_t count[PROPERTY_STATUSES];
	size_t capacity;       /* sessions that got an environment */
	struct error lost;     /* connection lost during the run; kind FAIL_NONE: not lost */
	bool model_lost;       /* the model's server was not reached */
	size_t model_requests; /* sent to the model's server */
	/* Is the environment fit to train on: OK, FAIL or UNKNOWN, and the properties that decide:
	   "capacity 3 of 8; seed only without other sessions". Released by the caller. */
	enum property_status fit;
	struct buf fit_why;
};

/* One row of properties.def. */
struct property_title {
	const char *name, *title;
};
extern const struct property_title property_titles[];
extern const size_t property_titles_count;
/* Rows of preflight.def: examined after the others if a model is given. */
extern const struct property_title preflight_titles[];
extern const size_t preflight_titles_count;

/* 0: every property was judged, whatever the server did. -1: the server was never reached
   (FAIL_TRANSPORT, FAIL_TIMEOUT, FAIL_PROTOCOL), a policy or option does not fit, a local
   failure, or an interrupt. Every session is closed in each case. */
MUST_USE int probe_run(const struct probe_conf *conf, struct probe_summary *out, struct error *err);
