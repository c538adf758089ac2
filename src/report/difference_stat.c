/* One line per differing rollout: see difference_stat.h. */
#include "report/difference_stat.h"

#include "base/text.h"
#include "json/write.h"
#include "report/differences.h"

#include <math.h>
#include <stdlib.h>

/* ---- differences counted over rollouts ---- */

#define PRINTED_MAX  12
#define NAMED_MAX    4
#define WORD_COLUMNS 24

void tally_rollout(struct difference_tally *t)
{
	t->rollouts++;
}

/* The values of these are words, which say more than that they differ. */
static bool has_words(struct str pointer)
{
	return str_is(pointer, "/outcome") || str_is(pointer, "/error/class") ||
	       str_is(pointer, "/status");
}

static void put_key(const struct difference *d, struct buf *out)
{
	const char *kind = difference_kind_name(d->kind);

	if (!d->pointer.p) {
		buf_text(out, kind);
		return;
	}
	text_escape_cut(out, d->pointer, 80);
	if (has_words(d->pointer) && d->kind == DIFFERENCE_CHANGED) {
		buf_char(out, ' ');
		text_escape_cut(out, json_inner(d->expected), WORD_COLUMNS);
		buf_text(out, " -> ");
		text_escape_cut(out, json_inner(d->got), WORD_COLUMNS);
	} else {
		buf_printf(out, " %s", kind);
	}
}

void tally_difference(struct difference_tally *t, const struct difference *d)
{
	AUTO_BUF key = BUF(BUF_MAX_SMALL);
	size_t i = 0;

	put_key(d, &key);
	while (i < t->count && !str_eq(t->rows[i].key, buf_view(&key)))
		i++;
	if (i == t->count && i < TALLY_MAX) {
		t->rows[t->count++] =
			(struct tally_row){.key = arena_str(&t->arena, buf_view(&key))};
	}
	if (i == TALLY_MAX) {
		t->others++;
		return;
	}
	t->rows[i].differences++;
	if (t->rows[i].seen != t->rollouts) {
		t->rows[i].seen = t->rollouts;
		t->rows[i].rollouts++;
	}
}

/* What the policy was asked to do says least about the environment. */
static int by_subject(const struct tally_row *a, const struct tally_row *b)
{
	return str_starts(a->key, STR("/policy/")) - str_starts(b->key, STR("/policy/"));
}

static int by_rollouts(const void *left, const void *right)
{
	const struct tally_row *a = left, *b = right;
	int order = (a->rollouts < b->rollouts) - (a->rollouts > b->rollouts);

	return order ? order : by_subject(a, b);
}

void tally_print(struct difference_tally *t, struct buf *out)
{
	size_t left = t->others;

	if (t->rollouts < 2 || !t->count)
		return;
	qsort(t->rows, t->count, sizeof(*t->rows), by_rollouts);
	buf_text(out, "what differs:\n");
	for (size_t i = 0; i < t->count; i++) {
		if (i < PRINTED_MAX) {
			buf_printf(out, "  %.*s: %zu of %zu rollouts\n", STR_ARG(t->rows[i].key),
			           t->rows[i].rollouts, t->rollouts);
		} else {
			left++;
		}
	}
	if (left)
		buf_printf(out, "  and %zu more\n", left);
}

static int by_differences(const void *left, const void *right)
{
	const struct tally_row *a = left, *b = right;

	int order = by_subject(a, b);

	return order ? order
	             : (a->differences < b->differences) - (a->differences > b->differences);
}

/* Appends the values that differ, the most frequent first: ": /reward changed, /state/x changed (9)". */
static void tally_values(struct difference_tally *t, struct buf *out)
{
	size_t named = 0, left = t->others;

	qsort(t->rows, t->count, sizeof(*t->rows), by_differences);
	for (size_t i = 0; i < t->count; i++) {
		const struct tally_row *r = &t->rows[i];

		if (r->key.p[0] != '/' || named == NAMED_MAX) {
			left += r->key.p[0] == '/';
			continue;
		}
		buf_printf(out, "%s%.*s", named++ ? ", " : ": ", STR_ARG(r->key));
		if (r->differences > 1)
			buf_printf(out, " (%zu)", r->differences);
	}
	if (left)
		buf_printf(out, " and %zu more", left);
}

void tally_release(struct difference_tally *t)
{
	arena_release(&t->arena);
	*t = (struct difference_tally){.count = 0};
}

/* ---- rollouts ---- */

#define VALUE_COLUMNS ((size_t)60)

/* Kinds of differences, most important first. */
enum news { NEWS_VERDICT, NEWS_LONE, NEWS_REWARD, NEWS_STATUS, NEWS_STEPS, NEWS_VALUES };

struct stat_side {
	bool there;
	size_t steps;
	struct str status, reward; /* reward: raw JSON */
	const char *verdict;       /* NULL: no error */
};

struct stat_row {
	struct str id, what;
	struct stat_side side[2];
	enum news news;
	double change; /* difference of the rewards */
	size_t place;
	struct compare_count count;
};

static struct stat_side side_of(struct difference_stats *s, const struct rollout_copy *r,
                                const char *verdict)
{
	struct stat_side side = {.there = r != NULL};

	if (r) {
		side.steps = r->dropped + r->count;
		side.status = arena_str(&s->arena, rollout_copy_status(r));
		side.reward = arena_str(&s->arena, rollout_copy_reward(r));
		side.verdict = verdict ? arena_str(&s->arena, str_from(verdict)).p : NULL;
	}
	return side;
}

static double reward_change(const struct stat_side *a, const struct stat_side *b)
{
	double x, y;

	return json_double(a->reward, &x) && json_double(b->reward, &y) ? fabs(x - y) : HUGE_VAL;
}

static enum news news_of(const struct stat_row *r)
{
	const struct stat_side *a = &r->side[0], *b = &r->side[1];

	if (!a->there || !b->there)
		return NEWS_LONE;
	if (!str_eq(str_from(a->verdict), str_from(b->verdict)))
		return NEWS_VERDICT;
	if (!str_eq(a->reward, b->reward) && r->change > 0)
		return NEWS_REWARD;
	if (!str_eq(a->status, b->status))
		return NEWS_STATUS;
	return a->steps != b->steps ? NEWS_STEPS : NEWS_VALUES;
}

void difference_stats_see(struct difference_stats *s, const struct difference *d)
{
	s->all.rollouts = s->count + 1;
	tally_difference(&s->one, d);
	tally_difference(&s->all, d);
}

void difference_stats_add(struct difference_stats *s, const struct rollout_copy *first,
                          const struct rollout_copy *second, const char *const verdicts[2],
                          const struct compare_count *count)
{
	const struct rollout_copy *any = first ? first : second;
	AUTO_BUF what = BUF(BUF_MAX_SMALL);

	s->rows = mem_grow(s->rows, s->count, sizeof(*s->rows));
	tally_values(&s->one, &what);
	tally_release(&s->one);
	struct stat_row *r = &s->rows[s->count];
	*r = (struct stat_row){
		.id = arena_str(&s->arena, any->id),
		.what = arena_str(&s->arena, buf_view(&what)),
		.side = {side_of(s, first, verdicts[0]), side_of(s, second, verdicts[1])},
		.place = s->count++,
		.count = *count};
	r->change = reward_change(&r->side[0], &r->side[1]);
	r->news = news_of(r);
}

static int by_news(const void *left, const void *right)
{
	const struct stat_row *a = left, *b = right;

	if (a->news != b->news)
		return a->news < b->news ? -1 : 1;
	if (a->news == NEWS_REWARD && a->change != b->change)
		return a->change > b->change ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static void put_change(const char *name, struct str before, struct str after, struct buf *out)
{
	if (str_eq(before, after))
		return;
	buf_printf(out, ", %s ", name);
	text_escape_cut(out, before, VALUE_COLUMNS);
	buf_text(out, " -> ");
	text_escape_cut(out, after, VALUE_COLUMNS);
}

static void put_counts(const struct compare_count *c, struct str what, struct buf *out)
{
	size_t changed = c->kinds[DIFFERENCE_CHANGED] + c->kinds[DIFFERENCE_ADDED] +
	                 c->kinds[DIFFERENCE_REMOVED];

	if (c->kinds[DIFFERENCE_MISSING_STEP])
		buf_printf(out, ", %zu missing", c->kinds[DIFFERENCE_MISSING_STEP]);
	if (c->kinds[DIFFERENCE_EXTRA_STEP])
		buf_printf(out, ", %zu extra", c->kinds[DIFFERENCE_EXTRA_STEP]);
	if (changed) {
		buf_printf(out, ", %zu value%s differ%s", changed, plural(changed),
		           changed == 1 ? "s" : "");
		buf_str(out, what);
	}
}

static struct str verdict_of(const struct stat_side *s)
{
	return s->verdict ? str_from(s->verdict) : STR("no error");
}

static void put_row(const struct stat_row *r, struct style style, struct buf *out)
{
	const struct stat_side *a = &r->side[0], *b = &r->side[1];

	AUTO_BUF id = BUF(BUF_MAX_MESSAGE);

	text_escape(&id, r->id);
	style_put(out, style, COLOR_BOLD, buf_view(&id));
	if (r->news == NEWS_LONE) {
		buf_printf(out, ": %s\n", a->there ? "missing" : "extra");
		return;
	}
	buf_printf(out, ": %zu -> %zu steps", a->steps, b->steps);
	put_change("verdict", verdict_of(a), verdict_of(b), out);
	put_change("status", a->status, b->status, out);
	put_change("reward", a->reward, b->reward, out);
	put_counts(&r->count, r->what, out);
	buf_char(out, '\n');
}

static void put_side(struct json_writer *w, const char *key, const struct stat_side *s)
{
	jw_key(w, key);
	if (s->there)
		jw_pack(w, "{steps:%i,status:%s,reward:%r,error:%t}", (int64_t)s->steps, s->status,
		        s->reward, s->verdict);
	else
		jw_null(w);
}

static void put_json(const struct stat_row *r, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "rollout-difference");
	jw_put_str(&w, "rollout", r->id);
	put_side(&w, "expected", &r->side[0]);
	put_side(&w, "got", &r->side[1]);
	jw_put_u64(&w, "differences", r->count.differences);
	jw_line_end(&w);
}

void difference_stats_put(struct difference_stats *s, size_t rollouts, bool json,
                          struct style style, struct buf *out)
{
	s->all.rollouts = rollouts;
	if (!json && s->count > 1)
		tally_print(&s->all, out);
	if (s->count)
		qsort(s->rows, s->count, sizeof(*s->rows), by_news);
	for (size_t i = 0; i < s->count; i++)
		if (json)
			put_json(&s->rows[i], out);
		else
			put_row(&s->rows[i], style, out);
}

void difference_stats_release(struct difference_stats *s)
{
	free(s->rows);
	arena_release(&s->arena);
	tally_release(&s->all);
	tally_release(&s->one);
	*s = (struct difference_stats){.count = 0};
}
