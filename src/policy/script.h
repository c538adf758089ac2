/* The deterministic policy: a list of calls, made from a list of actions or from a policy file.
 */
#ifndef ROLLDBG_POLICY_SCRIPT_H
#define ROLLDBG_POLICY_SCRIPT_H

#include "policy/policy.h"

enum on_end { ON_END_STOP, ON_END_CYCLE, ON_END_REPEAT };

struct script_call {
	struct str name;      /* decoded */
	struct str arguments; /* raw JSON object */
};

struct script_conf {
	bool recorded; /* the calls of a recording: its kind is replay */
	struct str name;
	struct script_call *calls;
	size_t count;
	enum on_end on_end;
	int64_t stop_after; /* equal errors in a row; 0: never */
	struct str params;  /* raw JSON object for the header */
};

/* keys and from_file of struct policy_ops. */
extern const struct keyed_table script_file_keys;
MUST_USE int script_from_file(struct keyed *k, struct str root, const struct policy_conf *conf,
                              struct policy **out);

/* Copies conf. */
struct policy *script_new(const struct script_conf *conf);

/* "A,B,C" as calls of one tool, checked against its schema unless force_call. The calls
   and what they point to go into arena. */
MUST_USE int script_from_actions(const struct policy_conf *conf, const struct str *actions,
                                 size_t count, struct arena *arena, struct script_conf *out,
                                 struct error *err);

/* Splits at commas, but not inside a JSON array, object or string that is one action; an
   empty action is FAIL_USAGE. */
MUST_USE int script_split(const char *actions, struct arena *arena, struct str **out, size_t *count,
                          struct error *err);

/* The calls of conf, checked against the tools. conf->calls is well-formed. FAIL_INPUT. */
MUST_USE int script_from_calls(const struct policy_conf *conf, struct policy **out,
                               struct error *err);

/* Do all calls fit the tools? */
MUST_USE int script_check(const struct policy_conf *conf, const struct script_conf *script,
                          struct error *err);

#endif
