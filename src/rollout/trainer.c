/* A trainer's arithmetic: see trainer.h. */
#include "rollout/trainer.h"

#include <inttypes.h>

static uint64_t factor(struct opt_u64 o)
{
	return o.given ? o.value : 1;
}

bool trainer_given(const struct trainer_options *o)
{
	return o->generations.given || o->device_batch.given || o->accumulation.given ||
	       o->processes.given;
}

static int check_factors(const struct trainer_options *o, struct error *err)
{
	const struct {
		const char *name;
		struct opt_u64 value;
	} factors[] = {{"num-generations", o->generations},
	               {"per-device-batch", o->device_batch},
	               {"grad-accum", o->accumulation},
	               {"processes", o->processes}};

	for (size_t i = 0; i < ARRAY_LEN(factors); i++) {
		if (factors[i].value.given && factors[i].value.value == 0) {
			return error_set(err, FAIL_USAGE,
			                 "--%s 0: a trainer has at least 1",
			                 factors[i].name);
		}
	}
	return 0;
}

/* False: more than there may be. */
static bool multiply(const struct trainer_options *o, uint64_t *out)
{
	const uint64_t factors[] = {factor(o->device_batch), factor(o->accumulation),
	                            factor(o->processes)};

	*out = 1;
	for (size_t i = 0; i < ARRAY_LEN(factors); i++) {
		if (__builtin_mul_overflow(*out, factors[i], out) ||
		    *out > TRAINER_SESSIONS_MAX) {
			return false;
		}
	}
	return true;
}

int trainer_plan(const struct trainer_options *o, struct trainer_plan *out,
                 struct error *err)
{
	struct trainer_plan p = {.group_size = factor(o->generations)};

	if (check_factors(o, err)) {
		return -1;
	}
	if (!multiply(o, &p.sessions)) {
		return error_set(err, FAIL_USAGE,
		                 "--per-device-batch x --grad-accum x --processes is "
		                 "more than %d sessions",
		                 TRAINER_SESSIONS_MAX);
	}
	if (p.sessions % p.group_size) {
		return error_set(err, FAIL_USAGE,
		                 "the generation batch (per-device batch %" PRIu64
		                 " x accumulation %" PRIu64 " x processes %" PRIu64
		                 " = %" PRIu64
		                 ") must be divisible by num_generations (%" PRIu64 ")",
		                 factor(o->device_batch), factor(o->accumulation),
		                 factor(o->processes), p.sessions, p.group_size);
	}
	p.groups = p.sessions / p.group_size;
	*out = p;
	return 0;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void trainer_say(const struct trainer_options *o, const struct trainer_plan *p,
                 struct buf *out)
{
	buf_printf(out,
	           "%" PRIu64 " a device x %" PRIu64 " accumulated x %" PRIu64
	           " process%s = %" PRIu64 " session%s at once: %" PRIu64
	           " prompt%s with %" PRIu64 " generation%s each",
	           factor(o->device_batch), factor(o->accumulation), factor(o->processes),
	           factor(o->processes) == 1 ? "" : "es", p->sessions,
	           plural(p->sessions), p->groups, plural(p->groups), p->group_size,
	           plural(p->group_size));
}
