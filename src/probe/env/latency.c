/* How long opening, resetting and stepping take: reported only. */
#include "probe/probe_internal.h"

static double ms(uint64_t us)
{
	return (double)us / 1000;
}

static void add_timing(const char *what, struct timings *t, struct property *out)
{
	if (!t->count)
		return;
	timings_sort(t);
	buf_printf(&out->value, "%s%s %.1f/%.1f/%.1f", out->value.n ? " · " : "", what,
	           ms(t->us[0]), ms(t->us[t->count / 2]), ms(t->us[t->count - 1]));
	buf_printf(&out->evidence, "%s%zu %s%s", out->evidence.n ? ", " : "", t->count, what,
	           plural(t->count));
}

int property_latency(struct probe *p, struct property *out, struct error *err)
{
	(void)err;
	add_timing("open", &p->pool.open, out);
	if (p->traits.has_episodes)
		add_timing("reset", &p->pool.reset, out);
	add_timing("step", &p->pool.step, out);
	out->status = out->value.n ? PROPERTY_OK : PROPERTY_UNKNOWN;
	if (p->conf->trainer && p->pool.step.count) {
		size_t turns = p->named && p->call_count ? p->call_count : 1;

		buf_text(&out->evidence, "; ");
		trainer_describe_time(p->conf->trainer, turns,
		                      p->pool.step.us[p->pool.step.count / 2], &out->evidence);
	}
	if (out->value.n)
		buf_text(&out->value, " ms (min/median/max)");
	else
		buf_text(&out->value, "no samples");
	return 0;
}
