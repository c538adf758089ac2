/* The folder policy/: who decides on the next call: scripts, random play, a model (llm/, with
   the text formats of tool calls in toolformats/). A policy is its file and a row of
   policies.def. Not here: sending the call (rollout/, env/). */

/* Who decides what to do next: a script, a policy file, seeded random calls, a model. */
#ifndef ROLLDBG_POLICY_POLICY_H
#define ROLLDBG_POLICY_POLICY_H

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"
#include "net/io.h"
#include "trajectory/events.h"
#include "trajectory/words.h"

struct policy_conf {
	const char *actions;  /* "A,B,C": values of the tool's argument */
	const char *tool;     /* that actions call; NULL: the only one */
	const char *argument; /* which one the actions fill; NULL: the only one */
	const char *spec;     /* FILE or KIND:ARGUMENT */
	struct str calls;     /* raw JSON array of {"name","arguments"} to send; absent: none */
	bool force_call;      /* send what does not fit the schema too */
	struct str tools;     /* raw JSON array, as advertised; absent: unknown */

	/* For a policy that asks a model. All borrowed. */
	const struct llm_conf *llm; /* what to ask, and whom; NULL: no model */
	struct llm_usage *usage;    /* of the model, by all rollouts; NULL: nobody counts */
	struct io *io;              /* what to wait with: the rollout's own */
	const char *task;           /* id */
	struct str vars;            /* raw JSON object: the task's prompt variables; absent: none */
	int64_t sample;
};

/* What a policy sees before it decides. */
struct policy_view {
	int64_t turn;
	struct str state, observation; /* raw JSON; absent: unknown */
	enum outcome last;             /* OUTCOME_NONE on the first turn */
	struct str last_error;         /* its message */
	/* the episode has ended: the remaining calls of the turn are not sent */
	bool over;
};

enum decision_kind {
	DECIDE_CALL,     /* send it */
	DECIDE_UNSENT,   /* a call that cannot or must not be sent: `outcome` says why */
	DECIDE_NOTHING,  /* a turn without a call; the rollout goes on */
	DECIDE_FINISHED, /* there is nothing more to do */
	DECIDE_STOPPED,  /* by a rule of the policy */
	DECIDE_REFUSED,  /* the model answered and will not play */
	DECIDE_LOST,     /* the model cannot be reached */
};

/* Slices live until the next decision. A turn may make several decisions: all but the
   last have `more`. An ending that has `messages` or `llm` is a turn, too. */
struct decision {
	enum decision_kind kind;
	bool more;              /* the next decision belongs to this turn */
	struct str id;          /* of the call, decoded; absent: the rollout numbers it */
	struct str name;        /* decoded tool name */
	struct str arguments;   /* raw JSON object; of UNSENT any JSON, absent: unreadable */
	enum outcome outcome;   /* of UNSENT: OUTCOME_UNPARSED, OUTCOME_NOT_SENT */
	enum error_class class; /* of UNSENT */
	struct str message;     /* of UNSENT: the sentence, also for the model */
	struct str messages;    /* what the model said: raw JSON values, comma separated */
	struct str llm;         /* raw JSON object: how the decision came about */
	const char *reason;     /* of the endings; borrowed from the policy */
};

/* The result of a decision. */
struct policy_result {
	const struct decision *decision;
	enum outcome outcome;
	struct str observation; /* raw JSON, error text included; absent: none */
	struct str structured;  /* raw JSON: what is said beside or instead of it */
	struct str raw;         /* bytes that were no JSON */
	struct str message;     /* of an error, decoded */
};

/* How the header describes it. */
struct policy_facts {
	enum policy_kind kind;
	struct str name;   /* decoded */
	struct str params; /* raw JSON object */
	int64_t length;    /* turns it has to offer; -1: no end */
};

struct policy;

struct keyed;
struct keyed_table;

struct policy_ops {
	enum policy_kind kind;
	const struct keyed_table *keys; /* of its files, for the manual */
	const char *spelled; /* how a spec names it: "random:SEED"; NULL: by its files alone */
	const char *help;
	bool takes_actions; /* what actions alone stand for */
	bool asks_model;    /* what is opened where conf has a model */
	/* From the options; conf->spec may be KIND:ARGUMENT of this kind. */
	int (*open)(const struct policy_conf *conf, struct policy **out, struct error *err);
	/* From a policy file (file.h) whose root object is of this kind; conf->spec is its name.
	   What is borrowed must be copied. NULL: a task cannot name such a file. */
	int (*from_file)(struct keyed *k, struct str root, const struct policy_conf *conf,
	                 struct policy **out);
	int (*decide)(struct policy *p, const struct policy_view *v, struct decision *out,
	              struct error *err);
	void (*facts)(const struct policy *p, struct policy_facts *out);
	/* For policies that hold a conversation; NULL otherwise. Both give the messages
	   they add as raw JSON values, comma separated; slices live until the next call.
	   begin: once, after the reset, with its observation and the first state.
	   observe: once for each decision but an ending. */
	void (*begin)(struct policy *p, const struct policy_view *v, struct str *messages);
	void (*observe)(struct policy *p, const struct policy_result *r, struct str *messages);
	/* The oldest event not yet taken; NULL: it has none. */
	bool (*event)(struct policy *p, struct event *out);
	void (*close)(struct policy *p); /* NULL is fine */
};

struct policy {
	const struct policy_ops *ops;
};

extern const struct policy_ops *const policies[];
extern const size_t policies_count;
#define POLICIES_MAX 16 /* room for their names */

/* NULL: there is none. */
const struct policy_ops *policy_of_kind(struct str word);

#endif
