/* Who decides what to do next: a script, a policy file, seeded random calls. */
#ifndef ROLLDBG_POLICY_POLICY_H
#define ROLLDBG_POLICY_POLICY_H

#include "base/mem.h"
#include "base/options.h"
#include "json/scan.h"
#include "json/tree.h"
#include "trajectory/outcome.h"

struct policy_conf {
	const char *actions; /* --actions A,B,C */
	const char *tool;    /* --tool NAME */
	const char *spec;    /* --policy: FILE or KIND:ARGUMENT */
	bool force_call;     /* send what does not fit the schema too */
	struct str tools;    /* raw JSON array, as advertised; absent: unknown */
};

/* What a policy sees before it decides. */
struct policy_view {
	int64_t turn;
	struct str state, observation; /* raw JSON; absent: unknown */
	enum outcome last;             /* OUTCOME_NONE on the first turn */
	struct str last_error;         /* its message */
};

enum decision_kind { DECIDE_CALL, DECIDE_FINISHED, DECIDE_STOPPED };

/* Slices live until the next decision. */
struct decision {
	enum decision_kind kind;
	struct str name;      /* decoded tool name */
	struct str arguments; /* raw JSON object */
	const char *reason;   /* of FINISHED and STOPPED; borrowed from the policy */
};

/* How the header describes it. */
struct policy_facts {
	const char *kind;  /* "script", "random" */
	struct str name;   /* decoded */
	struct str params; /* raw JSON object */
	int64_t length;    /* turns it has to offer; -1: no end */
};

struct policy;

struct policy_ops {
	const char *name, *help;
	int (*open)(const struct policy_conf *conf, struct policy **out,
	            struct error *err);
	int (*decide)(struct policy *p, const struct policy_view *v, struct decision *out,
	              struct error *err);
	void (*facts)(const struct policy *p, struct policy_facts *out);
	void (*close)(struct policy *p); /* NULL is fine */
};

struct policy {
	const struct policy_ops *ops;
};

extern const struct policy_ops *const policies[];
extern const size_t policies_count;

/* Opens the policy the options ask for and checks its calls against the tools (unless
   force_call). FAIL_USAGE: options; FAIL_INPUT: a policy file. */
MUST_USE int policy_open(const struct policy_conf *conf, struct policy **out,
                         struct error *err);

#endif
