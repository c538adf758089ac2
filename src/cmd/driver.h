/* What the rollouts of one command share: the target, what was learned about its server, and the
   order of their lines. */
#ifndef ROLLDBG_CMD_DRIVER_H
#define ROLLDBG_CMD_DRIVER_H

#include "cmd/target.h"
#include "rollout/rollout.h"

#include <pthread.h>

struct driver {
	struct env_target target;
	struct clock clock;
	struct page_cache *pages; /* of the server */
	struct volatile_members *volatile_members;
	struct options_fit *options_fit;
	struct scratch_pool *scratch;
	pthread_mutex_t order;         /* serializes the lines of all rollouts */
	pthread_mutex_t lock;          /* protects what follows */
	const struct env_ops *env_ops; /* set once the server was asked */
	/* the first error of a rollout that was refused or not connected */
	struct error peer;
	bool lost_policy; /* and it came from the policy's model */
};

/* The target is still to be prepared and started. */
void driver_init(struct driver *d, const struct context *c);
/* Call it when the last thread has ended. */
void driver_release(struct driver *d);

/* What all rollouts have in common. Any thread. */
struct rollout_conf driver_conf(struct driver *d, struct io *io);
/* rollout_run in an environment session of its own; conf is completed. Any thread. */
MUST_USE int driver_rollout(struct driver *d, struct rollout_conf *conf,
                            struct rollout_result *result, struct error *err);

#endif
