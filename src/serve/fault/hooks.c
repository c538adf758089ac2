/* What several faults do: see hooks.h. */
#include "serve/fault/hooks.h"

#include <inttypes.h>

/* Addresses of 15 digits, as the proxy's ids were: one object after the other. */
#define FIRST_ADDRESS   140573993008848u
#define ADDRESS_SPACING 16u

void fault_capacity_text(struct gym *g, struct call *c)
{
	uint64_t id = FIRST_ADDRESS + ADDRESS_SPACING * g->ids_made_up++;

	buf_clear(&c->act.text);
	buf_printf(&c->act.text,
	           "{\"error\": \"Maximum concurrent environments (%" PRIu64
	           ") reached\", \"tool\": %.*s, \"session_id\": \"proxy_fallback_%" PRIu64 "\"}",
	           g->conf.max_envs, STR_ARG(c->act.tool), id);
	c->act.is_error = false;
	c->done = true;
}

void fault_every_second(struct call *c)
{
	if (!c->done && c->transport->calls % 2 == 1) {
		act_fail(&c->act);
		buf_text(&c->act.text, "environment step failed");
		c->done = true;
	}
}
