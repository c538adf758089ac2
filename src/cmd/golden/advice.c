/* Sentences about goldens: see advice.h. */
#include "cmd/golden/advice.h"

#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/options/compare_options.h"
#include "compare/tool_changes.h"

#include <inttypes.h>

void advise_tool(struct names *said, const struct golden *g, const struct tool_change *t)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	tool_change_say(t, &text);
	if (names_note(said, buf_view(&text)))
		log_warn("%s: %s", g->file, buf_cstr(&text));
}

/* The first tool that the golden calls and the environment does not have; absent: none. */
static struct str missing_tool(const struct golden *g)
{
	struct str tools = g->got.header.value[KEY_TOOLS], name;

	for (size_t i = 0; i < g->want.count && json_type(tools) == JSON_ARRAY; i++) {
		name = JSON_GET(g->want.steps[i].value[KEY_TOOL_CALL], "name");
		if (json_type(name) == JSON_STRING && !json_named(tools, name).p)
			return name;
	}
	return STR_NONE;
}

/* It is of another environment; or of another program, whose tool has another name there. */
void advise_tools(struct names *said, const struct golden *g)
{
	struct str want = g->want.header.value[KEY_ENV], got = g->got.header.value[KEY_ENV];
	struct str name = missing_tool(g), tool = STR_NONE;
	AUTO_BUF from = BUF(BUF_MAX_SMALL), to = BUF(BUF_MAX_SMALL), lacks = BUF(BUF_MAX_SMALL);
	bool imported = JSON_GET(want, "facts").p;
	size_t at = 0;

	if (!name.p || (imported && !json_next(g->got.header.value[KEY_TOOLS], &at, &tool)))
		return;
	text_escape(&lacks, json_inner(name));
	text_escape(&from, json_inner(JSON_GET(want, "name")));
	text_escape(&to, json_inner(JSON_GET(imported ? tool : got, "name")));
	if (imported && names_note(said, buf_view(&lacks))) {
		log_warn("%s calls '%s', and the environment has no such tool; if its '%s' "
		         "is meant: --tool-map %s=%s",
		         g->file, buf_cstr(&lacks), buf_cstr(&to), buf_cstr(&lacks), buf_cstr(&to));
	} else if (!imported && !str_eq(buf_view(&from), buf_view(&to))) {
		log_warn("%s: rollout %.*s: this golden is of %s; the environment is %s and has no "
		         "tool '%s'",
		         g->file, STR_ARG(g->want.id), buf_cstr(&from), buf_cstr(&to),
		         buf_cstr(&lacks));
	}
}

void advise_not_compared(const struct golden *g)
{
	if (g->started) {
		log_warn("%s: rollout %.*s was not replayed in full; not compared", g->file,
		         STR_ARG(g->want.id));
	}
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

/* ---- one more session ---- */

static bool open_again(struct driver *d, const struct golden *g, struct rollout_copy *copy)
{
	const struct trial trial = {
		.golden = g, .policy = {.calls = STR("[]")}, .copy = copy, .strip = g->strip};
	struct rollout_result result = {.opened = false};
	struct io *io = NULL;
	/* the replay's own result stands */
	bool opened = !driver_new_io(d, &io, ERROR_IGNORED) &&
	              !trial_run(d, &trial, io, &result, ERROR_IGNORED) && result.opened;

	io_free(io);
	return opened && copy->end.text.p;
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
	struct rollout_copy again = {.count = 0};
	struct compare_conf silent = *conf;
	struct compare_count count = {.rollouts = 0};
	char seed[48] = "";

	silent.take = NULL;
	silent.tools = TOOLS_IGNORED;
	if (open_again(d, g, &again)) {
		struct rollout_copy first = begin_of(&g->got, &again.end);
		struct rollout_copy second = begin_of(&again, &again.end);

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
	rollout_copy_release(&again);
}
