/* The inside of one rollout, for rollout.c (its life) and play.c (its turns). */
#ifndef ROLLDBG_ROLLOUT_ROLLOUT_INTERNAL_H
#define ROLLDBG_ROLLOUT_ROLLOUT_INTERNAL_H

#include "rollout/rollout.h"

struct rollout {
	const struct rollout_conf *conf;
	struct env *env;
	struct policy *policy;
	struct policy_facts policy_facts;
	struct env_conf env_conf; /* conf's, with what the policy file adds */
	struct line_writer writer;
	char task[ROLLOUT_TASK_MAX + 1], id[ROLLOUT_TASK_MAX + 32];
	int64_t turns, steps, max_turns;
	double reward_sum;
	bool reward_known;
	bool more;              /* the policy has more calls for this turn */
	int rereads;            /* second readings of the state, so far */
	long long calls_before; /* answered calls of the batch, when the newest one was sent */
	int lost;               /* calls in a row without any answer */
	struct error misfit; /* why the options do not fit this session; kind FAIL_NONE: they do */
	struct buf last_error, reward_text;
	enum outcome last;
	struct str observation;
	struct arena texts; /* of env_conf */
	struct arena kept;  /* the last observation */
	struct arena now;   /* the state of this turn */
	struct str fresh;   /* the state, read since the last call; `is_fresh` */
	bool is_fresh;
	/* what does not count as change: the environment's and what changes by itself */
	struct json_paths *ignore_paths;
	struct buf ignore;
	uint64_t began_ns;
	struct rollout_result *result;
};

/* What does not count as a change of state. */
const struct json_paths *rollout_ignore(const struct rollout *r);

/* What the environment says of itself; without a session all facts are absent. */
const struct env_facts *rollout_env_facts(const struct rollout *r);

/* Writes what happened beside the answers: at the environment's end, or at both. */
MUST_USE int rollout_put_env_events(struct rollout *r, struct error *err);
MUST_USE int rollout_put_events(struct rollout *r, struct error *err);
/* Writes the events that are left and the last line. state: after the last step, absent
   when unknown. */
MUST_USE int rollout_put_end(struct rollout *r, enum end_status status, const char *reason,
                             struct str state, struct error *err);

/* The state as it is now, absent when unknown; it stays until the next time. */
MUST_USE int rollout_read_state(struct rollout *r, struct str *state, struct error *err);

/* All turns, from the first decision to the end line. */
MUST_USE int rollout_play(struct rollout *r, struct error *err);

#endif
