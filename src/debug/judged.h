/* The findings of a rollout in a recording, up to one of its steps or in all of it. */
#ifndef ROLLDBG_DEBUG_JUDGED_H
#define ROLLDBG_DEBUG_JUDGED_H

#include "check/judge.h"
#include "debug/cursor.h"

struct judged_conf {
	const char *path;
	const char *rollout;        /* with "#2" for the second rollout with that id */
	struct str id;              /* the id alone */
	const struct moment *until; /* NULL: to the end of the rollout */
	bool (*interrupted)(void *ctx);
	void *ctx;
};

/* Called once with the verdict, as if the rollout had ended there; its slices are valid during the
   call. */
typedef void judged_fn(void *user, const struct rollout_verdict *v);
/* Reads the file from the beginning. */
MUST_USE int judged_find(const struct judged_conf *conf, judged_fn *take, void *user,
                         struct error *err);

#endif
