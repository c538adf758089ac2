/* Converts data of environments and policies to fields of the record format: see
   recording/line_writer.h. The fields borrow from their source. */
#ifndef ROLLDBG_ROLLOUT_LINES_H
#define ROLLDBG_ROLLOUT_LINES_H

#include "env/env.h"
#include "policy/policy.h"
#include "recording/line_writer.h"

/* Why a call was not sent. */
struct env_reply lines_unsent(const struct decision *d);
struct call_fields lines_call(const struct decision *d);

/* Set the fields about a session, or about a policy. */
void lines_set_env(const struct env_facts *e, struct header_fields *out);
void lines_set_policy(const struct policy_facts *p, struct header_fields *out);

#endif
