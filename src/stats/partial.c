/* Writes and reads partial metrics as text: see partial.h. */
#include "stats/partial.h"

#include "json/write.h"
#include "stats/task_metrics.h"

#include <math.h>
#include <stdlib.h>

#define PARTIAL_VERSION 2

/* ---- writing ---- */

static void put_doubles(struct json_writer *w, const char *key, const double *values, size_t count)
{
	if (key)
		jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++)
		jw_double(w, values[i]);
	jw_end(w);
}

static void put_exact(struct json_writer *w, const char *key, const struct exact_sum *sums,
                      size_t count)
{
	jw_put_array(w, key);
	for (size_t i = 0; i < count; i++) {
		double parts[EXACT_PARTS];
		int n = exact_parts(&sums[i], parts);

		jw_array(w);
		for (int k = 0; k < n; k++)
			jw_double(w, parts[k]);
		jw_end(w);
	}
	jw_end(w);
}

static void put_extremes(struct json_writer *w, const struct metrics *m)
{
	jw_put_array(w, "extremes");
	for (size_t i = 0; i < EXTREMES; i++)
		if (m->known[i])
			put_doubles(w, NULL, (const double[]){m->low[i], m->high[i]}, 2);
		else
			jw_null(w);
	jw_end(w);
}

/* Samples are written as [number, reward], with null for a missing reward. */
static void put_group(struct json_writer *w, const struct reward_group *g)
{
	jw_pack(w, "group:[%i,%i,%i],samples:[", g->size, g->others, g->others_rewarded);
	for (uint64_t left = g->seen; left; left &= left - 1) {
		int sample = __builtin_ctzll(left);

		jw_pack(w, "[%d", sample);
		jw_double(w, g->rewarded >> sample & 1 ? g->rewards[sample] : (double)NAN);
		jw_end(w);
	}
	jw_end(w);
	if (g->other) {
		const struct exact_sum sums[] = {g->other->sum, g->other->squares};
		const double range[] = {g->other->low, g->other->high};

		put_exact(w, "others", sums, ARRAY_LEN(sums));
		put_doubles(w, "range", range, ARRAY_LEN(range));
	}
}

static void put_task(const struct task_metrics *t, struct buf *out)
{
	struct json_writer w;

	w = jw_begin(out);
	jw_put_str(&w, "task", t->id);
	put_doubles(&w, "sums", t->metrics.sum, SUMS);
	put_extremes(&w, &t->metrics);
	put_exact(&w, "exact", t->exact, EXACTS);
	put_group(&w, &t->group);
	if (t->ratios) {
		jw_pack(&w, "tokens:[%i,%i]", t->ratios->tokens, t->ratios->first_tokens);
		put_exact(&w, "ratios", t->ratios->sum, RATIO_SUMS);
	}
	jw_line_end(&w);
}

void partial_write(const struct stats *s, const struct partial_head *head, struct buf *out)
{
	size_t count;
	struct task_metrics **tasks = stats_tasks(s, &count);

	json_pack(out, "{partial:%d,trained:%b,shard:%i,of:%i,tasks:%i}", PARTIAL_VERSION,
	          head->trained, (int64_t)head->shard, (int64_t)head->of, (int64_t)count);
	buf_char(out, '\n');
	for (size_t i = 0; i < count; i++)
		put_task(tasks[i], out);
	free(tasks);
}

/* ---- reading ---- */

/* Reads an array of `count` numbers into `doubles`, or natural ones into `counts`. */
static bool get_numbers(struct str object, const char *key, double *doubles, int64_t *counts,
                        size_t count)
{
	struct str array = json_get(object, str_from(key)), value;
	size_t n = 0;

	for (size_t cursor = 0; json_next(array, &cursor, &value); n++) {
		bool fits = n < count &&
		            (doubles ? json_double(value, &doubles[n])
		                     : counts && json_i64(value, &counts[n]) && counts[n] >= 0);

		if (!fits)
			return false;
	}
	return n == count;
}

static bool get_exact(struct str object, const char *key, struct exact_sum *out, size_t count)
{
	struct str array = json_get(object, str_from(key)), sum, part;
	size_t n = 0;
	double value;

	for (size_t cursor = 0; json_next(array, &cursor, &sum); n++) {
		if (n == count || json_type(sum) != JSON_ARRAY)
			return false;
		for (size_t at = 0; json_next(sum, &at, &part);) {
			if (!json_double(part, &value))
				return false;
			exact_add(&out[n], value);
		}
	}
	return n == count;
}

static bool get_pair(struct str pair, struct str *first, struct str *second)
{
	size_t cursor = 0;

	return json_next(pair, &cursor, first) && json_next(pair, &cursor, second);
}

static bool get_extremes(struct str object, struct metrics *m)
{
	struct str array = JSON_GET(object, "extremes"), pair, low, high;
	size_t n = 0;

	for (size_t cursor = 0; json_next(array, &cursor, &pair); n++) {
		if (n == EXTREMES)
			return false;
		m->known[n] = json_count(pair) > 0;
		if (m->known[n] && !(get_pair(pair, &low, &high) && json_double(low, &m->low[n]) &&
		                     json_double(high, &m->high[n]))) {
			return false;
		}
	}
	return n == EXTREMES;
}

static bool get_samples(struct str object, struct arena *arena, struct reward_group *g)
{
	struct str array = JSON_GET(object, "samples"), pair, number, reward;

	for (size_t cursor = 0; json_next(array, &cursor, &pair);) {
		int64_t sample;
		double value;

		if (!get_pair(pair, &number, &reward) || !json_i64(number, &sample) || sample < 0 ||
		    sample >= GROUP_SAMPLES ||
		    !(json_is_null(reward) || json_double(reward, &value))) {
			return false;
		}
		group_join(g, arena, sample, json_is_null(reward) ? NULL : &value);
	}
	return json_type(array) == JSON_ARRAY;
}

static bool get_group(struct str object, struct arena *arena, struct reward_group *g)
{
	int64_t counts[3];
	struct exact_sum sums[2] = {{.count = 0}};
	double range[2];

	if (!get_numbers(object, "group", NULL, counts, ARRAY_LEN(counts)) ||
	    !get_samples(object, arena, g)) {
		return false;
	}
	g->size = counts[0];
	g->others = counts[1];
	g->others_rewarded = counts[2];
	if (!JSON_GET(object, "others").p)
		return g->others_rewarded == 0;
	if (!get_exact(object, "others", sums, ARRAY_LEN(sums)) ||
	    !get_numbers(object, "range", range, NULL, ARRAY_LEN(range))) {
		return false;
	}
	g->other = arena_new(arena, sizeof(*g->other));
	*g->other = (struct group_others){sums[0], sums[1], range[0], range[1]};
	return true;
}

static bool get_ratios(struct str object, struct arena *arena, struct ratio_sums **out)
{
	int64_t tokens[2];

	if (!JSON_GET(object, "ratios").p)
		return true;
	*out = arena_new(arena, sizeof(**out));
	if (!get_numbers(object, "tokens", NULL, tokens, ARRAY_LEN(tokens)))
		return false;
	(*out)->tokens = tokens[0];
	(*out)->first_tokens = tokens[1];
	return get_exact(object, "ratios", (*out)->sum, RATIO_SUMS);
}

static void merge(struct stats *s, struct task_metrics *to, struct task_metrics *from)
{
	metrics_merge(&to->metrics, &from->metrics);
	for (size_t i = 0; i < EXACTS; i++)
		exact_merge(&to->exact[i], &from->exact[i]);
	group_merge(&to->group, stats_arena(s), &from->group);
	if (to->ratios && from->ratios) {
		ratio_sums_merge(to->ratios, from->ratios);
	} else if (from->ratios) {
		to->ratios = arena_new(stats_arena(s), sizeof(*to->ratios));
		*to->ratios = *from->ratios;
	}
}

static bool read_task(struct stats *s, struct arena *arena, struct str line)
{
	struct task_metrics t = {.id = STR_NONE};
	struct str task = JSON_GET(line, "task");

	if ((json_type(task) != JSON_NULL && json_type(task) != JSON_STRING) ||
	    !get_numbers(line, "sums", t.metrics.sum, NULL, SUMS) ||
	    !get_extremes(line, &t.metrics) || !get_exact(line, "exact", t.exact, EXACTS) ||
	    !get_group(line, arena, &t.group) || !get_ratios(line, arena, &t.ratios)) {
		return false;
	}
	merge(s, stats_task(s, json_text(arena, task)), &t);
	return true;
}

struct partial_reading {
	struct stats *stats;
	partial_head_fn *take;
	void *ctx;
	int64_t left; /* tasks still to be read */
};

static int read_first(struct partial_reading *r, struct str line, struct error *err)
{
	struct partial_head head;
	int64_t version, shard, of;

	if (!json_i64(JSON_GET(line, "partial"), &version))
		return error_set(err, FAIL_INPUT,
		                 "not a partial result of stats: write it with stats \1partial\2");
	if (version != PARTIAL_VERSION) {
		return error_set(err, FAIL_INPUT,
		                 "a partial result of version %lld, not %d: write it again with "
		                 "this version of the program",
		                 (long long)version, PARTIAL_VERSION);
	}
	if (!json_bool(JSON_GET(line, "trained"), &head.trained) ||
	    !json_i64(JSON_GET(line, "shard"), &shard) || !json_i64(JSON_GET(line, "of"), &of) ||
	    !json_i64(JSON_GET(line, "tasks"), &r->left) || r->left < 0 || shard < 0 ||
	    of < shard) {
		return error_set(err, FAIL_INPUT, "not the first line of a partial result");
	}
	head.shard = (uint64_t)shard;
	head.of = (uint64_t)of;
	return r->take(r->ctx, &head, err);
}

static int read_line(struct partial_reading *r, struct str line, struct error *err)
{
	struct json_fault fault;
	AUTO_ARENA arena = {.last = NULL};

	if (json_validate(line, &fault)) {
		return error_set(err, FAIL_INPUT, "not a partial result of stats: %s at byte %zu",
		                 fault.why, fault.at + 1);
	}
	if (r->left == 0)
		return read_first(r, line, err);
	bool good = read_task(r->stats, &arena, line);

	r->left--;
	return good ? 0 : error_set(err, FAIL_INPUT, "not a task of a partial result of stats");
}

int partial_read(struct stats *s, struct str text, const char *name, partial_head_fn *take,
                 void *ctx, struct error *err)
{
	struct partial_reading r = {.stats = s, .take = take, .ctx = ctx};
	size_t number = 0;

	do {
		number++;
		if (read_line(&r, str_cut(&text, '\n'), err))
			return error_wrap(err, "%s:%zu", name, number);
	} while (text.n);
	if (r.left) {
		return error_set(err, FAIL_INPUT, "%s:%zu: the file ends %lld task%s early", name,
		                 number, (long long)r.left, r.left == 1 ? "" : "s");
	}
	return 0;
}
