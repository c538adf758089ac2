/* From lines and verdicts to metrics: see stats.h. */
#include "stats/stats.h"

#include "check/open.h"
#include "check/peer.h"
#include "check/trained.h"
#include "json/arguments.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES 64 /* those below are told apart; the others are taken for different */
#define SCHEMAS 64
#define SAME    1e-8 /* rewards that trainers take for equal */
#define EPSILON 1e-4 /* beside the deviation, where advantages are divided by it */

/* The rollouts of one task, as a group. */
struct group {
	int64_t size; /* asked for; 0: not known */
	int64_t samples;
	uint64_t seen;
	int64_t rewards;
	double mean, squares; /* of the rewards: the latter of their distances from it */
	double low, high;
};

struct task {
	uint64_t hash; /* 0: free */
	struct str id; /* absent: rollouts without a task */
	struct metrics *metrics;
	struct group group;
};

/* A schema that was read already: calls of one tool have the same, rollout after rollout.
 */
struct schema {
	struct arena arena;
	struct str text;
	const struct arguments_schema *of;
};

struct stats {
	struct task *tasks;
	size_t size, count;
	struct arena arena;
	struct schema schemas[SCHEMAS];
};

struct stats *stats_new(void)
{
	return mem_new(sizeof(struct stats));
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SCHEMAS; i++)
		arena_release(&s->schemas[i].arena);
	arena_release(&s->arena);
	free(s->tasks);
	free(s);
}

/* ---- tasks ---- */

static struct task *place(struct task *tasks, size_t size, struct str id, uint64_t hash)
{
	size_t i = hash & (size - 1);

	while (tasks[i].hash && !(tasks[i].hash == hash && !tasks[i].id.p == !id.p &&
	                          str_eq(tasks[i].id, id)))
		i = (i + 1) & (size - 1);
	return &tasks[i];
}

static void grow(struct stats *s)
{
	size_t size = s->size ? 2 * s->size : 64;
	struct task *tasks = mem_array(size, sizeof(*tasks));

	for (size_t i = 0; i < s->size; i++) {
		if (s->tasks[i].hash)
			*place(tasks, size, s->tasks[i].id, s->tasks[i].hash) =
				s->tasks[i];
	}
	free(s->tasks);
	s->tasks = tasks;
	s->size = size;
}

static struct task *task_of(struct stats *s, struct str id)
{
	uint64_t hash = open_hash(id);

	if (4 * (s->count + 1) > 3 * s->size)
		grow(s);
	struct task *t = place(s->tasks, s->size, id, hash);
	if (!t->hash) {
		*t = (struct task){.hash = hash, .id = arena_str(&s->arena, id)};
		t->metrics = arena_new(&s->arena, sizeof(*t->metrics));
		s->count++;
	}
	return t;
}

/* ---- calls ---- */

static const struct arguments_schema *schema_of(struct stats *s, struct str text)
{
	struct schema *one = &s->schemas[peer_fingerprint(text) % SCHEMAS];

	if (!one->of || !str_eq(one->text, text)) {
		arena_reset(&one->arena);
		one->text = arena_str(&one->arena, text);
		one->of = arguments_read(&one->arena, one->text);
	}
	return one->of;
}

static bool fits(struct stats *s, const struct rollout_facts *r, const struct moment *m)
{
	struct error ignored;

	if (m->tool < 0 || m->line->outcome == OUTCOME_UNPARSED ||
	    m->line->outcome == OUTCOME_NOT_SENT)
		return false;
	struct str schema = r->tools[m->tool].schema;
	return !schema.p ||
	       !arguments_check(schema_of(s, schema),
	                        m->arguments.p ? m->arguments : STR("{}"), &ignored);
}

/* An error that only the content of the reply tells. */
static bool is_returned_error(const struct line *l)
{
	struct str error = l->value[KEY_ERROR];
	struct str layer = JSON_GET(error, "layer");

	return peer_is(layer, STR("body")) || peer_is(layer, STR("text")) ||
	       !json_is_null(JSON_GET(error, "disagrees"));
}

static void take_call(struct stats *s, double *sum, const struct rollout_facts *r,
                      const struct moment *m)
{
	if (!line_has(m->line, KEY_TOOL_CALL))
		return;
	sum[SUM_CALLS]++;
	if (m->line->outcome != OUTCOME_OK) {
		sum[SUM_CALLS_FAILED]++;
		sum[SUM_CALLS_RETURNED_ERROR] += is_returned_error(m->line);
	}
	if (r->tools_known != TOOLS_ALL)
		return;
	sum[SUM_CALLS_CHECKED]++;
	sum[SUM_CALLS_FIT] += fits(s, r, m);
}

/* ---- replies of a model ---- */

static void take_usage(double *sum, struct str usage)
{
	double prompt, completion;

	if (!json_double(JSON_GET(usage, "prompt_tokens"), &prompt) ||
	    !json_double(JSON_GET(usage, "completion_tokens"), &completion))
		return;
	sum[SUM_USAGES]++;
	sum[SUM_PROMPT_TOKENS] += prompt;
	sum[SUM_COMPLETION_TOKENS] += completion;
}

static void take_parse(double *sum, struct str parse)
{
	struct str source = JSON_GET(parse, "source");

	sum[SUM_NATIVE] += peer_is(source, STR("native"));
	sum[SUM_TEXT] += peer_is(source, STR("text"));
	sum[SUM_NO_CALL] += peer_is(source, STR("none"));
	sum[SUM_REPAIRS] += (double)json_count(JSON_GET(parse, "repairs"));
}

static void take_logprobs(double *sum, struct str llm)
{
	struct logprob_walk walk = {.llm = llm};
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

static void compare(struct metrics *m, const struct rollout_facts *r,
                    const struct line *l)
{
	struct ratios one = {.tokens = 0};
	const struct trained_turn *partner =
		r->trained ? trained_find(r->trained, r->id, l->turn) : NULL;

	if (!partner)
		return;
	size_t n =
		ratios_turn(&one, l->value[KEY_LLM], partner->logprobs, partner->count);
	if (n == partner->count)
		ratios_merge(&m->ratios, &one);
	else
		m->sum[SUM_UNEVEN] += n > 0;
}

static void take_reply(struct metrics *m, const struct rollout_facts *r,
                       const struct line *l)
{
	struct str llm = l->value[KEY_LLM];

	if (!line_has(l, KEY_LLM) || JSON_GET(llm, "error").p)
		return;
	m->sum[SUM_REPLIES]++;
	m->sum[SUM_CLIPPED] += peer_is(JSON_GET(llm, "finish_reason"), STR("length"));
	take_parse(m->sum, JSON_GET(llm, "parse"));
	take_usage(m->sum, JSON_GET(llm, "usage"));
	take_logprobs(m->sum, llm);
	compare(m, r, l);
}

void stats_line(struct stats *s, const struct rollout_facts *r, const struct moment *m)
{
	struct metrics *into = task_of(s, r->task)->metrics;
	char tempered[64];

	if (m->line->type == LINE_HEADER) {
		into->sum[SUM_TEMPERED] += logprobs_tempered(m->line->value[KEY_POLICY],
		                                             tempered, sizeof(tempered));
	} else if (m->line->type == LINE_STEP) {
		take_call(s, into->sum, r, m);
		take_reply(into, r, m->line);
	}
}

/* ---- rollouts ---- */

static size_t status_of(struct str status)
{
	size_t i = 0, last = SUM_STATUS_LAST - SUM_STATUS;

	while (i < last && !str_is(status, metric_statuses[i]))
		i++;
	return SUM_STATUS + i;
}

/* False: that sample was here before. */
static bool is_new_sample(struct group *g, int64_t sample)
{
	if (sample < 0 || sample >= SAMPLES)
		return true;
	uint64_t bit = (uint64_t)1 << sample;
	bool is_new = !(g->seen & bit);
	g->seen |= bit;
	return is_new;
}

static void join_group(struct group *g, const struct rollout_verdict *v,
                       const double *reward)
{
	if (v->group_size > 0)
		g->size = v->group_size;
	if (v->lost || !is_new_sample(g, v->sample))
		return;
	g->samples++;
	if (!reward)
		return;
	double distance = *reward - g->mean;
	g->low = g->rewards && g->low < *reward ? g->low : *reward;
	g->high = g->rewards && g->high > *reward ? g->high : *reward;
	g->rewards++;
	g->mean += distance / (double)g->rewards;
	g->squares += distance * (*reward - g->mean);
}

static void take_reward(struct metrics *m, const struct rollout_verdict *v,
                        const double *reward)
{
	if (v->lost)
		return;
	if (!reward) {
		m->sum[SUM_UNREWARDED]++;
		return;
	}
	m->sum[SUM_REWARDS]++;
	m->sum[SUM_REWARD] += *reward;
	m->sum[SUM_REWARD_POSITIVE] += *reward > 0;
	metrics_extreme(m, EXTREME_REWARD, *reward);
}

void stats_rollout(struct stats *s, const struct rollout_verdict *v)
{
	if (!v->rollout.p)
		return;
	struct task *t = task_of(s, v->task);
	struct metrics *m = t->metrics;
	size_t status = status_of(v->status);
	double reward;
	bool rewarded = json_double(str_from(v->tally.reward), &reward);

	m->sum[SUM_ROLLOUTS]++;
	m->sum[status]++;
	m->sum[SUM_LOST] += v->lost;
	m->sum[SUM_CUT_OFF] +=
		str_is(v->status, "truncated") || str_is(v->status, "max-turns");
	m->sum[SUM_TURNS] += (double)v->tally.turns;
	m->sum[SUM_STEPS] += (double)v->tally.steps;
	m->sum[SUM_FAILED] += (double)v->tally.failed;
	m->sum[SUM_USED_TOOLS] += v->tally.steps > 0;
	if (v->tally.effective >= 0) {
		m->sum[SUM_EFFECTIVE] += (double)v->tally.effective;
		m->sum[SUM_JUDGED]++;
	}
	metrics_extreme(m, EXTREME_TURNS, (double)v->tally.turns);
	take_reward(m, v, rewarded ? &reward : NULL);
	join_group(&t->group, v, rewarded ? &reward : NULL);
}

/* ---- groups ---- */

static void close_rewards(struct metrics *m, const struct group *g)
{
	double std = sqrt(g->squares / (double)(g->rewards - 1));
	double advantage = fmax(g->high - g->mean, g->mean - g->low) / (std + EPSILON);
	bool same = g->high - g->low <= SAME;

	m->sum[SUM_GROUPS]++;
	m->sum[SUM_GROUP_SAMPLES] += (double)g->rewards;
	m->sum[SUM_ZERO_STD_SAMPLES] += same ? (double)g->rewards : 0;
	m->sum[SUM_SOLVED_NONE] += g->high <= 0;
	m->sum[SUM_SOLVED_ALL] += g->low >= 1;
	m->sum[SUM_SOLVED_SOME] += g->high > 0 && g->low < 1;
	if (isfinite(std) && isfinite(advantage)) {
		m->sum[SUM_GROUP_STD] += std;
		metrics_extreme(m, EXTREME_ADVANTAGE, advantage);
	} else {
		m->sum[SUM_NOT_FINITE]++;
	}
}

/* What can be said once all rollouts of a task are there. */
static void close_task(struct task *t)
{
	struct metrics *m = t->metrics;

	m->sum[SUM_K1] = m->ratios.lr != 0 ? -m->ratios.lr : 0; /* never -0 */
	m->sum[SUM_K3] = m->ratios.k3;
	m->sum[SUM_COMPARED] = (double)m->ratios.tokens;
	if (!t->id.p)
		return;
	m->sum[SUM_TASKS] = 1;
	m->sum[SUM_SIZED_GROUPS] = t->group.size > 0;
	m->sum[SUM_FULL_GROUPS] = t->group.size > 0 && t->group.samples >= t->group.size;
	m->sum[SUM_ALONE] = t->group.rewards == 1;
	if (t->group.rewards > 1)
		close_rewards(m, &t->group);
}

static int by_id(const void *left, const void *right)
{
	const struct task *a = left, *b = right;
	size_t n = a->id.n < b->id.n ? a->id.n : b->id.n;
	int order = n ? memcmp(a->id.p, b->id.p, n) : 0;

	return order ? order : (a->id.n > b->id.n) - (a->id.n < b->id.n);
}

void stats_finish(struct stats *s,
                  void (*each)(void *ctx, struct str task, const struct metrics *m),
                  void *ctx, struct metrics *total)
{
	size_t n = 0;

	*total = (struct metrics){.known = {false}};
	for (size_t i = 0; i < s->size; i++) {
		if (s->tasks[i].hash)
			s->tasks[n++] = s->tasks[i];
	}
	if (n > 1)
		qsort(s->tasks, n, sizeof(*s->tasks), by_id);
	for (size_t i = 0; i < n; i++) {
		close_task(&s->tasks[i]);
		if (each)
			each(ctx, s->tasks[i].id, s->tasks[i].metrics);
		metrics_merge(total, s->tasks[i].metrics);
	}
	s->size = s->count = 0;
	free(s->tasks);
	s->tasks = NULL;
}
