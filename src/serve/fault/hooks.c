/* Code shared by several faults: see hooks.h. */
#include "serve/fault/hooks.h"

#include <inttypes.h>

/* 15 digits, like the proxy's ids: Python object addresses, increasing. */
#define FIRST_ADDRESS   140573993008848u
#define ADDRESS_SPACING 16u

void fault_capacity_text(struct gym *g, struct call *c)
{
	uint64_t id = FIRST_ADDRESS + ADDRESS_SPACING * g->made_up_ids++;

	buf_clear(&c->world_call.text);
	buf_printf(&c->world_call.text,
	           "{\"error\": \"Maximum concurrent environments (%" PRIu64
	           ") reached\", \"tool\": %.*s, \"session_id\": \"proxy_fallback_%" PRIu64 "\"}",
	           g->conf.max_envs, STR_ARG(c->world_call.tool), id);
	c->world_call.is_error = false;
	c->done = true;
}

void fault_every_second(struct call *c)
{
	if (!c->done && c->transport->calls % 2 == 1) {
		world_call_fail(&c->world_call);
		buf_text(&c->world_call.text, "environment step failed");
		c->done = true;
	}
}
