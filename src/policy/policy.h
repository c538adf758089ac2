/* The directory policy/: policies choose the next call: scripts, random calls, a model (llm/, with
   text formats of tool calls in toolformats/). A policy is a file and a row of policies.def.
   Sending the call is done in rollout/ and env/. */

/* The interface of policies. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"
#include "net/io.h"
#include "recording/events.h"
#include "recording/words.h"

struct script_call {
	struct str name;      /* decoded */
	struct str arguments; /* raw JSON object */
	const char
		*text; /* as text (call_text.h), not read yet; NULL: name and arguments are set */
};

struct policy_conf {
	const char *actions;           /* "A,B,C": values for the tool's argument */
	const char *const *call_texts; /* calls as text (call_text.h); NULL: none */
	size_t call_text_count;
	const char *tool;     /* the tool called by actions or random; NULL: the only one, or any */
	const char *argument; /* the argument set by actions; NULL: the only one */
	const char *spec;     /* FILE or KIND:ARGUMENT */
	struct str calls;     /* raw JSON array of {"name","arguments"} to send; absent: none */
	bool force_call;      /* also send calls that do not match the schema */
	struct str tools;     /* raw JSON array, as advertised; absent: unknown */

	/* For a policy that asks a model. Borrowed. */
	const struct llm_conf *llm; /* settings of the model; NULL: no model */
	struct llm_usage *usage;    /* totals of all rollouts; NULL: not counted */
	struct io *io;              /* of the rollout, used for waiting */
	const char *task;           /* id */
	struct str vars;            /* raw JSON object: the task's prompt variables; absent: none */
	int64_t sample;
};

/* What the policy gets before each decision. */
struct policy_view {
	int64_t turn;
	struct str state, observation; /* raw JSON; absent: unknown */
	enum outcome last;             /* OUTCOME_NONE on the first turn */
	struct str last_error;         /* error message of the last step */
	/* the episode has ended: the remaining calls of the turn are not sent */
	bool over;
};

enum decision_kind {
	DECIDE_CALL,     /* send the call */
	DECIDE_UNSENT,   /* a call that is not sent; `outcome` has the reason */
	DECIDE_NOTHING,  /* a turn without a call; the rollout continues */
	DECIDE_FINISHED, /* the policy has no more calls */
	DECIDE_STOPPED,  /* stopped by a rule of the policy */
	DECIDE_REFUSED,  /* the model's server refused the request */
	DECIDE_LOST,     /* the model is unreachable */
};

/* Slices are valid until the next decision. A turn may consist of several decisions: all but the
   last have `more`. An ending with `messages` or `llm` also counts as a turn. */
struct decision {
	enum decision_kind kind;
	bool more;              /* the next decision belongs to this turn */
	struct str id;          /* of the call, decoded; absent: the rollout numbers it */
	struct str name;        /* decoded tool name */
	struct str arguments;   /* raw JSON object; of UNSENT any JSON, or absent */
	enum outcome outcome;   /* of UNSENT: OUTCOME_UNPARSED, OUTCOME_NOT_SENT */
	enum error_class class; /* of UNSENT */
	struct str message;     /* of UNSENT: the reason, also shown to the model */
	struct str messages;    /* the model's messages: raw JSON values, comma separated */
	struct str llm;         /* raw JSON object for the recording's `llm` */
	const char *reason;     /* of the endings; borrowed from the policy */
};

/* The result of a decision. */
struct policy_result {
	const struct decision *decision;
	struct str observation; /* raw JSON, error text included; absent: none */
	struct str structured;  /* raw JSON: structured content, if any */
	struct str raw;         /* a reply that was not JSON */
	struct str message;     /* of an error, decoded */
};

/* Description of a policy for the header. */
struct policy_facts {
	enum policy_kind kind;
	struct str name;   /* decoded */
	struct str params; /* raw JSON object */
	int64_t length;    /* number of turns; -1: unlimited */
};

struct policy;

struct keyed;
struct keyed_table;

struct policy_ops {
	enum policy_kind kind;
	const struct keyed_table *keys; /* of its files, for the manual; NULL: it has none */
	const char *spelled;            /* form of a spec: "random:SEED"; NULL: only files */
	const char *help;
	/* Opens from the options; conf->spec may be KIND:ARGUMENT of this kind. out NULL: only
	   checks what is known before the environment is: the spec, the form of the actions, the
	   model. */
	int (*open)(const struct policy_conf *conf, struct policy **out, struct error *err);
	/* The same from a policy file (policy_file.h) whose root object is of this kind; conf->spec is its
	   name. Borrowed data must be copied. NULL: not possible for a single task. */
	int (*from_file)(struct keyed *k, struct str root, const struct policy_conf *conf,
	                 struct policy **out);
	int (*decide)(struct policy *p, const struct policy_view *v, struct decision *out,
	              struct error *err);
	void (*facts)(const struct policy *p, struct policy_facts *out);
	/* For policies with a conversation; otherwise NULL. Both return the messages they add as
	   raw JSON values, comma separated, valid until the next call. begin: once, after the
	   reset, with its observation and the first state. observe: once for each decision
	   except an ending. */
	void (*begin)(struct policy *p, const struct policy_view *v, struct str *messages);
	void (*observe)(struct policy *p, const struct policy_result *r, struct str *messages);
	/* Removes and returns the oldest event; false: none. NULL: no events. */
	bool (*event)(struct policy *p, struct event *out);
	void (*close)(struct policy *p); /* NULL is fine */
};

struct policy {
	const struct policy_ops *ops;
};

extern const struct policy_ops *const policies[];
extern const size_t policies_count;
#define POLICIES_MAX 16 /* room for their names */

/* NULL: unknown kind. */
const struct policy_ops *policy_of_kind(struct str word);

/* ---- selecting the policy that the options ask for ---- */

/* Opens the policy and checks its calls against the tools (unless force_call). FAIL_USAGE:
   invalid options; FAIL_INPUT: invalid policy file. */
MUST_USE int policy_open(const struct policy_conf *conf, struct policy **out, struct error *err);

/* Reads "error_text" of a policy file, a string or an array of strings: texts of observations
   that are errors. Empty if spec is NULL or a kind. FAIL_INPUT. */
MUST_USE int policy_error_texts(const char *spec, struct arena *arena, const char *const **out,
                                size_t *count, struct error *err);

/* Checks all that policy_open checks without the tools. An empty conf is fine: the error that it
   is empty lists the tools. FAIL_USAGE, FAIL_INPUT. */
MUST_USE int policy_check(const struct policy_conf *conf, struct error *err);
