/* The choice among the policies: which one the options ask for. */
#ifndef ROLLDBG_POLICY_OPEN_H
#define ROLLDBG_POLICY_OPEN_H

#include "policy/policy.h"

/* Opens the policy the options ask for and checks its calls against the tools (unless
   force_call). FAIL_USAGE: options; FAIL_INPUT: a policy file. */
MUST_USE int policy_open(const struct policy_conf *conf, struct policy **out, struct error *err);

/* What the policy file names as "error_text", a string or an array of strings: texts of
   answers that are errors. None where spec is NULL or a kind. FAIL_INPUT. */
MUST_USE int policy_error_texts(const char *spec, struct arena *arena, const char *const **out,
                                size_t *count, struct error *err);

/* What can be said of a spec before there are tools: it is a kind, or a file that is
   there and is JSON. FAIL_INPUT. */
MUST_USE int policy_check(const char *spec, struct error *err);

#endif
