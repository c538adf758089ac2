/* The table of faults, and what several of them share: see fault.h. */
#include "serve/fault.h"

#include <inttypes.h>

#define ON_MCP     (1u << SERVE_MCP)
#define ON_OPENENV (1u << SERVE_OPENENV)
#define ON_BOTH    (ON_MCP | ON_OPENENV)

#define FAULT(ident, name, protocols, help) {name, help, protocols},
const struct fault serve_faults[] = {
#include "serve/faults.def"
};
#undef FAULT
const size_t serve_faults_count = ARRAY_LEN(serve_faults);

#define FAULT(ident, name, protocols, help) &fault_##ident,
static const struct fault_hooks *const hooks[] = {
#include "serve/faults.def"
};
#undef FAULT

_Static_assert(ARRAY_LEN(hooks) <= 64, "serve_conf.faults has a bit for each");

const struct fault_hooks *fault_of(const struct serve_conf *c, size_t *cursor)
{
	while (*cursor < ARRAY_LEN(hooks)) {
		size_t i = (*cursor)++;

		if (c->faults >> i & 1) {
			return hooks[i];
		}
	}
	return NULL;
}

const struct fault_hooks *fault_next(const struct gym *g, size_t *cursor)
{
	return fault_of(&g->conf, cursor);
}

uint64_t fault_wait_ms(const struct serve_conf *c)
{
	uint64_t wait_ms = c->delay_ms;
	size_t cursor = 0;

	for (const struct fault_hooks *f; (f = fault_of(c, &cursor)) != NULL;) {
		if (f->wait != NULL) {
			f->wait(&wait_ms);
		}
	}
	return wait_ms;
}

/* Addresses of 15 digits, as the proxy's ids were: one object after the other. */
#define FIRST_ADDRESS   140573993008848u
#define ADDRESS_SPACING 16u

void fault_capacity_text(struct gym *g, struct call *c)
{
	uint64_t id = FIRST_ADDRESS + ADDRESS_SPACING * g->ids_made_up++;

	buf_clear(&c->act.text);
	buf_printf(
		&c->act.text,
		"{\"error\": \"Maximum concurrent environments (%" PRIu64
		") reached\", \"tool\": %.*s, \"session_id\": \"proxy_fallback_%" PRIu64
		"\"}",
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
