/* Judges a rollout while it runs: see live_judge.h. */
#include "debug/live_judge.h"

static void take_facts(void *ctx, const struct evidence_update *u)
{
	struct live_judge *j = ctx;

	const struct rollout_facts *r = u->rollout;

	if (u->completed) {
		effect_list_set(&j->effects, u->completed->position, u->completed->effect);
	}
	for (int64_t i = 0; u->end && i < r->steps; i++) {
		effect_list_set(&j->effects, r->completed[i].position, r->completed[i].effect);
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
	effect_list_release(&j->effects);
}

int live_judge_line(struct live_judge *j, const struct line *l, struct error *err)
{
	return judge_line(j->judge, l, NULL, err);
}
