/* The adapter of NeMo Gym: what its files share. */
#ifndef ROLLDBG_ENV_NEMO_GYM_NEMO_GYM_H
#define ROLLDBG_ENV_NEMO_GYM_NEMO_GYM_H

#include "env/http_env.h"
#include "env/nemo_gym/reply.h"

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
	struct nemo_gym_wire wire;
	struct nemo_gym_reading reading;
	enum nemo_gym_style style;
	struct buf items; /* the calls made, as items of a Responses output, with commas between */
	struct buf reward, components; /* of the last verify; empty: none */
	struct buf resources_session;  /* of the native contract; empty: none is open */
	bool other_task; /* the request names another task than the episode has: examine */
	int calls;       /* in this episode: their ids are call_0, call_1 .. */
};

/* Does its /openapi.json describe a resources server? False also without a reply. */
bool nemo_gym_answers(const struct env_conf *conf, struct io *io);
/* Finds the style and the tools, those of the task (responses_create_params.tools) first. */
MUST_USE int nemo_gym_describe(struct env_nemo_gym *e, struct env_reply *refusal,
                               struct error *err);

/* Adds a call and what came of it to the items. */
void nemo_gym_add_call(struct env_nemo_gym *e, struct str name, struct str arguments,
                       const struct env_reply *reply);
/* Writes the request of /reset and /seed_session: the task. */
void nemo_gym_write_task(struct env_nemo_gym *e);
/* Writes the request of /step: the task, and one call as the model's response. */
void nemo_gym_write_step(struct env_nemo_gym *e, struct str name, struct str arguments);
/* Writes the request of /verify: the task, and all calls as the model's response. */
void nemo_gym_write_verify(struct env_nemo_gym *e);

#endif
