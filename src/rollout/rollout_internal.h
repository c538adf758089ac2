/* The fields of a rollout, for rollout.c (start and end), play.c (its turns) and second_read.c. */
#pragma once

#include "rollout/rollout.h"

struct rollout {
	const struct rollout_conf *conf;
	struct env *env;
	struct policy *policy;
	struct policy_facts policy_facts;
	struct env_conf env_conf; /* of conf, plus what the policy file adds */
	struct line_writer writer;
	char task[ROLLOUT_TASK_MAX + 1], id[ROLLOUT_TASK_MAX + 32];
	int64_t turns, steps, max_turns;
	double reward_sum;
	bool reward_known;
	bool more;   /* the policy has more calls for this turn */
	int rereads; /* number of second readings of the state */
	/* calls that the batch had sent when this rollout read the state of this turn */
	long long calls_before;
	bool before_answers;  /* no call of the batch had been answered then */
	uint64_t latency_us;  /* of the last call */
	bool is_control;      /* see second_read_if_due() */
	uint64_t first_state; /* a hash of the state before the first call */
	int lost;             /* consecutive calls without a reply */
	const char *mismatch; /* why the options do not match; NULL: they do */
	struct buf last_error, reward_text;
	enum outcome last;
	struct str observation;
	struct arena texts; /* of env_conf */
	struct arena kept;  /* the last observation */
	struct arena now;   /* the state of this turn */
	struct str fresh;   /* the state read since the last call; valid if `is_fresh` */
	bool is_fresh;
	/* pointers ignored in the state: the environment's, and members that change without a
	   call */
	struct json_paths *ignore_paths;
	struct buf ignore, volatile_numbers;
	uint64_t began_ns;
	struct rollout_result *result;
};

/* The pointers that are ignored when states are compared. */
const struct json_paths *rollout_ignore(const struct rollout *r);

/* The environment's facts; without a session all are absent. */
const struct env_facts *rollout_env_facts(const struct rollout *r);

/* Write pending events: of the environment only, or also of the policy. */
MUST_USE int rollout_put_env_events(struct rollout *r, struct error *err);
MUST_USE int rollout_put_events(struct rollout *r, struct error *err);
/* Writes the remaining events and the end line. state: after the last step; absent if unknown. */
MUST_USE int rollout_put_end(struct rollout *r, enum end_status status, const char *reason,
                             struct str state, struct error *err);

/* The current state, absent if unknown; valid until the next call. */
MUST_USE int rollout_read_state(struct rollout *r, struct str *state, struct error *err);

/* Second reads (second_read.c): in a batch the state is read again before some of a rollout's first
   calls. A difference was caused by another rollout, or the state changes without calls. To tell
   these apart, the first rollout to act is the control: it reads again after its first call, while
   the others wait.
   Call these when the session is open, when the state of a turn was read, when a call is about to be sent, and when it was
   answered: */
void second_read_begin(struct rollout *r);
void second_read_state_read(struct rollout *r);
void second_read_call_sent(const struct rollout *r);
void second_read_call_answered(const struct rollout *r);
/* Before a call: waits a little for the control, if this is the first call. */
MUST_USE int second_read_await_control(struct rollout *r, struct error *err);
/* Before a call: decides whether to read the state again, and records the second read. state: the
   first read. */
MUST_USE int second_read_if_due(struct rollout *r, struct str state, struct error *err);
/* After the last turn: the others no longer wait for this rollout. */
void second_read_end(struct rollout *r);

/* Plays all turns, from the first decision to the end line. */
MUST_USE int rollout_play(struct rollout *r, struct error *err);
