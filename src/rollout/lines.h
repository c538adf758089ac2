/* What environments and policies say, in the terms of the record format: see
   trajectory/line_writer.h. What is filled in borrows what it came from. */
#ifndef ROLLDBG_ROLLOUT_LINES_H
#define ROLLDBG_ROLLOUT_LINES_H

#include "env/env.h"
#include "policy/policy.h"
#include "trajectory/line_writer.h"

/* Why a call was not sent. */
struct env_reply lines_unsent(const struct decision *d);
struct call_fields lines_call(const struct decision *d);

/* Fills in what a session says of itself, or a policy. */
void lines_take_env(const struct env_facts *e, struct header_fields *out);
void lines_take_policy(const struct policy_facts *p, struct header_fields *out);

#endif
