/* Fault bad-field: one field reports errors. A client sees them only after it has moved there. */
#include "serve/fault/hooks.h"

#include "json/scan.h"

#define BAD_FIELD 10

static bool is_there(const struct gym *g, const struct gym_env *e)
{
	struct buf state = BUF(BUF_MAX_MESSAGE);
	int64_t position = -1;

	if (e->instance) {
		g->conf.world->state(e->instance, &state);
		json_i64(JSON_GET(buf_view(&state), "position"), &position);
	}
	buf_release(&state);
	return position == BAD_FIELD;
}

static void fail(struct gym *g, struct call *c)
{
	if (!c->done && !c->world_call.is_error && is_there(g, c->env)) {
		buf_clear(&c->world_call.text);
		buf_clear(&c->world_call.structured);
		world_call_fail(&c->world_call);
		buf_printf(&c->world_call.text, "field %d is broken", BAD_FIELD);
	}
}

const struct fault_hooks fault_bad_field = {.after_call = fail};
