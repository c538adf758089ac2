/* Choosing one of several rollouts: see goldens_choice.h. */
#include "cmd/golden/goldens_choice.h"

#include "check/judge.h"

#include <stdio.h>

#define LISTED_MAX 20 /* ids listed in a message */

struct first_finding {
	struct buf id;
	bool found;
};

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct first_finding *f = ctx;

	if (!f->found && v->finding_count > 0 && v->rollout.p) {
		f->found = true;
		buf_str(&f->id, v->rollout);
	}
}

/* Judges the recording without further options and takes the first finding. */
static int find_first(const char *file, const char *rule, struct buf *id, struct error *err)
{
	struct first_finding first = {.id = BUF(BUF_MAX_SMALL)};
	struct judge_conf conf = {.only = rule, .verdict = take_verdict, .ctx = &first};
	struct judge *judge = NULL;
	int failed = judge_new(&conf, &judge, err) || judge_recording(judge, file, NULL, NULL, err);

	if (!failed)
		judge_finish(judge);
	if (!failed && !first.found) {
		failed = error_set(err, FAIL_INPUT, "%s: no rollout in it has a finding of rule %s",
		                   file, rule);
	}
	buf_str(id, buf_view(&first.id));
	judge_free(judge);
	buf_release(&first.id);
	return failed ? -1 : 0;
}

static int list_ids(const struct goldens *g, const char *id, struct error *err)
{
	const char *file = g->items ? g->items[0].file : "";

	if (id) {
		error_set(err, FAIL_USAGE, "%s has no rollout '%s'; available:", file, id);
	} else {
		error_set(err, FAIL_USAGE, "%s has %zu rollouts; choose one with --rollout:", file,
		          g->count);
	}
	for (size_t i = 0; g->items && i < g->count && i < LISTED_MAX; i++) {
		size_t n = strlen(err->text);

		snprintf(err->text + n, sizeof(err->text) - n, "%s %.*s", i ? "," : "",
		         STR_ARG(g->items[i].want.id));
	}
	return -1;
}

int goldens_choose(const struct goldens *g, const char *rule, const char *id, struct golden **out,
                   struct error *err)
{
	struct buf first = BUF(BUF_MAX_SMALL);
	bool several = g->count > 1;
	int failed = several && !id && rule ? find_first(g->items[0].file, rule, &first, err) : 0;
	const char *wanted = first.n ? buf_cstr(&first) : id;

	*out = NULL;
	for (size_t i = 0; !failed && i < g->count && !*out; i++) {
		bool fits = wanted ? str_is(g->items[i].want.id, wanted) : !several;

		*out = fits ? &g->items[i] : NULL;
	}
	if (!failed && !*out)
		failed = list_ids(g, wanted, err);
	buf_release(&first);
	return failed;
}
