/* The calls to send, and what --actions calls: options of `run`, `debug` and `probe`. */
#pragma once

#include "cmd/options/options.h"
#include "policy/policy.h"

#define MEMBERS action
#include "cmd/options/members.h"

/* Calls as text, of --call or one in a line of standard input. Zeroed: none. */
struct call_list {
	struct arena arena;
	const char **lines; /* in the arena; NULL: those of the options */
	const char *const *item;
	size_t count;
};

/* If *policy is "-", reads the calls from standard input and sets it to NULL. Blank lines and those that
   begin with # are skipped. FAIL_USAGE: --call, too; FAIL_INPUT: none, or not readable. */
MUST_USE int call_list_open(const struct action_options *o, const char **policy,
                            struct call_list *out, struct error *err);
void call_list_release(struct call_list *l);

/* What is sent without a file. Borrows all. */
struct policy_conf action_conf(const struct action_options *o, const char *actions,
                               const struct call_list *l);
