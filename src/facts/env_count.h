/* The environment's own count of steps (`env_steps`). */
#ifndef ROLLDBG_FACTS_ENV_COUNT_H
#define ROLLDBG_FACTS_ENV_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct env_count {
	int64_t now;      /* the newest known count, or -1 */
	int64_t first;    /* the first known count */
	int64_t reported; /* steps after which it was known */
	bool moved;       /* two of these counts differ */
	/* steps counted as one (including a first count of 1), and as more than one */
	int64_t by_one, by_more;
};

#define ENV_COUNT ((struct env_count){.now = -1, .first = -1})

/* Adds the count after a step, if it is known. */
void env_count_take(struct env_count *c, int64_t env_steps);

#endif
