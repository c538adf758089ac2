/* Metrics: totals over the lines of rollouts, merging of tasks, and the checklist. */
#include "tap.h"

#include "stats/checklist.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct gathered {
	struct stats *stats;
	struct evidence *facts;
	struct metrics total;
	struct buf tasks; /* "a b (none)" */
};

static void task(void *ctx, struct str id, const struct metrics *m)
{
	struct gathered *g = ctx;

	buf_printf(&g->tasks, "%s%.*s:%g", g->tasks.n ? " " : "", id.p ? (int)id.n : 1,
	           id.p ? id.p : "-", m->sum[SUM_ROLLOUTS]);
}

static void begin(struct gathered *g)
{
	*g = (struct gathered){.stats = stats_new(),
	                       .facts = evidence_new(&(struct evidence_conf){
				       .user_size = sizeof(struct stats_rollout)}),
	                       .tasks = BUF(BUF_MAX_SMALL)};
}

static void feed(struct gathered *g, const char *text)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct str rest = str_from(text);
	struct error err = {0};
	struct evidence_update u;
	struct line l;
	size_t used;
	int failed = 0;

	while (rest.n > 0 && !failed) {
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str one = {rest.p, lf ? (size_t)(lf - rest.p) : rest.n};

		failed = line_parse(one, &scratch, &l, &used, &err) ||
		         evidence_line(g->facts, &l, NULL, &u, &err);
		if (!failed && u.rollout)
			stats_take(g->stats, &u);
		rest = str_skip(rest, one.n + 1);
	}
	if (failed)
		ok(false, "lines are read: %s", err.text);
	buf_release(&scratch);
}

static void finish(struct gathered *g)
{
	struct evidence_update u;

	while (evidence_end_next(g->facts, &u))
		stats_take(g->stats, &u);
	stats_finish(g->stats, task, g, &g->total);
}

static void end(struct gathered *g)
{
	evidence_free(g->facts);
	stats_free(g->stats);
	buf_release(&g->tasks);
}

/* A rollout without steps; reward NULL: no end. */
static void feed_rollout(struct gathered *g, const char *id, int sample, int size,
                         const char *reward)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text,
	           "{\"type\":\"header\",\"rollout\":\"%s.%d\",\"format\":\"rolldbg\","
	           "\"version\":1,\"task\":{\"id\":\"%s\"},\"sample\":%d,\"limits\":{"
	           "\"group_size\":%d}}\n",
	           id, sample, id, sample, size);
	if (reward) {
		buf_printf(&text,
		           "{\"type\":\"end\",\"rollout\":\"%s.%d\",\"status\":"
		           "\"finished\",\"total_reward\":%s}\n",
		           id, sample, reward);
	}
	feed(g, buf_cstr(&text));
	buf_release(&text);
}

/* A metric by its name; NaN: unknown. */
static double value(const struct metrics *m, const char *name)
{
	double v;

	for (size_t i = 0; i < metric_count; i++)
		if (strcmp(metric_table[i].name, name) == 0)
			return metric_value(&metric_table[i], m, &v) ? v : (double)NAN;
	ok(false, "%s is a metric", name);
	return -1;
}

static bool is(const struct metrics *m, const char *name, double expected)
{
	double v = value(m, name);

	return ok(isnan(expected) ? isnan(v) : fabs(v - expected) < 1e-9, "%s is %g: %g", name,
	          expected, v);
}

static enum check_status status_of(const struct metrics *m, bool supplied, const char *name,
                                   const char *part)
{
	struct checklist_line lines[CHECKLIST];

	checklist_make(m, supplied, lines);
	for (size_t i = 0; i < CHECKLIST; i++) {
		if (strcmp(lines[i].name, name) == 0) {
			ok(strstr(lines[i].value, part) != NULL, "%s: %s", name, lines[i].value);
			return lines[i].status;
		}
	}
	return CHECK_STATUSES;
}

#define TOOLS                                                                                      \
	"\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\","                        \
	"\"properties\":{\"to\":{\"type\":\"string\"}},\"required\":[\"to\"]}}]"
#define STEP(n, name, arguments, outcome, rest)                                                    \
	"{\"type\":\"step\",\"rollout\":\"r\",\"turn\":" #n ",\"step\":" #n                        \
	",\"tool_call\":{\"name\":\"" name "\",\"arguments\":" arguments                           \
	"},\"outcome\":\"" outcome "\"" rest "}\n"
#define TURN(n, outcome, call, rest)                                                               \
	"{\"type\":\"step\",\"rollout\":\"r\",\"turn\":" #n ",\"step\":null,\"tool_call\":" call   \
	",\"outcome\":" outcome rest "}\n"

static const char calls[] =
	"{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\",\"version\":"
	"1," TOOLS "}\n" /* clang-format off */
	STEP(0, "go", "{\"to\":\"a\"}", "ok", ",\"llm\":{\"finish_reason\":\"stop\","
	     "\"parse\":{\"source\":\"native\",\"repairs\":[\"x\",\"y\"]},"
	     "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4},"
	     "\"logprobs\":{\"token_logprobs\":[-1,0]}}")
	STEP(1, "go", "{\"to\":1}", "tool-error",
	     ",\"error\":{\"layer\":\"body\",\"message\":\"no\"},\"llm\":{"
	     "\"finish_reason\":\"length\",\"parse\":{\"source\":\"text\"},"
	     "\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":2},"
	     "\"logprobs\":{\"token_logprobs\":[0,0]}}")
	STEP(2, "fly", "{\"to\":\"a\"}", "tool-error",
	     ",\"error\":{\"layer\":\"jsonrpc\",\"disagrees\":null}")
	STEP(3, "go", "{\"to\":\"b\"}", "tool-error",
	     ",\"error\":{\"layer\":\"mcp\",\"disagrees\":\"mcp\"}")
	TURN(4, "\"unparsed\"", "{\"name\":\"go\",\"arguments\":null}", "")
	TURN(5, "null", "null", ",\"llm\":{\"finish_reason\":\"stop\","
	     "\"parse\":{\"source\":\"none\"}}")
	TURN(6, "null", "null", ",\"llm\":{\"error\":{\"class\":\"server\"}}")
	"{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"max-turns\"}\n"; /* clang-format on */

static void counts_calls(void)
{
	struct gathered g;

	begin(&g);
	feed(&g, calls);
	finish(&g);
	is_str(buf_cstr(&g.tasks), "-:1", "a rollout without a task");
	is(&g.total, "tasks", 0);
	is(&g.total, "turns", 7);
	is(&g.total, "steps", 4);
	is(&g.total, "failed", 3);
	is(&g.total, "tools/call_frequency", 4);
	is(&g.total, "tools/failure_frequency", 3.0 / 4);
	is(&g.total, "unparsed_calls", 1);
	is(&g.total, "returned_error_frequency", 2.0 / 4);
	is(&g.total, "schema_accuracy", 2.0 / 5);
	is(&g.total, "parse_source/native", 1);
	is(&g.total, "parse_source/text", 1);
	is(&g.total, "parse_source/none", 1);
	is(&g.total, "parse_repairs", 2);
	is(&g.total, "completions/clipped_ratio", 0);
	is(&g.total, "usage/prompt_tokens", 15);
	is(&g.total, "usage/completion_tokens", 3);
	is(&g.total, "is_truncated", 1);
	is(&g.total, "reward", (double)NAN);
	ok(status_of(&g.total, false, "logprobs", "all 0 in 1 of 2 turns") == CHECK_FAIL,
	   "a turn of zeros fails");
	ok(status_of(&g.total, false, "kl", "no trainer log-probabilities given") == CHECK_UNKNOWN,
	   "no KL without the trainer's log-probabilities");
	ok(status_of(&g.total, true, "kl", "both engine and trainer") == CHECK_UNKNOWN,
	   "nor without partners");
	ok(status_of(&g.total, false, "reward", "no rollout") == CHECK_UNKNOWN,
	   "no reward: unknown");
	end(&g);
}

static void groups(void)
{
	struct gathered g;

	begin(&g);
	feed_rollout(&g, "b", 0, 2, "0"); /* solved by none */
	feed_rollout(&g, "b", 1, 2, "0");
	feed_rollout(&g, "a", 0, 3, "0"); /* by some; one was lost */
	feed_rollout(&g, "a", 1, 3, "1");
	feed_rollout(&g, "a", 2, 3, NULL);
	feed_rollout(&g, "c", 0, 1, "2"); /* alone */
	feed_rollout(&g, "d", 0, 2, "1"); /* by some; a sample that occurs twice counts twice */
	feed_rollout(&g, "d", 0, 2, "0");
	feed_rollout(&g, "d", 1, 2, "1.5");
	finish(&g);
	is_str(buf_cstr(&g.tasks), "a:3 b:2 c:1 d:3", "tasks in their order");
	is(&g.total, "rollouts", 9);
	is(&g.total, "tasks", 4);
	is(&g.total, "stop_condition/incomplete", 1);
	is(&g.total, "has_error", 1.0 / 9);
	is(&g.total, "groups", 3);
	is(&g.total, "solved_none", 1);
	is(&g.total, "solved_all", 0);
	is(&g.total, "solved_some", 2);
	is(&g.total, "frac_reward_zero_std", 2.0 / 7);
	/* of 0 0 0 1 2 1 0 1.5 */
	is(&g.total, "reward_std", sqrt((8.25 - 5.5 * 5.5 / 8) / 7));
	is(&g.total, "reward/max", 2);
	is(&g.total, "reward", 5.5 / 8);
	ok(status_of(&g.total, false, "groups", "complete: 3 of 4 groups") == CHECK_FAIL,
	   "one group is short");
	ok(status_of(&g.total, false, "advantages", "finite in 3 groups, at most 1.091") ==
	           CHECK_OK,
	   "advantages are finite");
	ok(status_of(&g.total, false, "tools", "0 of 9") == CHECK_FAIL, "no tool was used");
	end(&g);
}

static void extremes(void)
{
	struct gathered g;

	begin(&g);
	feed_rollout(&g, "a", 0, 2, "1e308");
	feed_rollout(&g, "a", 1, 2, "-1e308");
	finish(&g);
	ok(status_of(&g.total, false, "advantages", "not finite in 1 of 1") == CHECK_FAIL,
	   "a deviation beyond the range of double");
	end(&g);
	begin(&g);
	feed_rollout(&g, "a", 0, 2, "0");
	feed_rollout(&g, "a", 1, 2, "1");
	feed_rollout(&g, "a", 2, 2, "null");
	finish(&g);
	ok(status_of(&g.total, false, "advantages", "reached an end without a reward: 1") ==
	           CHECK_FAIL,
	   "a rollout without a reward");
	end(&g);
	begin(&g);
	finish(&g);
	ok(status_of(&g.total, false, "tools", "no rollout") == CHECK_UNKNOWN, "no rollouts");
	is(&g.total, "num_turns/mean", (double)NAN);
	is(&g.total, "num_turns/min", (double)NAN);
	end(&g);
}

static void many_tasks(void)
{
	struct gathered g;
	char id[16];

	begin(&g);
	for (int i = 0; i < 500; i++) {
		snprintf(id, sizeof(id), "t%d", i % 250);
		feed_rollout(&g, id, i / 250, 2, i % 2 ? "1" : "0");
	}
	finish(&g);
	is(&g.total, "rollouts", 500);
	is(&g.total, "tasks", 250);
	is(&g.total, "groups", 250);
	is(&g.total, "reward", 0.5);
	ok(status_of(&g.total, false, "groups", "complete: 250 of 250 groups") == CHECK_OK,
	   "all groups are full");
	end(&g);
}

int main(void)
{
	counts_calls();
	groups();
	extremes();
	many_tasks();
	for (size_t i = 0; i < metric_count; i++) {
		ok(metric_table[i].meaning[0] && strlen(metric_table[i].name) <= 28,
		   "%s: means something and has its place", metric_table[i].name);
	}
	return done();
}
