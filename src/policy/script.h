/* The deterministic policy: a list of calls, from a list of actions, a policy file or a
   recording. */
#pragma once

#include "policy/policy.h"

enum on_end { ON_END_STOP, ON_END_CYCLE, ON_END_REPEAT };

struct script_conf {
	bool recorded; /* calls of a recording: the kind is replay */
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

/* Converts actions to calls of one tool, checked against its schema unless force_call. The calls
   are allocated in the arena. */
MUST_USE int script_from_actions(const struct policy_conf *conf, const struct str *actions,
                                 size_t count, struct arena *arena, struct script_conf *out,
                                 struct error *err);

/* The same for conf->actions: "A,B,C", or a JSON array of strings. FAIL_USAGE also for text with a
   comma that may be one value: a list of words without a dot, numbers and JSON values is none, nor is a
   list of values that the schema takes if it does not take the whole text. */
MUST_USE int script_from_text(const struct policy_conf *conf, struct arena *arena,
                              struct script_conf *out, struct error *err);

/* Splits at commas, except within a JSON array, object or string. FAIL_USAGE: an empty action. */
MUST_USE int script_split(const char *actions, struct arena *arena, struct str **out, size_t *count,
                          struct error *err);

/* A word ([A-Za-z0-9_.:+-]), a number or a JSON array, object or string: one action of "A,B,C"
   whatever the schema. */
bool script_is_plain(struct str action);

/* Checks that a list of actions can be split; NULL is fine. */
MUST_USE int script_check_actions(const char *actions, struct error *err);

/* A policy of conf->calls (well-formed), checked against the tools. FAIL_INPUT. */
MUST_USE int script_from_calls(const struct policy_conf *conf, struct policy **out,
                               struct error *err);

/* Checks all calls against the tools. */
MUST_USE int script_check(const struct policy_conf *conf, const struct script_conf *script,
                          struct error *err);
