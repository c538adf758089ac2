/* Classifies the replies of NeMo Gym's resources servers: outcome, error, observation, reward. */
#ifndef ROLLDBG_ENV_NEMO_GYM_REPLY_H
#define ROLLDBG_ENV_NEMO_GYM_REPLY_H

#include "env/hidden_error.h"
#include "env/nemo_gym/wire.h"

/* The reply of a tool. known: the tool is listed, so 404 is its own. before: see
   env/hidden_error.h. */
void nemo_gym_read_tool(const struct http_json_answer *a, bool known,
                        struct hidden_error_context before, const struct env_conf *conf,
                        struct reply_reading *r, struct env_reply *out);
/* The reply to /reset and /step: {"observation","reward","terminated","truncated","info"}. */
void nemo_gym_read_step(const struct http_json_answer *a, struct reply_reading *r,
                        struct env_reply *out);
/* The reply to another request, of which 404 means an unknown session: outcome and error; the
   observation is the reply. */
void nemo_gym_read_other(const struct http_json_answer *a, struct reply_reading *r,
                         struct env_reply *out);

#endif
