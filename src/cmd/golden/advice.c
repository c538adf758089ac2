/* Sentences about goldens: see advice.h. */
#include "cmd/golden/advice.h"

#include "base/log.h"
#include "base/names.h"
#include "cmd/options/compare_options.h"

void advise_tool(struct names *said, const struct golden *g, const struct tool_change *t)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	tool_change_say(t, &text);
	if (!names_know(said, buf_view(&text))) {
		names_add(said, buf_view(&text));
		log_warn("%s: %s", g->file, buf_cstr(&text));
	}
	buf_release(&text);
}

void advise_env(void *ctx, const char *sentence)
{
	const struct golden *g = ctx;

	log_warn("%s: rollout %.*s: %s", g->file, STR_ARG(g->want.id), sentence);
}

bool difference_is_at_begin(const struct difference *first)
{
	return first->line && (first->line->type == LINE_RESET ||
	                       (first->line->type == LINE_STEP && first->line->step == 0 &&
	                        str_starts(first->pointer, STR("/state"))));
}

const char *advice_problem(const struct golden *g)
{
	return g->compared  ? NULL
	       : g->lost.n  ? buf_cstr(&g->lost)
	       : g->started ? "not replayed in full"
	                    : "not tried after the environment could not be reached";
}
