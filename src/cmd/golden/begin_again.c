/* The begin of a golden's episode, once more: see begin_again.h. */
#include "cmd/golden/begin_again.h"

#include "base/log.h"
#include "recording/recorder.h"

#include <inttypes.h>

struct again {
	struct golden *golden;
	struct rollout_copy copy;
};

static int take_line(void *ctx, const struct line *l, struct error *err)
{
	struct again *a = ctx;

	return rollout_copy_add(&a->copy, a->golden->strip, l, err);
}

static bool open_again(struct driver *d, struct again *a)
{
	static const struct recorder_conf nowhere = {.path = "/dev/null"};
	struct line_sink sink = {take_line, a};
	struct rollout_result result = {.opened = false};
	struct recorder *recorder = NULL;
	struct io *io = NULL;
	struct error ignored; /* the replay's own result stands */

	if (!driver_new_io(d, &io, &ignored) && !recorder_new(&nowhere, &recorder, &ignored)) {
		struct rollout_conf conf = driver_conf(d, io);

		conf.policy = (struct policy_conf){.calls = STR("[]")};
		golden_start(a->golden, false, &conf);
		conf.options_fit = NULL;
		conf.recorder = recorder;
		conf.sinks = &sink;
		conf.sink_count = 1;
		result.opened = !driver_rollout(d, &conf, &result, &ignored) && result.opened;
	}
	if (recorder)
		(void)!recorder_close(recorder, &ignored);
	io_free(io);
	return result.opened && a->copy.end.text.p;
}

/* Without the calls: what the reset replied, and the first state. */
static struct rollout_copy begin_of(const struct rollout_copy *r, const struct line *end)
{
	struct rollout_copy begin = {.id = r->id, .header = r->header, .reset = r->reset};

	begin.end = *end;
	begin.end.value[KEY_STATE] =
		r->count ? r->steps[0].value[KEY_STATE] : r->end.value[KEY_STATE];
	return begin;
}

void begin_again(struct driver *d, struct golden *g, const struct compare_conf *conf)
{
	struct again a = {.golden = g};
	struct compare_conf silent = *conf;
	struct compare_count count = {.rollouts = 0};
	char seed[48] = "";

	silent.take = NULL;
	silent.tools = TOOLS_IGNORED;
	if (open_again(d, &a)) {
		struct rollout_copy first = begin_of(&g->got, &a.copy.end);
		struct rollout_copy second = begin_of(&a.copy, &a.copy.end);

		compare_rollouts(&first, &second, &silent, &count);
		if (g->has_seed)
			snprintf(seed, sizeof(seed), " with seed %" PRId64, g->seed);
		log_warn(
			"%s: rollout %.*s began differently; in one more session%s the environment "
			"%s",
			g->file, STR_ARG(g->want.id), seed,
			!count.differences ? "begins as in the replay: it has changed since the "
					     "golden was recorded"
			: g->has_seed      ? "differs from itself: it ignores its seed"
				      : "differs from itself: its episodes are random (record the "
					"golden with --seed), or it shows the time");
	}
	rollout_copy_release(&a.copy);
}
