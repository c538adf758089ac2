/* Writes facts as lines of a recording. A rollout or an import fills these structs; all texts
   are borrowed during the call. */
#pragma once

#include "base/clock.h"
#include "json/canon.h"
#include "recording/env_reply.h"
#include "recording/events.h"
#include "recording/recorder.h"

#include <pthread.h>

/* Truncates the longest value of a line beyond RECORD_LINE_MAX that may be truncated: to a string with
   its start, or to null if the key takes no string. A state becomes null, because part of a state
   would be a different state; its hash is kept. The new value is allocated in `a`. *detail: JSON for
   a truncated-bytes event. False: no value is left to truncate. */
bool line_cut_longest(struct line *l, struct arena *a, char detail[128]);

/* Receives every line that is written, for the live rules and the table. The line's slices are
   valid during the call. */
struct line_sink {
	int (*take)(void *ctx, const struct line *l, struct error *err);
	void *ctx;
};

/* Working memory for writing a line. Rollouts that wait for their servers hold none; those that
   write share a few blocks, the most recently used first, because it is still in the processor's
   cache. Thread-safe. */
struct scratch_pool;

struct scratch_pool *scratch_pool_new(void);
void scratch_pool_free(struct scratch_pool *p); /* all must have been returned; NULL is fine */

/* Writes the lines of one rollout. A value that makes a line longer than readers accept is
   truncated and an event before the line records that. */
struct line_writer {
	struct recorder *recorder; /* borrowed */
	const struct line_sink *sinks;
	size_t sink_count;
	struct clock clock;
	struct scratch_pool *pool; /* borrowed */
	struct scratch *s;         /* of the current line; NULL between lines */
	pthread_mutex_t *order;    /* held while a line is written; borrowed, may be NULL */
	const char *rollout;
	int64_t lines;
	uint64_t overflown; /* bits: values of the current line that exceeded a buffer's cap */
};

void line_writer_init(struct line_writer *w, struct recorder *recorder,
                      const struct line_sink *sinks, size_t sink_count, struct clock clock,
                      struct scratch_pool *pool);

struct header_fields {
	const char *task;
	struct str vars;       /* raw JSON object: the task's prompt variables; may be absent */
	struct str reset_args; /* raw JSON object: arguments of the reset; may be absent */
	int64_t sample;
	bool has_seed;
	int64_t seed;
	/* Without a session only the protocol is known. */
	const char *protocol;
	struct str env_name, env_version;
	enum state_kind state_kind; /* STATE_UNKNOWN: no state source */
	/* URI, tool name or pointer, decoded, and the tool's arguments, raw; absent: none */
	struct str state_target, state_arguments;
	struct str state_ignore;               /* raw JSON array; absent: [] */
	struct str volatile_numbers;           /* raw JSON array; empty: none */
	bool no_names;                         /* names do not mark bookkeeping */
	struct str tools;                      /* raw JSON array; absent: null */
	enum policy_kind policy_kind;          /* POLICY_UNKNOWN: never opened */
	struct str policy_name, policy_params; /* params: raw JSON object */
	struct str parent;    /* id of the rollout it was forked from; absent: not forked */
	int64_t parent_steps; /* number of its steps that are repeated */
	bool seeded;          /* its environment accepts a seed and was given one */
	int64_t max_turns;    /* -1: rolldbg sets no limits */
	int64_t group_size;   /* 0: not part of a group */
	uint64_t timeout_ms;
	const char *const *masks;
	size_t mask_count;
	/* for `meta` */
	const char *version; /* of rolldbg */
	struct str url, session, env_session, parent_file;
	int64_t client_port;                    /* of a client that is not rolldbg; 0: none */
	const char *revision, *era, *transport; /* of MCP; NULL otherwise */
};

/* One tool call. */
struct call_fields {
	struct str id; /* decoded; absent: derived from the step's number */
	struct str name;
	struct str arguments; /* raw JSON */
};

struct step_fields {
	int64_t turn, step;
	struct str state; /* absent: unknown */
	const struct json_paths *ignore;
	const struct call_fields *call;
	struct str messages, more_messages; /* of the policy, and of the call's result */
	struct str llm;                     /* raw JSON object; absent without a model */
	const char *joined; /* for `meta`: how its rollout is known, of a tap; NULL: not joined */
	const struct env_reply *reply;
	uint64_t at_ms;
	uint64_t latency_us;
};

struct end_fields {
	enum end_status status;
	const char *reason;
	int64_t turns, steps;
	struct str total_reward;      /* raw JSON number; absent: null */
	struct str reward_components; /* raw JSON object; absent: none */
	struct str state;
	const struct json_paths *ignore;
	uint64_t took_ms;
};

/* Each returns 0, or -1 with FAIL_SYSTEM from the recorder or the error of a sink. */
MUST_USE int line_writer_header(struct line_writer *w, const struct header_fields *f,
                                struct error *err);
/* messages: raw JSON values, comma-separated; may be absent. */
MUST_USE int line_writer_reset(struct line_writer *w, const struct env_reply *r,
                               struct str messages, struct error *err);
MUST_USE int line_writer_step(struct line_writer *w, const struct step_fields *f,
                              struct error *err);
/* A turn without a sent call: call is NULL, or has the outcome and error that explain why it was
   not sent. */
MUST_USE int line_writer_turn(struct line_writer *w, const struct step_fields *f,
                              struct error *err);
MUST_USE int line_writer_event(struct line_writer *w, int64_t turn, const struct event *e,
                               struct error *err);
MUST_USE int line_writer_end(struct line_writer *w, const struct end_fields *f, struct error *err);
