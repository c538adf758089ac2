/* Computes metrics from facts: see stats.h. */
#include "stats/stats.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/arguments.h"
#include "recording/trained.h"
#include "stats/task_metrics.h"

#include <math.h>
#include <stdlib.h>

#define SCHEMAS 64
#define SAME    1e-8 /* trainers treat a smaller deviation as 0 (torch.isclose) */
#define EPSILON 1e-4 /* added to the deviation before advantages are divided by it */

/* A parsed schema, cached because calls of one tool have the same schema in every rollout. */
struct schema {
	struct arena arena;
	struct str text;
	const struct arguments_schema *of;
};

struct stats {
	struct map tasks;             /* by id; in the arena */
	struct task_metrics *no_task; /* of rollouts without a task; may be NULL */
	struct arena arena;
	struct schema schemas[SCHEMAS];
};

struct stats *stats_new(void)
{
	struct stats *s = mem_new(sizeof(*s));

	s->tasks.key = offsetof(struct task_metrics, id);
	return s;
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SCHEMAS; i++)
		arena_release(&s->schemas[i].arena);
	arena_release(&s->arena);
	free(s);
}

/* ---- tasks ---- */

static struct task_metrics *new_task(struct stats *s, struct str id)
{
	struct task_metrics *t = arena_new(&s->arena, sizeof(*t));

	t->id = arena_str(&s->arena, id);
	return t;
}

struct task_metrics *stats_task(struct stats *s, struct str id)
{
	if (!id.p) {
		s->no_task = s->no_task ? s->no_task : new_task(s, id);
		return s->no_task;
	}
	uint64_t hash = map_hash(id);
	struct task_metrics *t = map_find(&s->tasks, hash, id);
	if (!t) {
		t = new_task(s, id);
		map_add(&s->tasks, &t->item, hash);
	}
	return t;
}

struct arena *stats_arena(struct stats *s)
{
	return &s->arena;
}

/* ---- calls ---- */

static const struct arguments_schema *schema_of(struct stats *s, struct str text)
{
	struct schema *one = &s->schemas[fingerprint(text) % SCHEMAS];

	if (!one->of || !str_eq(one->text, text)) {
		arena_reset(&one->arena);
		one->text = arena_str(&one->arena, text);
		one->of = arguments_read(&one->arena, one->text);
	}
	return one->of;
}

static bool fits(struct stats *s, const struct rollout_facts *r, const struct derived_line *m)
{
	if (m->tool < 0 || m->line->outcome == OUTCOME_UNPARSED ||
	    m->line->outcome == OUTCOME_NOT_SENT) {
		return false;
	}
	struct str schema = r->tools[m->tool].schema;
	return !schema.p ||
	       !arguments_check(schema_of(s, schema), m->arguments.p ? m->arguments : STR("{}"),
	                        ERROR_IGNORED);
}

/* Is the failure only visible in the content of the reply? */
static bool is_returned_error(const struct line *l)
{
	enum error_layer layer = line_error_layer(l);

	return layer == LAYER_BODY || layer == LAYER_TEXT ||
	       !json_is_null(JSON_GET(l->value[KEY_ERROR], "disagrees"));
}

static void add_call(struct stats *s, double *sum, const struct rollout_facts *r,
                     const struct derived_line *m)
{
	if (!line_has(m->line, KEY_TOOL_CALL))
		return;
	if (m->line->outcome == OUTCOME_UNPARSED) {
		sum[SUM_CALLS_UNPARSED]++;
	} else {
		sum[SUM_CALLS]++;
		sum[SUM_CALLS_FAILED] += m->line->outcome != OUTCOME_OK;
		sum[SUM_CALLS_RETURNED_ERROR] +=
			m->line->outcome != OUTCOME_OK && is_returned_error(m->line);
	}
	if (r->tools_known != TOOLS_ALL)
		return;
	sum[SUM_CALLS_CHECKED]++;
	sum[SUM_CALLS_FIT] += fits(s, r, m);
}

/* ---- replies of a model ---- */

static void add_usage(double *sum, struct str usage)
{
	double prompt, completion;

	if (!json_double(JSON_GET(usage, "prompt_tokens"), &prompt) ||
	    !json_double(JSON_GET(usage, "completion_tokens"), &completion)) {
		return;
	}
	sum[SUM_USAGES]++;
	sum[SUM_PROMPT_TOKENS] += prompt;
	sum[SUM_COMPLETION_TOKENS] += completion;
}

static void add_parse(double *sum, struct str parse)
{
	struct str source = JSON_GET(parse, "source");

	sum[SUM_NATIVE] += json_is(source, STR("native"));
	sum[SUM_TEXT] += json_is(source, STR("text"));
	sum[SUM_NO_CALL] += json_is(source, STR("none"));
	sum[SUM_REPAIRS] += (double)json_count(JSON_GET(parse, "repairs"));
}

static void add_logprobs(double *sum, struct str llm)
{
	struct logprob_walk walk = {.logprobs = JSON_GET(llm, "logprobs")};
	int64_t count = 0, zeros = 0, bad = 0;
	double v;

	for (; logprob_next(&walk, &v); count++) {
		zeros += v == 0;
		bad += isnan(v) || v > 0;
	}
	sum[SUM_LOGPROBS] += (double)count;
	sum[SUM_LOGPROBS_BAD] += (double)bad;
	sum[SUM_LOGPROB_TURNS] += count > 0;
	sum[SUM_LOGPROBS_ZEROS] += count > 1 && zeros == count;
}

static const size_t ratio_fields[RATIO_SUMS] = {
	offsetof(struct ratios, lr),       offsetof(struct ratios, k3),
	offsetof(struct ratios, weight),   offsetof(struct ratios, squares),
	offsetof(struct ratios, distance), offsetof(struct ratios, first),
	offsetof(struct ratios, rest),
};

static double *ratio_field(struct ratios *r, size_t i)
{
	return (double *)(void *)((char *)r + ratio_fields[i]);
}

static void add_ratios(struct stats *s, struct task_metrics *t, struct ratios *turn)
{
	if (!t->ratios)
		t->ratios = arena_new(&s->arena, sizeof(*t->ratios));
	t->ratios->tokens += turn->tokens;
	t->ratios->first_tokens += turn->first_tokens;
	for (size_t i = 0; i < RATIO_SUMS; i++)
		exact_add(&t->ratios->sum[i], *ratio_field(turn, i));
}

void ratio_sums_merge(struct ratio_sums *to, const struct ratio_sums *from)
{
	to->tokens += from->tokens;
	to->first_tokens += from->first_tokens;
	for (size_t i = 0; i < RATIO_SUMS; i++)
		exact_merge(&to->sum[i], &from->sum[i]);
}

static void compare_samples(struct stats *s, struct task_metrics *t, const struct rollout_facts *r,
                            const struct line *l)
{
	struct ratios one = {.tokens = 0};
	const struct trained_turn *partner =
		r->trained ? trained_find(r->trained, r->id, l->turn) : NULL;

	if (!partner)
		return;
	size_t n = ratios_turn(&one, l->value[KEY_LLM], partner->logprobs, partner->count);
	if (n == partner->count)
		add_ratios(s, t, &one);
	else
		t->metrics.sum[SUM_UNEVEN] += n > 0;
}

static void add_reply(struct stats *s, struct task_metrics *t, const struct rollout_facts *r,
                      const struct line *l, struct stats_rollout *own)
{
	struct str llm = l->value[KEY_LLM];
	struct metrics *m = &t->metrics;

	if (!line_has(l, KEY_LLM) || JSON_GET(llm, "error").p)
		return;
	own->replied = true;
	own->clipped = json_is(JSON_GET(llm, "finish_reason"), STR("length"));
	add_parse(m->sum, JSON_GET(llm, "parse"));
	add_usage(m->sum, JSON_GET(llm, "usage"));
	add_logprobs(m->sum, llm);
	compare_samples(s, t, r, l);
}

static void add_line(struct stats *s, struct task_metrics *t, const struct rollout_facts *r,
                     const struct derived_line *m, struct stats_rollout *own)
{
	struct metrics *into = &t->metrics;
	char tempered[64];

	if (m->line->type == LINE_HEADER) {
		into->sum[SUM_TEMPERED] += logprobs_incomparable(
			JSON_GET(JSON_GET(m->line->value[KEY_POLICY], "params"), "sent"), tempered,
			sizeof(tempered));
	} else if (m->line->type == LINE_STEP) {
		add_call(s, into->sum, r, m);
		add_reply(s, t, r, m->line, own);
	}
}

/* ---- rollouts ---- */

static void add_reward(struct task_metrics *t, const struct rollout_end *end, const double *reward)
{
	struct metrics *m = &t->metrics;

	if (end->lost)
		return;
	if (!reward) {
		m->sum[SUM_UNREWARDED]++;
		return;
	}
	m->sum[SUM_REWARDS]++;
	exact_add(&t->exact[EXACT_REWARD], *reward);
	exact_add_product(&t->exact[EXACT_REWARD_SQUARES], *reward, *reward);
	m->sum[SUM_REWARD_POSITIVE] += *reward > 0;
	metrics_extreme(m, EXTREME_REWARD, *reward);
}

static void add_end(struct task_metrics *t, const struct evidence_update *u)
{
	const struct rollout_end *end = u->end;
	const struct counters *c = &end->counters;
	const struct stats_rollout *own = u->user;
	struct metrics *m = &t->metrics;
	double reward;
	bool rewarded = json_double(str_from(c->reward), &reward);

	m->sum[SUM_ROLLOUTS]++;
	m->sum[SUM_STATUS + (size_t)end->status]++;
	m->sum[SUM_LOST] += end->lost;
	m->sum[SUM_FAILURE + (size_t)end->failure] += end->failure != FAILURE_NONE;
	m->sum[SUM_ENVIRONMENT_FAILURES] += failure_of_environment(end->failure);
	m->sum[SUM_NO_REWARD] += end->no_reward;
	m->sum[SUM_CUT_OFF] += end->status == END_TRUNCATED || end->status == END_MAX_TURNS;
	m->sum[SUM_TURNS] += (double)c->turns;
	m->sum[SUM_TURN_SQUARES] += (double)c->turns * (double)c->turns;
	m->sum[SUM_STEPS] += (double)c->steps;
	m->sum[SUM_STEP_SQUARES] += (double)c->steps * (double)c->steps;
	m->sum[SUM_FAILED] += (double)c->failed;
	m->sum[SUM_USED_TOOLS] += c->steps > 0;
	if (c->effective >= 0) {
		m->sum[SUM_EFFECTIVE] += (double)c->effective;
		m->sum[SUM_JUDGED]++;
	}
	m->sum[SUM_COMPLETIONS] += own->replied;
	m->sum[SUM_CLIPPED] += own->clipped;
	metrics_extreme(m, EXTREME_TURNS, (double)c->turns);
	add_reward(t, end, rewarded ? &reward : NULL);
	if (u->rollout->group_size > 0)
		metrics_extreme(m, EXTREME_GROUP_SIZE, (double)u->rollout->group_size);
}

void stats_take(struct stats *s, const struct evidence_update *u)
{
	struct task_metrics *t = stats_task(s, u->rollout->task);

	if (u->derived.line)
		add_line(s, t, u->rollout, &u->derived, u->user);
	if (u->end)
		add_end(t, u);
}

/* ---- groups ---- */

/* Of a task with two rewards or more. */
static void close_group(struct metrics *m, double samples)
{
	double low = m->low[EXTREME_REWARD], high = m->high[EXTREME_REWARD];
	double mean = m->rewards.mean, std = sqrt(m->rewards.squares / (m->rewards.count - 1));
	double advantage = fmax(high - mean, mean - low) / (std + EPSILON);

	m->sum[SUM_GROUPS]++;
	m->sum[SUM_GROUP_SAMPLES] += samples;
	m->sum[SUM_ZERO_STD_SAMPLES] += std <= SAME ? samples : 0;
	m->sum[SUM_SOLVED_NONE] += high <= 0;
	m->sum[SUM_SOLVED_ALL] += low >= 1;
	m->sum[SUM_SOLVED_SOME] += high > 0 && low < 1;
	if (isfinite(std) && isfinite(advantage))
		metrics_extreme(m, EXTREME_ADVANTAGE, advantage);
	else
		m->sum[SUM_NOT_FINITE]++;
}

static void close_spread(struct spread *s, double count, const struct exact_sum exact[EXACTS])
{
	if (count > 0) {
		*s = (struct spread){
			count, exact_value(&exact[EXACT_REWARD]) / count,
			exact_spread(count, &exact[EXACT_REWARD], &exact[EXACT_REWARD_SQUARES]) /
				count};
	}
}

static void close_ratios(struct metrics *m, const struct ratio_sums *sums)
{
	if (!sums)
		return;
	m->ratios.tokens = sums->tokens;
	m->ratios.first_tokens = sums->first_tokens;
	for (size_t i = 0; i < RATIO_SUMS; i++)
		*ratio_field(&m->ratios, i) = exact_value(&sums->sum[i]);
	m->sum[SUM_K1] = m->ratios.lr != 0 ? -m->ratios.lr : 0; /* never -0 */
	m->sum[SUM_K3] = m->ratios.k3;
	m->sum[SUM_COMPARED] = (double)m->ratios.tokens;
}

/* Computes the metrics that need all rollouts of a task. */
static void close_task(struct task_metrics *t)
{
	struct metrics *m = &t->metrics;
	/* the rollouts that reached an end are the samples of the group */
	double samples = m->sum[SUM_REWARDS] + m->sum[SUM_UNREWARDED];

	close_ratios(m, t->ratios);
	m->sum[SUM_REWARD] = exact_value(&t->exact[EXACT_REWARD]);
	m->sum[SUM_REWARD_SQUARES] = exact_value(&t->exact[EXACT_REWARD_SQUARES]);
	close_spread(&m->rewards, m->sum[SUM_REWARDS], t->exact);
	if (!t->id.p)
		return;
	m->sum[SUM_TASKS] = 1;
	m->sum[SUM_SIZED_GROUPS] = m->known[EXTREME_GROUP_SIZE];
	m->sum[SUM_FULL_GROUPS] =
		m->known[EXTREME_GROUP_SIZE] && samples >= m->high[EXTREME_GROUP_SIZE];
	if (m->sum[SUM_REWARDS] > 1)
		close_group(m, samples);
}

static int by_id(const void *left, const void *right)
{
	const struct task_metrics *const *a = left, *const *b = right;

	return str_order((*a)->id, (*b)->id);
}

struct task_metrics **stats_tasks(const struct stats *s, size_t *count)
{
	struct task_metrics **sorted = map_list(&s->tasks), **all;
	size_t first = s->no_task != NULL;

	*count = s->tasks.count + first;
	qsort(sorted, s->tasks.count, sizeof(struct task_metrics *), by_id);
	all = mem_array(*count + 1, sizeof(struct task_metrics *));
	all[0] = s->no_task;
	if (s->tasks.count)
		memcpy(all + first, sorted, s->tasks.count * sizeof(struct task_metrics *));
	free(sorted);
	return all;
}

void stats_finish(struct stats *s,
                  void (*each)(void *ctx, struct str task, const struct metrics *m), void *ctx,
                  struct metrics *total)
{
	struct exact_sum exact[EXACTS] = {{.count = 0}};
	size_t count;
	struct task_metrics **tasks = stats_tasks(s, &count);

	*total = (struct metrics){.known = {false}};
	for (size_t i = 0; i < count; i++) {
		struct task_metrics *t = tasks[i];

		close_task(t);
		if (each)
			each(ctx, t->id, &t->metrics);
		metrics_merge(total, &t->metrics);
		for (size_t k = 0; k < EXACTS; k++)
			exact_merge(&exact[k], &t->exact[k]);
	}
	close_spread(&total->rewards, total->sum[SUM_REWARDS], exact);
	free(tasks);
	s->tasks = (struct map){.key = s->tasks.key};
	s->no_task = NULL;
}
