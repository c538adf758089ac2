/* What a rule is: a fold over the lines of one rollout, with bounded state, live
   and offline alike. What several rules want to know of a line is worked out once
   (check/derive.h) and handed to them as a `struct moment`; what is known of the
   rollout so far stands in `struct rollout_facts`. */
#ifndef ROLLDBG_CHECK_CHECK_H
#define ROLLDBG_CHECK_CHECK_H

#include "base/hash.h"
#include "base/mem.h"
#include "trajectory/line.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

const char *severity_name(enum severity s);

/* A judgement of one rule over recorded facts. Steps and turns are -1 when there
   is none. */
struct finding {
	const char *rule;
	enum severity severity;
	int64_t first_turn, last_turn, first_step, last_step;
	char pointer[96];  /* RFC 6901, rooted at the line of first_turn; "" when none */
	char message[320]; /* whole UTF-8; peers' text in it is escaped and cut */
};

/* A stretch of turns and steps; count is how often something was seen in it, 0: never. */
struct span {
	int64_t first_turn, last_turn, first_step, last_step, count;
};

void span_add(struct span *s, int64_t turn, int64_t step);

/* Says one finding of the rule that is being asked. `where` NULL or never added
   to: a finding about the rollout as a whole. */
struct findings;
void finding_say(struct findings *out, enum severity severity, const struct span *where,
                 const char *pointer, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Did a step change the state? Unknown is not unchanged. */
enum effect { EFFECT_UNKNOWN, EFFECT_CHANGED, EFFECT_UNCHANGED };

#define ERROR_TEXT                                                                       \
	144 /* a peer's error as it stands in messages: escaped, cut, terminated */

/* A step once its effect can be told: at the first line that shows the state
   after it, or at the end. Told once for each step, in order. */
struct past_step {
	bool failed;
	bool expected;       /* it failed and was told to: failed is false */
	bool idle;           /* as in struct moment */
	bool after_terminal; /* it was itself sent after the episode had ended */
	enum effect effect;
	int64_t turn, step;
	int tool;
	/* Of a failed one: what the first one said since the last step that was answered
	   ok or changed the state. */
	char error[ERROR_TEXT];
};

#define TOOL_NONE (-1) /* no call, or a call without a name */
#define TOOL_UNLISTED                                                                    \
	(-2) /* a name that is not advertised, or nothing is known of the tools */

/* One line with what was derived from it. Slices live for the call only: copy
   what must stay, into the rule's own state or the rollout's arena. */
struct moment {
	const struct line *line; /* NULL only in `end`: no end line came */
	bool is_step;  /* a step line whose call was sent (it has a step number) */
	bool failed;   /* is_step and outcome is not ok, unless that was expected */
	bool expected; /* is_step, outcome is not ok, and the user had said so */
	bool idle;     /* a call that need not change a thing: of a read-only tool, or one
	                  that the user named as doing nothing */
	bool after_terminal; /* an earlier line said terminated or truncated */
	int tool; /* index into rollout_facts.tools, or TOOL_NONE, TOOL_UNLISTED */
	struct str tool_name; /* as spelled between its quotes; absent with TOOL_NONE */
	struct str arguments;
	int64_t env_steps; /* the environment's own count after this step; -1: unknown */
};

struct tool_fact {
	struct str name; /* decoded */
	bool read_only;  /* MCP annotations.readOnlyHint is true, or the user said so, or
	                    without a hint the baseline shows it */
	bool learned;    /* the latter */
	bool idempotent; /* MCP annotations.idempotentHint is true */
	struct str schema; /* inputSchema, raw; absent when there is none */
};

enum tools_known { TOOLS_UNKNOWN, TOOLS_SOME, TOOLS_ALL }; /* SOME: more than we keep */

/* `state_source.kind`, as far as rules tell kinds apart. */
enum source { SOURCE_NONE, SOURCE_OBSERVATION, SOURCE_NAMED };

/* Steps up to and with the first one that said terminated or truncated. The
   effect of a step is counted when it is known, one line later. */
struct episode {
	int64_t steps, failed;
	int64_t idle; /* steps that need not change a thing */
	int64_t changed, unchanged;
	bool state_varied; /* two known states differed, adjacent or not */
};

/* What the steps before the current one had. */
struct earlier {
	bool failed;      /* the last of them did */
	bool reward_seen; /* some step's reward was a number, the newest is `reward` */
	bool status_seen; /* some step's `terminated` was known */
	double reward;
};

/* What rules may use while they look at one line: buffers to be cleared before
   use, and a hasher. */
struct workspace {
	struct buf text, canon;
	struct hasher *hasher;
};

/* What is known of the rollout: of its header, and, running, of the lines up to
   the current one. */
struct rollout_facts {
	struct str id;     /* as in the recording, decoded */
	struct str task;   /* task.id, decoded; absent when there is none */
	struct str policy; /* policy.kind */
	enum source source;
	bool imported;      /* policy.kind or state_source.kind says so */
	int64_t max_turns;  /* limits.max_turns; -1 when there is no limit */
	int64_t group_size; /* limits.group_size or task.group_size; -1: not known */
	int64_t sample;     /* -1: not known */
	enum tools_known tools_known;
	const struct tool_fact *tools;
	size_t tool_count;

	int64_t lines, turns, steps; /* counted here, not what `end` says */
	int64_t last_turn;           /* number of the newest turn, -1 before the first */
	int64_t ended_turn; /* of the one that said terminated or truncated, -1 */
	int64_t failed_run; /* failed steps in a row, up to the current line */
	int64_t fused;      /* lines that were not the first object of theirs */
	bool torn;          /* the file ends in half a line while this rollout is open */
	bool has_meta;      /* at least one line has it: the recording was not stripped */
	struct episode episode;
	struct earlier earlier;
	bool reward_known; /* some step answered ok had a reward; this is their sum: */
	double reward_sum;

	int64_t counted; /* the environment's count of steps before the current one, -1 */
	bool strayed; /* this line's state is another one than the last line's, though no
	                 call was sent in between */

	/* The errors that the user expects (see struct told), and which of them came. */
	const char *const *expected;
	size_t expected_count;
	bool *expected_came;

	struct trained *trained; /* a trainer's log-probabilities; NULL: not supplied */
	struct company *company;
	struct arena *arena; /* lives as long as the rollout is open */
	struct workspace *work;
};

/* What a rule is called for. Most steps of most recordings are answered ok and tell no
   tale: a rule that need not see all of those saves everybody time. */
enum want {
	WANT_HEADER = 1 << 0,
	WANT_RESET = 1 << 1,
	WANT_EVENT = 1 << 2,
	WANT_OK = 1 << 3,     /* steps answered ok */
	WANT_FAILED = 1 << 4, /* steps that failed */
	WANT_TURN = 1 << 5,   /* turns without a call, or whose call was never sent */
	/* Steps and turns, whatever they are, that ... */
	WANT_FIRST = 1 << 6,     /* are the rollout's first step */
	WANT_LATE = 1 << 7,      /* come after the end of the episode */
	WANT_UNLISTED = 1 << 8,  /* call TOOL_UNLISTED */
	WANT_STATELESS = 1 << 9, /* are sent without a state */
	WANT_UNREAD = 1 << 10,   /* are sent and lack a reward or `terminated` */
	/* For `past`: */
	WANT_PAST = 1 << 11,        /* every step */
	WANT_PAST_FAILED = 1 << 12, /* failed ones, and the one after each */
	/* Again for lines: */
	WANT_STRAYED = 1 << 13, /* that show a state nobody asked for */
	WANT_LEAP = 1 << 14,    /* after which the environment counts two steps more */
	WANT_LLM = 1 << 15,     /* that say how a model's reply was */
};
#define WANTS 16

/* The rollouts of one task that reached an end, each sample once. */
struct task_group {
	struct str task;     /* task.id */
	const char *name;    /* the same for messages */
	int64_t size;        /* the group_size asked for; -1: not known */
	int64_t count, lost; /* samples; rollouts that got no session or no end */
	int64_t rewarded;    /* samples whose reward is known */
	bool rewards_differ;
	double reward; /* of the first one that is known */
};

struct check {
	const char *id;    /* kebab-case, also the file's name with '-' as '_' */
	const char *title; /* one line for lists */
	const char *why;   /* for `check --explain`: what it means, where to look, what
	                      cures it */
	bool needs_meta;   /* strip takes some of its facts away */
	unsigned wants;    /* enum want, or-ed */
	size_t state_size; /* zeroed when a header opens the rollout */
	/* Each may be NULL. For one line `past` comes before `line` or `end`. */
	void (*past)(void *state, const struct rollout_facts *r,
	             const struct past_step *p, struct findings *out);
	void (*line)(void *state, const struct rollout_facts *r, const struct moment *m,
	             struct findings *out);
	/* Once for each task, when its file is done or, with a group size that one file
	   does not reach, when all are. */
	void (*group)(const struct task_group *g, struct findings *out);
	/* Once, for the end line (never given to `line`), or with m->line NULL
	   when none came. */
	void (*end)(void *state, const struct rollout_facts *r, const struct moment *m,
	            struct findings *out);
	/* Once, when all files are done, with what a trainer supplied. */
	void (*finish)(const struct trained *t, struct findings *out);
};

#define CHECKS_MAX 64

extern const struct check *const checks[];
extern const size_t checks_count;
const struct check *check_find(struct str id); /* NULL: no such rule */

#endif
