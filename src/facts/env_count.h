/* The environment's own count of steps (`env_steps`). */
#ifndef ROLLDBG_FACTS_ENV_COUNT_H
#define ROLLDBG_FACTS_ENV_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct env_count {
	int64_t now;      /* the last known count, or -1 */
	int64_t first;    /* the first known count */
	int64_t reported; /* number of steps with a known count */
	bool moved;       /* two of these counts differ */
	/* steps that increased it by one (including a first count of 1), and by more */
	int64_t by_one, by_more;
};

#define ENV_COUNT ((struct env_count){.now = -1, .first = -1})

/* Adds the count after a step, if it is known. */
void env_count_add(struct env_count *c, int64_t env_steps);

#endif
