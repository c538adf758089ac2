/* The table of faults: see fault.h. */
#include "serve/fault/fault.h"

#include "serve/gym/gym.h"

#define ON_MCP     (1u << SERVE_MCP)
#define ON_OPENENV (1u << SERVE_OPENENV)
#define ON_BOTH    (ON_MCP | ON_OPENENV)

#define FAULT(ident, name, protocols, help) {name, help, protocols},
const struct fault serve_faults[] = {
#include "serve/fault/faults.def"
};
#undef FAULT
const size_t serve_faults_count = ARRAY_LEN(serve_faults);

#define FAULT(ident, name, protocols, help) &fault_##ident,
static const struct fault_hooks *const hooks[] = {
#include "serve/fault/faults.def"
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

	for (const struct fault_hooks *f; (f = fault_of(c, &cursor));) {
		if (f->wait) {
			f->wait(&wait_ms);
		}
	}
	return wait_ms;
}
