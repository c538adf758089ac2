/* The environment's own count: see env_count.h. */
#include "facts/env_count.h"

void env_count_add(struct env_count *c, int64_t env_steps)
{
	int64_t before = c->reported ? c->now : 0;

	c->first = c->reported == 0 ? env_steps : c->first;
	c->moved = c->moved || env_steps != c->first;
	c->by_one += env_steps == before + 1;
	c->by_more += c->reported > 0 && env_steps > before + 1;
	c->reported++;
	c->now = env_steps;
}
