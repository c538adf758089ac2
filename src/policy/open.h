/* Selects and opens the policy that the options ask for. */
#ifndef ROLLDBG_POLICY_OPEN_H
#define ROLLDBG_POLICY_OPEN_H

#include "policy/policy.h"

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

#endif
