/* Writes and reads partial metrics as text: see partial.h. */
#include "stats/partial.h"

#include "json/write.h"
#include "stats/task_metrics.h"

#include <math.h>
#include <stdlib.h>

#define PARTIAL_VERSION 3

/* ---- writing ---- */

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

/* Null: unknown. */
static void put_extremes(struct json_writer *w, const struct metrics *m)
{
	jw_put_array(w, "extremes");
	for (size_t i = 0; i < EXTREMES; i++) {
		jw_double(w, m->known[i] ? m->low[i] : (double)NAN);
		jw_double(w, m->known[i] ? m->high[i] : (double)NAN);
	}
	jw_end(w);
}

static void put_task(const struct task_metrics *t, struct buf *out)
{
	struct json_writer w;

	w = jw_begin(out);
	jw_put_str(&w, "task", t->id);
	jw_put_array(&w, "sums");
	for (size_t i = 0; i < SUMS; i++)
		jw_double(&w, t->metrics.sum[i]);
	jw_end(&w);
	put_extremes(&w, &t->metrics);
	put_exact(&w, "exact", t->exact, EXACTS);
	if (t->ratios) {
		jw_pack(&w, "tokens:%i,first_tokens:%i", t->ratios->tokens,
		        t->ratios->first_tokens);
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

static bool get_sums(struct str object, struct metrics *m)
{
	struct str array = JSON_GET(object, "sums"), value;
	size_t n = 0;

	for (size_t cursor = 0; json_next(array, &cursor, &value); n++)
		if (n == SUMS || !json_double(value, &m->sum[n]))
			return false;
	return n == SUMS;
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

static bool get_extremes(struct str object, struct metrics *m)
{
	struct str array = JSON_GET(object, "extremes"), value;
	size_t n = 0;

	for (size_t cursor = 0; json_next(array, &cursor, &value); n++) {
		if (n == 2 * (size_t)EXTREMES)
			return false;
		double *to = n % 2 ? m->high : m->low;
		m->known[n / 2] = json_double(value, &to[n / 2]);
		if (!m->known[n / 2] && !json_is_null(value))
			return false;
	}
	return n == 2 * (size_t)EXTREMES;
}

static bool get_ratios(struct str object, struct arena *arena, struct ratio_sums **out)
{
	if (!JSON_GET(object, "ratios").p)
		return true;
	struct ratio_sums *r = *out = arena_new(arena, sizeof(*r));
	return json_i64(JSON_GET(object, "tokens"), &r->tokens) && r->tokens >= 0 &&
	       json_i64(JSON_GET(object, "first_tokens"), &r->first_tokens) &&
	       r->first_tokens >= 0 && get_exact(object, "ratios", r->sum, RATIO_SUMS);
}

static void merge(struct stats *s, struct task_metrics *to, struct task_metrics *from)
{
	metrics_merge(&to->metrics, &from->metrics);
	for (size_t i = 0; i < EXACTS; i++)
		exact_merge(&to->exact[i], &from->exact[i]);
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
	    !get_sums(line, &t.metrics) || !get_extremes(line, &t.metrics) ||
	    !get_exact(line, "exact", t.exact, EXACTS) || !get_ratios(line, arena, &t.ratios)) {
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
		                 number, (long long)r.left, plural(r.left));
	}
	return 0;
}
