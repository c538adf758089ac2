/* Classifies the replies of an ORS server: outcome, error, observation, reward. */
#ifndef ROLLDBG_ENV_ORS_REPLY_H
#define ROLLDBG_ENV_ORS_REPLY_H

#include "env/hidden_error.h"
#include "env/ors/wire.h"

/* A call's reply. before: see env/hidden_error.h. */
void ors_read_call(const struct ors_answer *a, struct hidden_error_context before,
                   const struct env_conf *conf, struct reply_reading *r, struct env_reply *out);
/* The prompt: the first observation. */
void ors_read_prompt(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out);
/* Another request's: outcome and error only. */
void ors_read_other(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out);

#endif
