/* From facts to lines of a recording: header, reset, step, event, end. */
#ifndef ROLLDBG_ROLLOUT_LINES_H
#define ROLLDBG_ROLLOUT_LINES_H

#include "env/env.h"
#include "policy/policy.h"
#include "rollout/scratch.h"
#include "trajectory/recorder.h"

#include <pthread.h>

enum end_status {
	END_TERMINATED,
	END_TRUNCATED,
	END_FINISHED,
	END_MAX_TURNS,
	END_STOPPED,
	END_REFUSED,
	END_UNREACHABLE,
	END_INTERRUPTED,
	END_FAILED,
};

/* Takes every line that is written, for the live rules and the table. The line's slices
   live for the call. */
struct line_sink {
	int (*take)(void *ctx, const struct line *l, struct error *err);
	void *ctx;
};

/* One rollout's way into its recording. */
struct line_writer {
	struct recorder *recorder; /* borrowed */
	const struct line_sink *sinks;
	size_t sink_count;
	struct clock clock;
	struct scratch_pool *pool; /* borrowed */
	struct scratch *s;         /* of the line being made; NULL between lines */
	pthread_mutex_t *order;    /* see struct rollout_conf; borrowed, may be NULL */
	const char *rollout;
	int64_t lines;
};

void line_writer_init(struct line_writer *w, struct recorder *recorder,
                      const struct line_sink *sinks, size_t sink_count,
                      struct clock clock, struct scratch_pool *pool);

struct header_facts {
	const char *task;
	struct str vars; /* raw JSON object: its prompt variables; absent: none */
	int64_t sample;
	bool has_seed;
	int64_t seed;
	const struct env_facts *env;       /* NULL: no session */
	const struct policy_facts *policy; /* NULL: it was never opened */
	const char *protocol;              /* when env is NULL */
	int64_t max_turns;
	int64_t group_size; /* 0: of no group */
	uint64_t timeout_ms;
	const char *url;
	const char *version;
	const struct opt_list *masks; /* may be NULL */
};

struct step_facts {
	int64_t turn, step;
	struct str state; /* absent: unknown */
	const struct json_paths *ignore;
	const struct decision *decision;
	struct str messages; /* what the result added to those of the decision */
	const struct env_reply *reply;
	uint64_t at_ms;
	uint64_t latency_us;
};

struct end_facts {
	enum end_status status;
	const char *reason;
	int64_t turns, steps;
	struct str total_reward; /* raw JSON number; absent: null */
	struct str state;
	const struct json_paths *ignore;
	uint64_t took_ms;
};

/* Each returns 0, or -1 with FAIL_SYSTEM from the recorder or what a sink says. */
MUST_USE int write_header(struct line_writer *w, const struct header_facts *f,
                          struct error *err);
/* messages: raw JSON values, comma separated; may be absent. */
MUST_USE int write_reset(struct line_writer *w, const struct env_reply *r,
                         struct str messages, struct error *err);
MUST_USE int write_step(struct line_writer *w, const struct step_facts *f,
                        struct error *err);
/* A decision that sent nothing: `step` and `reply` are not looked at. */
MUST_USE int write_turn(struct line_writer *w, const struct step_facts *f,
                        struct error *err);
MUST_USE int write_event(struct line_writer *w, int64_t turn, const struct event *e,
                         struct error *err);
MUST_USE int write_end(struct line_writer *w, const struct end_facts *f,
                       struct error *err);

#endif
