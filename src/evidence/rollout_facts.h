/* The facts of a rollout, and those that one line adds. Terms used here and in the rules:

   step     a call that was sent: a line of type "step" with a step number (is_step). Lines of that
            type without a number are turns in which nothing was sent.
   turn     one decision of the policy, with any number of steps
   failed   the outcome is not ok. For lines and completed steps only if the user did not expect it
            (otherwise it is `expected`); counters and struct previous_steps include both.
   episode  from a reset to the line that reports terminated or truncated. A step is
            outside_episode if it was sent later, or if the user interrupted it.
   completed  a step whose effect is known */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "evidence/attribution.h"
#include "evidence/series.h"
#include "evidence/trace.h"
#include "evidence/verdict.h"
#include "recording/line.h"

#define ERROR_TEXT 144 /* size of a server's error in messages: escaped, truncated, terminated */

/* A range of turns and steps, and how often something occurred in it. */
struct span {
	int64_t first_turn, last_turn, first_step, last_step;
	int64_t count; /* 0: never */
};

static inline void span_add(struct span *s, int64_t turn, int64_t step)
{
	if (s->count++ == 0) {
		s->first_turn = turn;
		s->first_step = step;
	}
	s->last_turn = turn;
	s->last_step = step;
}

#define TOOL_NONE     (-1) /* no call, or a call without a name */
#define TOOL_UNLISTED (-2) /* a name that is not advertised, or the tools are unknown */

/* Members of a line's `llm` that rules look at. */
enum llm_member {
	LLM_ERROR,
	LLM_LOGPROBS,
	LLM_PROMPT_TOKEN_IDS,
	LLM_REASONING,
	LLM_TOKEN_IDS,
	LLM_USAGE,
	LLM_MEMBERS
};

/* Members of a step's `meta` that are looked at for every step. */
enum meta_member {
	META_AT,
	META_LATENCY,
	META_SESSION,
	META_ENV_SESSION,
	META_REPLY_SESSION,
	META_MEMBERS
};

/* One line and the facts derived from it. Slices are valid during the call. */
struct derived_line {
	const struct line *line; /* NULL if the rollout stops without an end line */
	bool is_step;            /* a step line whose call was sent (it has a step number) */
	bool failed;             /* is_step, outcome is not ok, and that was not expected */
	bool expected;           /* is_step, outcome is not ok, and that was expected */
	/* a call that need not change anything: of a read-only tool, or declared as no-op by the
	   user */
	bool idle;
	bool outside_episode; /* sent after its end, or interrupted */
	int tool;             /* index into rollout_facts.tools, or TOOL_NONE, TOOL_UNLISTED */
	struct str tool_name; /* as spelled between its quotes; absent with TOOL_NONE */
	struct str arguments;
	uint64_t call;     /* a hash of both, as spelled; only if is_step */
	int64_t env_steps; /* the environment's own count after this step; -1: unknown */
	bool reward_seen;  /* is_step, and the reward is a number */
	double reward;     /* 0 unless reward_seen */
	struct str llm[LLM_MEMBERS];
	struct str meta[META_MEMBERS]; /* of a step */
};

/* Kinds of lines that a rule can subscribe to (most steps are ok, and few rules need them). A line
   can be of several kinds. A step that failed as expected is only of kinds KIND_AFTER_END and
   KIND_LLM: a rule about steps in a row compares their numbers. */
enum kind {
	KIND_HEADER = 1 << 0,
	KIND_RESET = 1 << 1,
	KIND_EVENT = 1 << 2,
	KIND_OK = 1 << 3,     /* steps answered ok; not the expected failures */
	KIND_FAILED = 1 << 4, /* steps that failed; not the expected failures */
	KIND_TURN = 1 << 5,   /* turns without a call, or whose call was not sent */
	/* Steps of any outcome (for AFTER_END and UNLISTED: turns too) that ... */
	KIND_FIRST = 1 << 6,       /* are the rollout's first step */
	KIND_AFTER_END = 1 << 7,   /* come after the end of the episode */
	KIND_UNLISTED = 1 << 8,    /* call TOOL_UNLISTED */
	KIND_NO_STATE = 1 << 9,    /* are sent without a state */
	KIND_UNREPORTED = 1 << 10, /* are sent, but lack a reward or `terminated` */
	KIND_LLM = 1 << 11,        /* lines that describe a model's reply */
};
#define KINDS 12

struct tool_fact {
	struct str name; /* decoded */
	/* MCP annotations.readOnlyHint is true, or declared by the user, or without a hint:
	   learned from the baseline */
	bool read_only;
	bool learned;         /* read_only was learned from the baseline */
	bool idempotent;      /* MCP annotations.idempotentHint is true */
	struct str schema;    /* inputSchema, raw; absent when there is none, */
	bool schema_left_out; /* or because the schemas exceed our limit */
};

enum tools_known { TOOLS_UNKNOWN, TOOLS_SOME, TOOLS_ALL }; /* SOME: more than our limit */

/* `state_source.kind`, as far as rules distinguish it. */
enum source { SOURCE_NONE, SOURCE_OBSERVATION, SOURCE_NAMED };

/* Steps up to and including the first one that reported terminated or truncated. */
struct episode_counts {
	int64_t steps, failed;
	int64_t invalid;            /* failed ones whose arguments were refused */
	int64_t refused;            /* failed ones that the tool refused, for reasons of its own */
	int64_t idle;               /* steps that need not change anything */
	int64_t changed, unchanged; /* by their effects; known when the rollout is over */
};

/* The environment's own count of steps (`env_steps`). */
struct env_count {
	int64_t now, first; /* -1: unknown */
	int64_t reported;   /* number of steps with a known count */
	bool moved;         /* two of these counts differ */
	/* steps that increased it by one (including a first count of 1), and by more */
	int64_t by_one, by_more;
};

/* Facts of the steps before the current one. */
struct previous_steps {
	bool failed;      /* the last one failed, expected or not */
	bool reward_seen; /* some step had a numeric reward; the newest is `reward` */
	bool status_seen; /* some step's `terminated` was known */
	double reward;
};

/* Scratch memory for one line: clear before use. */
struct workspace {
	struct buf text, canon;
};

/* Facts from the header, and of the lines up to the current one. */
struct rollout_facts {
	struct str id;   /* as in the recording, decoded */
	struct str task; /* task.id, decoded; absent if there is none */
	enum policy_kind policy;
	bool draws;   /* the policy draws its calls from the tools' schemas */
	bool invents; /* and makes up texts of which they name no values */
	enum source source;
	bool state_is_named; /* the user chose it, or another recorder */
	/* Decoded name of the tool that reads the states without arguments, and therefore changes nothing;
	   absent: none. One that has arguments may do anything with others: only the call is known. */
	struct str state_tool;
	uint64_t state_call; /* 0: none */
	bool imported;       /* according to policy.kind or state_source.kind */
	uint64_t known;      /* bits of enum key: the keys its source can have; all in our own */
	int64_t max_turns;   /* limits.max_turns; -1: no limit */
	int64_t group_size;  /* limits.group_size or task.group_size; -1: not known */
	int64_t sample;      /* -1: not known */
	bool has_seed;
	int64_t seed;
	const struct trace *trace; /* the first states; only for rollouts with a seed */
	enum tools_known tools_known;
	const struct tool_fact *tools;
	size_t tool_count;
	struct map tool_places; /* index by name; empty if there are only a few tools */

	int64_t lines, turns, steps; /* counted from the lines, not copied from `end` */
	int64_t positions;           /* lines of type step: turns and steps */
	int64_t last_turn;           /* number of the last turn, -1 before the first */
	int64_t ended_turn;          /* the turn that reported terminated or truncated, or -1 */
	int64_t failed_run; /* consecutive failed steps, expected ones included, up to this line */
	int64_t fused;      /* objects that shared a line with an earlier one */
	bool torn;          /* the file's last line is truncated while this rollout is open */
	bool has_meta;      /* some line has `meta`: the recording was not stripped */
	struct episode_counts episode;
	struct previous_steps previous;
	int64_t effective; /* steps; known when the rollout is over; -1: no effect is known */
	bool reward_known; /* some successful step had a reward; reward_sum is their sum */
	double reward_sum;

	struct env_count env_count;
	bool alone;      /* no other rollout is open */
	bool concurrent; /* another one was open at some line of this one */
	enum protocol protocol;

	/* The members of its states over time, explained when the rollout is over; its steps, whose
	   effects are final then, and what they come to. */
	const struct series *series;
	const struct completed_step *completed;
	struct verdict verdict;
	struct replies replies;

	/* The errors expected by the user (see struct hints), and which of them occurred. */
	const char *const *expected;
	size_t expected_count;
	bool *expected_came;

	int64_t min_effective; /* required minimum of effective steps; 0: none */

	struct trained *trained;     /* a trainer's log-probabilities; NULL: not given */
	const struct member *shared; /* as sharing_add(); NULL: none */
	int64_t continued;           /* as sharing_begin() */
	struct sharing *sharing;     /* relations to other rollouts */
	struct arena *arena;         /* released when the rollout is closed */
	struct workspace *work;
};

/* Was every step that had to act a call that was drawn, and refused by the tool: as invalid, or with
   texts that were made up? Such steps say nothing about the environment; the rule drawn-calls has them. */
static inline bool drawn_calls_do_not_fit(const struct rollout_facts *r)
{
	const struct episode_counts *e = &r->episode;

	return r->draws && e->steps > 0 &&
	       (e->invalid == e->steps ||
	        (r->invents && e->refused > 0 && e->refused == e->failed && !r->verdict.acting));
}

/* Of a trainer's log of texts, which has no place for the tools and the outcomes of calls? Of a plain chat, a
   turn without a call is no fault. */
static inline bool rollout_is_unlisted(const struct rollout_facts *r)
{
	return r->imported && (r->known & FACT(TOTAL_REWARD)) &&
	       !(r->known & (FACT(TOOLS) | FACT(OUTCOME)));
}

/* The tool's index, or TOOL_UNLISTED. */
int tool_at(const struct rollout_facts *r, struct str name);

/* The counters of a whole rollout, as printed in summaries. */
struct counters {
	int64_t turns, steps, failed, longest_failed_run;
	int64_t effective; /* -1: no step's effect is known */
	int64_t unknown;   /* steps whose effect is unknown */
	/* as spelled in `end`, else the sum over ok steps, else "null" */
	char reward[32];
};

/* The shortest decimal that reads back as the same double; "null" if unknown. */
void counters_number(bool known, double value, char out[32]);

/* How a rollout ended. */
struct rollout_end {
	struct str id;    /* followed by "#2" for a second rollout with that id in the file */
	int64_t instance; /* 1, 2, ..: of its id */
	/* END_UNKNOWN if `end` has none, END_INCOMPLETE without an end line */
	enum end_status status;
	struct str reason; /* end.reason, decoded; absent if there is none */
	bool lost;         /* no session was opened, or the rollout did not end regularly */
	struct counters counters;
	enum failure_cause failure; /* what a failed or void rollout is attributed to */
	/* It has a number as its reward, but the environment's failure came before: not a reward. */
	bool no_reward;
};
