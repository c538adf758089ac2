/* The directory env/nemo_gym/: the adapter of NeMo Gym's resources servers. The session is a signed
   cookie, which the server signs anew in each reply; a request without a valid one gets a new session,
   and no error. */
#pragma once

#include "env/hidden_error.h"
#include "env/http_env.h"
#include "env/http_json.h"

/* Sets `out` to the session's id in a cookie "NAME=base64 of JSON.time.signature"; false if it
   has none. */
bool nemo_gym_session_id(struct str cookie, struct buf *out);

/* The reply of a tool. known: the tool is listed, so 404 is its own. before: see
   env/hidden_error.h. */
void nemo_gym_read_tool(const struct http_json_answer *a, bool known,
                        struct hidden_error_context before, const struct env_conf *conf,
                        struct reply_reading *r, struct env_reply *out);
/* The reply to the request that begins an episode; steps: to /reset. */
void nemo_gym_read_begin(const struct http_json_answer *a, bool steps, struct reply_reading *r,
                         struct env_reply *out);
/* The reply to /reset and /step: {"observation","reward","terminated","truncated","info"}. */
void nemo_gym_read_step(const struct http_json_answer *a, struct reply_reading *r,
                        struct env_reply *out);
/* The reply to another request, of which 404 means an unknown session: outcome and error; the
   observation is the reply. */
void nemo_gym_read_other(const struct http_json_answer *a, struct reply_reading *r,
                         struct env_reply *out);

struct nemo_gym_verified {
	struct str reward, components; /* raw; absent: none */
	struct str why;                /* without a reward */
};
/* The reply to /verify. Adds to `detail` an event's {"what":"verify", ..}, with the members that the
   server added to the request: reward_components, failure_kind ..; nothing without a reward. */
void nemo_gym_read_verify(const struct http_json_answer *a, struct str request,
                          struct reply_reading *r, struct nemo_gym_verified *out,
                          struct buf *detail);

enum nemo_gym_style {
	NEMO_GYM_TOOLS,  /* /seed_session, a POST for each tool, /verify */
	NEMO_GYM_STEPS,  /* /reset and /step, as in Gymnasium */
	NEMO_GYM_NATIVE, /* as TOOLS, with ids of sessions and episodes, and /close_session (0.7) */
};

struct nemo_gym_style_words {
	const char *begin;       /* the request that begins an episode */
	const char *evidence[2]; /* paths that only such a server has */
};
extern const struct nemo_gym_style_words nemo_gym_styles[];

struct env_nemo_gym {
	struct http_env http;
	struct buf session; /* the id in the cookie; empty: none */
	struct buf before;  /* the id in the one that was sent with the last request */
	bool replaced;      /* the last reply named another session than the request */
	enum nemo_gym_style style;
	struct buf served; /* the tools that have a route, as in the facts' tools */
	struct buf items;  /* the calls made, as items of a Responses output, with commas between */
	struct buf reward, components; /* of the last verify; empty: none */
	struct buf resources_session;  /* of the native contract; empty: none is open */
	bool other_task; /* the request names another task than the episode has: examine */
	int calls;       /* in this episode: their ids are call_0, call_1 .. */
};

/* Does its /openapi.json describe a resources server? False also without a reply. */
bool nemo_gym_answers(struct http_json *h);
/* Finds the style and the tools, those of the task (responses_create_params.tools) first. */
MUST_USE int nemo_gym_describe(struct env_nemo_gym *e, struct env_reply *refusal,
                               struct error *err);
