/* Judges a rollout while it runs: see live_judge.h. */
#include "debug/live_judge.h"

static void take_facts(void *ctx, const struct facts_update *u)
{
	struct live_judge *j = ctx;

	if (u->completed && j->sent) {
		effects_set(&j->effects, j->sent, u->completed->effect);
	}
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct live_judge *j = ctx;

	if (v->rollout.p) {
		j->verdict(j->user, v);
	}
}

int live_judge_open(struct live_judge *j, const char *path, judged_fn *verdict, void *user,
                    struct error *err)
{
	const struct judge_conf conf = {.line = take_facts, .verdict = take_verdict, .ctx = j};

	*j = (struct live_judge){.verdict = verdict, .user = user};
	if (judge_new(&conf, &j->judge, err)) {
		return -1;
	}
	judge_file(j->judge, path);
	return 0;
}

void live_judge_close(struct live_judge *j)
{
	judge_free(j->judge);
	effects_release(&j->effects);
}

int live_judge_line(struct live_judge *j, const struct line *l, struct error *err)
{
	if (judge_line(j->judge, l, NULL, err)) {
		return -1;
	}
	if (l->type == LINE_STEP) {
		j->position++;
		j->sent = l->step >= 0 ? j->position : j->sent;
	}
	return 0;
}
