/* Fault bad-field: only one state shows it, which a client has to get into first. */
#include "serve/fault/hooks.h"

#include "json/scan.h"

#define BAD_FIELD 10

static bool is_there(const struct gym *g, const struct gym_env *e)
{
	struct buf state = BUF(BUF_MAX_MESSAGE);
	int64_t position = -1;

	if (e->place) {
		g->conf.world->state(e->place, &state);
		json_i64(JSON_GET(buf_view(&state), "position"), &position);
	}
	buf_release(&state);
	return position == BAD_FIELD;
}

static void fail(struct gym *g, struct call *c)
{
	if (!c->done && !c->act.is_error && is_there(g, c->env)) {
		buf_clear(&c->act.text);
		buf_clear(&c->act.structured);
		act_fail(&c->act);
		buf_printf(&c->act.text, "field %d is broken", BAD_FIELD);
	}
}

const struct fault_hooks fault_bad_field = {.after_call = fail};
